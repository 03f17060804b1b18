// SPDX-License-Identifier: Apache-2.0
// Problems and plans as CSV, in MiniMalloc's columns:
//
//     id,lower,upper,size            a problem: alive in [lower, upper)
//     id,lower,upper,size,offset     the same with a plan
//
// Further columns: `alignment`. The order of columns is free; a column that nobody knows is an
// error, since it may say what must not be ignored.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"
#include "stowplan/pack/problem.h"

namespace stowplan::pack {

struct Table {
  Problem problem;
  std::vector<std::string> ids;                 // by buffer
  std::optional<std::vector<int64_t>> offsets;  // by buffer, when there is such a column
};

// On failure: the first kMaxErrors errors, with line and column.
Result<Table> ReadTable(const Source& source);

std::string WriteTable(const Table& table, const Plan& plan);

}  // namespace stowplan::pack
