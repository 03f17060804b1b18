// SPDX-License-Identifier: Apache-2.0
// Problems and plans as CSV, in MiniMalloc's columns and some more. docs/pack.md has them all.
//
//     id,lower,upper,size            a problem: alive in [lower, upper)
//     id,lower,upper,size,offset     the same with pins, or a plan
//
// The order of columns is free; a column that nobody knows is an error, since it may say what must
// not be ignored.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"
#include "stowplan/pack.h"

namespace stowplan::pack {

struct Table {
  Problem problem;
  Names ids;     // by buffer; none: buffers are called by their numbers
  Names groups;  // by group of the problem
};

// The problem is sound. `offset` is a pin; `pools` and `pool` name some of `pools`.
// On failure: the first kMaxErrors errors, with line and column.
Result<Table> ReadTable(std::shared_ptr<const Source> source, std::vector<Pool> pools = {});

// A plan of that problem: `offset` and, with pools, `pool` are where each buffer lies. Rows are
// told by their ids, in any order; sizes and times are the problem's, whatever this file says of
// them. The plan may be wrong (CheckPlan); its height is what its offsets say.
Result<Plan> ReadPlan(std::shared_ptr<const Source> source, const Table& table);

std::string IdOf(const Table& table, size_t buffer);

// Both have all columns that the problem needs. A plan's `offset` and `pool` are its places.
std::string WriteTable(const Table& table);
std::string WriteTable(const Table& table, const Plan& plan);

}  // namespace stowplan::pack
