// SPDX-License-Identifier: Apache-2.0
// Where values come from, as one word that means the same in both programs.
#pragma once

#include <string>

#include "diff/cause.h"
#include "explain/picture.h"

namespace stowplan::diff {

// The place of a value, by source line, op_name, kind or name; for Group::kCause, the best that is
// known.
std::string PlaceOf(const explain::Picture& picture, report::ValueId id, Group group);

// How a shape changed: "bf16 -> f32", and the number of elements as a fraction.
struct ShapeChange {
  std::string types;  // "bf16 -> f32"; empty: the same
  // The first dimension that differs; 0: none, or the ranks differ.
  int64_t from = 0;
  int64_t to = 0;
  // What dimensions are multiplied by, each fraction once; where the ranks differ, the number of
  // elements. "3/4"; empty: the same, or not known.
  std::string factors;
};
ShapeChange ChangeOf(std::string_view before, std::string_view after);

}  // namespace stowplan::diff
