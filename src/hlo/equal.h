// SPDX-License-Identifier: Apache-2.0
// Whether two modules are the same program, though they were read from different files.
//
// Computations and instructions are matched by name; their order in the tables means nothing, their
// order in schedules does. Shapes are compared with layouts, backend_config as JSON whatever the
// order of its keys, and the literal `{...}` of a text equals any.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan::hlo {

struct EqualOptions {
  // Facts that one of the inputs may be unable to hold are left out when false.
  bool settings = true;       // replica_count and other facts of the header that protos lack
  bool entry_layout = true;   // texts before 2022 have none
  bool stack_frames = true;   // texts before 2025-12 have none either
  bool metadata_ends = true;  // source_end_line and columns
  // Get-tuple-elements may be hidden in one of them (`%x#1`), so that operands are compared by what
  // they stand for.
  bool look_through_tuples = false;
  // At most this many differences are listed.
  size_t limit = 20;
};

// What can be compared between two inputs of these formats and dialects.
[[nodiscard]] EqualOptions ComparableFacts(const Module& a, const Module& b);

// Where the modules differ, in words; empty when they are the same program.
[[nodiscard]] std::vector<std::string> Differences(const Module& a, const Module& b,
                                                   const EqualOptions& options);
[[nodiscard]] std::vector<std::string> Differences(const Module& a, const Module& b);

}  // namespace stowplan::hlo
