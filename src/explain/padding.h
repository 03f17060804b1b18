// SPDX-License-Identifier: Apache-2.0
// The cost of padding: bytes lost to tiles and granules, and shapes that cost less.
//
//     f32[1000,3]{1,0:T(8,128)}   512000 bytes for 12000: a row of 3 takes 128
//     f32[3,1000]{1,0:T(8,128)}    32768: the nearest cheaper shape
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/picture.h"

namespace stowplan::explain {

struct CheaperShape {
  enum class Change : uint8_t {
    kTransposed,  // the same elements, with other dimensions innermost
    kMerged,      // the same elements, with the two innermost dimensions as one
    kTrimmed,     // a dimension cut down to whole tiles
  };
  Change change = Change::kTransposed;
  std::string shape;
  int64_t bytes = 0;
  friend bool operator==(const CheaperShape&, const CheaperShape&) = default;
};

// "transposed"
[[nodiscard]] std::string_view Name(CheaperShape::Change change);

struct PaddingTax {
  report::ValueId value;
  int64_t size = 0;
  int64_t padding = 0;
  // On the picture's target, with the same tiles; absent when none is cheaper, or the target is not
  // known.
  std::optional<CheaperShape> cheaper;
  // What fits into the same bytes: the dimensions rounded up to whole tiles. Empty when not tiled.
  std::string free_shape;
};

// The `limit` values with the most padding, worst first, then as in the table; 0: all that have
// some. Thread-local ones are left out.
[[nodiscard]] std::vector<PaddingTax> PaddingTaxes(const Picture& picture, size_t limit);

}  // namespace stowplan::explain
