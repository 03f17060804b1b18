// SPDX-License-Identifier: Apache-2.0
// How many bytes a shape takes by itself. target/size.h knows what it takes on a target.
#pragma once

#include <cstdint>
#include <expected>
#include <string_view>

#include "stowplan/hlo/shape.h"

namespace stowplan::hlo {

enum class SizeError : uint8_t {
  kOverflow,   // does not fit in 64 bits
  kUnbounded,  // a dimension is "?"
  kMalformed,  // the layout does not fit the dimensions, or a number is negative
};

// "the shape's size does not fit in 64 bits", ...
std::string_view Describe(SizeError error);

using ByteCount = std::expected<int64_t, SizeError>;

// The size that XLA's live-range reports count with on every target: elements times their width,
// whatever the tiles; eight bytes for each element of a tuple. Takes the same time for deep tuples
// as for flat ones.
[[nodiscard]] ByteCount PlainByteSize(const ShapeTable& shapes, ShapeId id);

// The same, with the padding that an array's layout requests (tiles, tail padding, dynamic prefix:
// T, L and M).
[[nodiscard]] ByteCount PaddedByteSize(const ShapeTable& shapes, ShapeId id);

}  // namespace stowplan::hlo
