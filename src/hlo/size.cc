// SPDX-License-Identifier: Apache-2.0
#include "hlo/size.h"

#include <algorithm>
#include <vector>

#include "base/checked_math.h"
#include "hlo/size_parts.h"

namespace stowplan::hlo {
namespace {

// Dimensions from major to minor; nothing when the layout does not order them all.
std::optional<std::vector<int64_t>> PhysicalDims(std::span<const int64_t> dims,
                                                 const Layout& layout) {
  if (layout.minor_to_major.size() != dims.size()) return std::nullopt;
  std::vector<int64_t> physical;
  std::vector<bool> is_used(dims.size());
  for (auto it = layout.minor_to_major.rbegin(); it != layout.minor_to_major.rend(); ++it) {
    if (*it < 0 || *it >= std::ssize(dims) || is_used[static_cast<size_t>(*it)])
      return std::nullopt;
    is_used[static_cast<size_t>(*it)] = true;
    physical.push_back(dims[static_cast<size_t>(*it)]);
  }
  return physical;
}

// Splits the last dimensions of `physical` by one tile: counts of tiles, then the tile itself. A
// later tile therefore works inside the earlier one:   [300, 20]  T(8,128) ->  [38, 1, 8, 128]
// T(2,1) -> [38, 1, 4, 128, 2, 1].
std::optional<SizeError> ApplyTile(std::span<const int64_t> tile, std::vector<int64_t>& physical) {
  while (physical.size() < tile.size()) physical.insert(physical.begin(), 1);
  const size_t head = physical.size() - tile.size();
  std::vector<int64_t> counts;
  std::vector<int64_t> inside;
  int64_t merged = 1;  // dimensions that "*" hands on to the next more minor one
  for (size_t i = 0; i < tile.size(); ++i) {
    const auto dim = CheckedMultiply(merged, physical[head + i]);
    if (!dim) return SizeError::kOverflow;
    if (tile[i] == kCombineDimension) {
      merged = *dim;
      continue;
    }
    if (tile[i] <= 0) return SizeError::kMalformed;
    merged = 1;
    counts.push_back(CeilDivide(*dim, tile[i]));
    inside.push_back(tile[i]);
  }
  // "*" at the end has no dimension to merge with.
  if (merged != 1) counts.push_back(merged);
  physical.resize(head);
  physical.insert(physical.end(), counts.begin(), counts.end());
  physical.insert(physical.end(), inside.begin(), inside.end());
  return std::nullopt;
}

}  // namespace

ByteCount OrOverflow(std::optional<int64_t> number) {
  if (!number) return std::unexpected(SizeError::kOverflow);
  return *number;
}

ByteCount Product(std::span<const int64_t> factors) { return OrOverflow(CheckedProduct(factors)); }

ByteCount BytesOfBits(int64_t count, int64_t bits) {
  const auto total = CheckedMultiply(count, bits);
  if (total) return CeilDivide(*total, 8);
  // The bits may overflow where the bytes do not.
  if (bits % 8 != 0) return std::unexpected(SizeError::kOverflow);
  return OrOverflow(CheckedMultiply(count, bits / 8));
}

int64_t ElementBits(ElementType type, const Layout* layout) {
  if (layout != nullptr && layout->element_bits != 0) return layout->element_bits;
  return CeilDivide(BitWidth(type), 8) * 8;
}

std::optional<ByteCount> TrivialSize(std::span<const int64_t> dims, const Layout* layout) {
  for (const int64_t dim : dims) {
    if (dim == kUnboundedDimension) return std::unexpected(SizeError::kUnbounded);
    if (dim < 0) return std::unexpected(SizeError::kMalformed);
  }
  if (layout != nullptr &&
      (layout->element_bits < 0 || layout->tail_padding < 0 || layout->dynamic_prefix_bytes < 0)) {
    return std::unexpected(SizeError::kMalformed);
  }
  if (std::ranges::find(dims, 0) != dims.end()) return ByteCount(0);
  return std::nullopt;
}

ByteCount PaddedElements(std::span<const int64_t> dims, const Layout& layout) {
  auto physical = PhysicalDims(dims, layout);
  if (!physical) return std::unexpected(SizeError::kMalformed);
  for (const std::vector<int64_t>& tile : layout.tiles) {
    if (const auto error = ApplyTile(tile, *physical)) return std::unexpected(*error);
  }
  const ByteCount count = Product(*physical);
  if (!count || layout.tail_padding <= 1) return count;
  return OrOverflow(CheckedRoundUp(*count, layout.tail_padding));
}

const Layout* LayoutOf(const ShapeTable& shapes, ShapeId id) {
  const LayoutId layout = shapes[id].layout;
  return layout.is_none() ? nullptr : &shapes.layout(layout);
}

std::string_view Describe(SizeError error) {
  switch (error) {
    case SizeError::kOverflow:
      return "the shape's size does not fit in 64 bits";
    case SizeError::kUnbounded:
      return "the shape has a dimension without a bound";
    case SizeError::kMalformed:
      return "the shape's layout does not fit its dimensions";
  }
  return {};
}

ByteCount PlainByteSize(const ShapeTable& shapes, ShapeId id) {
  constexpr int64_t kPointerBytes = 8;
  while (shapes[id].type == ElementType::kBuffer) id = shapes.elements(id)[0];
  switch (shapes[id].type) {
    case ElementType::kTuple:
      return OrOverflow(CheckedMultiply(std::ssize(shapes.elements(id)), kPointerBytes));
    case ElementType::kToken:
      return 0;
    case ElementType::kOpaque:
      return kPointerBytes;
    default:
      break;
  }
  const Layout* const layout = LayoutOf(shapes, id);
  if (const auto trivial = TrivialSize(shapes.dims(id), layout)) return *trivial;
  const ByteCount count = Product(shapes.dims(id));
  return count ? BytesOfBits(*count, ElementBits(shapes[id].type, layout)) : count;
}

ByteCount PaddedByteSize(const ShapeTable& shapes, ShapeId id) {
  while (shapes[id].type == ElementType::kBuffer) id = shapes.elements(id)[0];
  const Layout* const layout = LayoutOf(shapes, id);
  if (layout == nullptr || TrivialSize(shapes.dims(id), layout)) return PlainByteSize(shapes, id);
  const ByteCount count = PaddedElements(shapes.dims(id), *layout);
  if (!count) return count;
  const ByteCount bytes = BytesOfBits(*count, ElementBits(shapes[id].type, layout));
  return bytes ? OrOverflow(CheckedAdd(*bytes, layout->dynamic_prefix_bytes)) : bytes;
}

}  // namespace stowplan::hlo
