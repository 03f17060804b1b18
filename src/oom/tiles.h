// SPDX-License-Identifier: Apache-2.0
// Shapes as logs print them, and what their tiles cost.
//
//     f32[1000,3]{1,0:T(8,128)}   a row of 3 takes 128
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stowplan::oom {

struct TiledShape {
  std::string type;  // f32
  std::vector<int64_t> dimensions;
  std::vector<int64_t> minor_to_major;  // the innermost dimension first; empty: not said
  std::vector<int64_t> tile;            // of the innermost dimensions, the innermost last
};

// Of an array; nothing for tuples and for what is not a shape.
std::optional<TiledShape> ParseShape(std::string_view text);

// How the tiles of a shape are filled, in words; empty when they are full, or it has none.
// "dimension 1 has 3 elements and takes 128"
std::string WasteWords(const TiledShape& shape);

// The same elements with other dimensions innermost.
struct CheaperOrder {
  int64_t second = 0;  // the dimensions that become the innermost two
  int64_t minor = 0;
  double factor = 1;  // bytes then by bytes now
};
// The cheapest one, if it saves at least a tenth.
std::optional<CheaperOrder> FindCheaperOrder(const TiledShape& shape);

}  // namespace stowplan::oom
