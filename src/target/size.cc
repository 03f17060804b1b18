// SPDX-License-Identifier: Apache-2.0
#include "target/size.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "base/checked_math.h"
#include "hlo/size_parts.h"

namespace stowplan {
namespace {

using hlo::BytesOfBits;
using hlo::ElementType;
using hlo::Layout;
using hlo::OrOverflow;
using hlo::PaddedElements;
using hlo::Product;
using hlo::Shape;
using hlo::ShapeId;
using hlo::ShapeTable;

bool HasSpace(uint64_t spaces, int64_t space) {
  return space >= 0 && space < 64 && ((spaces >> static_cast<unsigned>(space)) & 1U) != 0;
}

// Chips of two cores keep a part of a split array in each: what counts is the largest part.
std::vector<int64_t> LargestPart(std::span<const int64_t> dims,
                                 std::span<const Layout::Split> splits) {
  std::vector<int64_t> part(dims.begin(), dims.end());
  for (const Layout::Split& split : splits) {
    if (split.dimension < 0 || split.dimension >= std::ssize(dims)) continue;
    int64_t& size = part[static_cast<size_t>(split.dimension)];
    int64_t largest = 0;
    int64_t begin = 0;
    for (const int64_t index : split.indices) {
      if (index <= begin || index >= size) continue;
      largest = std::max(largest, index - begin);
      begin = index;
    }
    size = std::max(largest, size - begin);
  }
  return part;
}

// The size on a target whose layouts pad.
ByteCount TiledSize(std::span<const int64_t> dims, int64_t bits, const Layout* layout,
                    const Target& target) {
  std::vector<int64_t> part;
  if (layout != nullptr && !layout->splits.empty()) {
    part = LargestPart(dims, layout->splits);
    dims = part;
  }
  const int64_t space = layout != nullptr ? layout->memory_space : 0;
  const bool is_exact = HasSpace(target.exact_spaces, space);
  if (layout != nullptr && !layout->tiles.empty() && !is_exact) {
    const ByteCount count = PaddedElements(dims, *layout);
    if (!count) return count;
    const ByteCount bytes = BytesOfBits(*count, bits);
    if (!bytes) return bytes;
    const auto rounded = CheckedRoundUp(*bytes, target.tiled_granule);
    if (!rounded) return std::unexpected(SizeError::kOverflow);
    return OrOverflow(CheckedAdd(*rounded, layout->dynamic_prefix_bytes));
  }
  ByteCount count = Product(dims);
  if (count && HasSpace(target.untiled_granule_spaces, space)) {
    count = OrOverflow(CheckedRoundUp(*count, target.untiled_granule));
  }
  if (!count) return count;
  const ByteCount bytes = BytesOfBits(*count, bits);
  if (!bytes || layout == nullptr) return bytes;
  return OrOverflow(CheckedAdd(*bytes, layout->dynamic_prefix_bytes));
}

ByteCount TupleSize(size_t elements, const Target& target) {
  const auto table = CheckedMultiply(static_cast<int64_t>(elements), target.pointer_bytes);
  if (!table || target.tuple_granule == 0) return OrOverflow(table);
  return OrOverflow(CheckedRoundUp(*table, target.tuple_granule));
}

ByteCount ElementsSize(std::span<const int64_t> dims, int64_t bits, const Layout* layout,
                       const Target& target) {
  if (target.has_tiles) return TiledSize(dims, bits, layout, target);
  const ByteCount count = Product(dims);
  return count ? BytesOfBits(*count, bits) : count;
}

ByteCount ArraySize(const ShapeTable& shapes, ShapeId id, const Target& target) {
  const Shape& shape = shapes[id];
  const Layout* const layout = hlo::LayoutOf(shapes, id);
  const std::span<const int64_t> dims = shapes.dims(id);
  const auto trivial = hlo::TrivialSize(dims, layout);
  const ByteCount bytes =
      trivial ? *trivial : ElementsSize(dims, hlo::ElementBits(shape.type, layout), layout, target);
  if (!bytes || !shape.is_dynamic) return bytes;
  return OrOverflow(CheckedAdd(*bytes, std::ssize(dims) * target.bytes_per_dynamic_dimension));
}

}  // namespace

ByteCount ByteSize(const ShapeTable& shapes, ShapeId id, const Target& target) {
  while (shapes[id].type == ElementType::kBuffer) id = shapes.elements(id)[0];
  switch (shapes[id].type) {
    case ElementType::kTuple:
      return TupleSize(shapes.elements(id).size(), target);
    case ElementType::kToken:
      return 0;
    case ElementType::kOpaque:
      return target.opaque_bytes;
    default:
      return ArraySize(shapes, id, target);
  }
}

}  // namespace stowplan
