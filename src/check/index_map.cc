// SPDX-License-Identifier: Apache-2.0
#include "check/index_map.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/checked_math.h"
#include "hlo/size_parts.h"
#include "stowplan/hlo/element_type.h"

namespace stowplan::check {
namespace {

using hlo::Layout;
using hlo::ShapeId;
using hlo::ShapeTable;

const Layout* FindLayout(const ShapeTable& shapes, ShapeId id) {
  const hlo::LayoutId layout = shapes[id].layout;
  return layout.is_none() ? nullptr : &shapes.layout(layout);
}

// Dimensions from the outermost inwards; nothing when not all are ordered, or the array lies in a
// way that nothing is known of.
std::optional<std::vector<size_t>> OutsideIn(const ShapeTable& shapes, ShapeId id) {
  const size_t rank = shapes.dims(id).size();
  std::vector<size_t> order;
  const Layout* layout = FindLayout(shapes, id);
  if (layout == nullptr) {
    // No layout, as in old dumps and in texts without: row by row.
    for (size_t d = 0; d < rank; ++d) order.push_back(d);
    return order;
  }
  if (!layout->dim_level_types.empty() || !layout->splits.empty() ||
      !layout->physical_shape.is_none() || layout->minor_to_major.size() != rank)
    return std::nullopt;
  std::vector<uint8_t> is_used(rank, 0);
  for (size_t k = rank; k-- > 0;) {
    const int64_t d = layout->minor_to_major[k];
    if (d < 0 || static_cast<size_t>(d) >= rank ||
        std::exchange(is_used[static_cast<size_t>(d)], 1) != 0)
      return std::nullopt;
    order.push_back(static_cast<size_t>(d));
  }
  return order;
}

bool HasTiles(const ShapeTable& shapes, ShapeId id) {
  const Layout* layout = FindLayout(shapes, id);
  return layout != nullptr && !layout->tiles.empty();
}

std::vector<size_t> WithoutOnes(std::span<const int64_t> dims, std::vector<size_t> order) {
  std::erase_if(order, [&](size_t d) { return dims[d] == 1; });
  return order;
}

// A digit of a position, and how many values it has.
struct Digit {
  Expr value;
  int64_t size = 1;
};

}  // namespace

bool LieAlike(const ShapeTable& shapes, ShapeId a, ShapeId b) {
  if (a == b) return true;
  if (!std::ranges::equal(shapes.dims(a), shapes.dims(b)) ||
      ElementWidth(shapes, a) != ElementWidth(shapes, b))
    return false;
  const Layout* first = FindLayout(shapes, a);
  const Layout* second = FindLayout(shapes, b);
  if (first != nullptr && second != nullptr) {
    Layout one = *first;
    Layout other = *second;
    one.memory_space = other.memory_space = 0;
    one.tail_padding = other.tail_padding = 1;
    one.element_bits = other.element_bits = 0;
    if (one == other) return true;
  }
  if (HasTiles(shapes, a) || HasTiles(shapes, b)) return false;
  std::optional<std::vector<size_t>> x = OutsideIn(shapes, a);
  std::optional<std::vector<size_t>> y = OutsideIn(shapes, b);
  if (!x || !y) return false;
  return WithoutOnes(shapes.dims(a), *std::move(x)) == WithoutOnes(shapes.dims(b), *std::move(y));
}

int64_t ElementWidth(const ShapeTable& shapes, ShapeId id) {
  const Layout* layout = FindLayout(shapes, id);
  if (layout != nullptr && layout->element_bits != 0) return layout->element_bits;
  return CeilDivide(std::max<int64_t>(1, hlo::BitWidth(shapes[id].type)), 8) * 8;
}

std::optional<std::vector<size_t>> TiledOutsideIn(const ShapeTable& shapes, ShapeId id) {
  return HasTiles(shapes, id) ? OutsideIn(shapes, id) : std::nullopt;
}

bool IsRowMajor(const ShapeTable& shapes, ShapeId id) {
  if (HasTiles(shapes, id)) return false;
  std::optional<std::vector<size_t>> order = OutsideIn(shapes, id);
  return order && std::ranges::is_sorted(WithoutOnes(shapes.dims(id), *std::move(order)));
}

int64_t CountPadded(const ShapeTable& shapes, ShapeId id) {
  const Layout* layout = FindLayout(shapes, id);
  if (layout == nullptr || (layout->tiles.empty() && layout->tail_padding <= 1)) return 0;
  const int64_t padded = hlo::PaddedElements(shapes.dims(id), *layout).value_or(0);
  return padded == CountElements(shapes, id) ? 0 : padded;
}

bool IsPaddingApart(const ShapeTable& shapes, ShapeId a, ShapeId b) {
  if (CountPadded(shapes, b) == 0 || LieAlike(shapes, a, b)) return true;
  const Layout* layout = FindLayout(shapes, b);
  const Layout* other = FindLayout(shapes, a);
  if (other == nullptr || other->tiles != layout->tiles ||
      ElementWidth(shapes, a) != ElementWidth(shapes, b))
    return false;
  // Tiles pad the innermost dimensions; how many there are of these is all that others say.
  size_t tiled = 0;
  for (const std::vector<int64_t>& tile : layout->tiles) tiled = std::max(tiled, tile.size());
  const auto sizes = [&](ShapeId id) {
    std::vector<int64_t> all;
    const std::optional<std::vector<size_t>> order = OutsideIn(shapes, id);
    if (!order || order->size() < tiled) return all;
    for (const size_t d : *order) all.push_back(shapes.dims(id)[d]);
    const auto inner = all.end() - static_cast<std::ptrdiff_t>(tiled);
    const int64_t count = CheckedProduct({all.begin(), inner}).value_or(-1);
    std::vector<int64_t> merged(inner, all.end());
    merged.push_back(count);
    return merged;
  };
  const std::vector<int64_t> first = sizes(a);
  return !first.empty() && first == sizes(b);
}

int64_t CountElements(const ShapeTable& shapes, ShapeId id) {
  return CheckedProduct(shapes.dims(id)).value_or(-1);
}

std::vector<Expr> IndexMaps::NewIndex(std::span<const int64_t> dims) {
  std::vector<Expr> index;
  index.reserve(dims.size());
  for (const int64_t dim : dims) {
    index.push_back(dim == 1 ? Expr() : Expr::OfVar(variables_.Add({0, dim - 1})));
  }
  return index;
}

Expr IndexMaps::Quotient(Access& access, const Expr& value, int64_t divisor, int64_t count) {
  if (divisor == 1) return value;
  if (count == 1) return {};
  // Each term is a multiple, or belongs to the rest.
  Expr quotient;
  for (const auto& [var, factor] : value.terms) {
    if (factor % divisor == 0) quotient.Add(Expr::OfVar(var), factor / divisor);
  }
  const int64_t floor = value.constant / divisor - (value.constant % divisor < 0 ? 1 : 0);
  quotient.Add(Expr::Of(floor));
  const Interval rest = RangeOf(value.Plus(quotient, -divisor), variables_.ranges());
  if (rest.low >= 0 && rest.high < divisor) return quotient;
  Expr other = Expr::OfVar(variables_.Add({0, count - 1}));
  access.constraints.push_back({value.Plus(other, -divisor), {0, divisor - 1}});
  return other;
}

std::vector<Expr> IndexMaps::Digits(Access& access, Expr number, std::span<const int64_t> sizes) {
  std::vector<Expr> digits(sizes.size());
  int64_t stride = CheckedProduct(sizes).value_or(0);
  for (size_t k = 0; k < sizes.size(); ++k) {
    if (sizes[k] <= 1 || stride == 0) continue;
    stride /= sizes[k];
    digits[k] = Quotient(access, number, stride, sizes[k]);
    number.Add(digits[k], -stride);
  }
  return digits;
}

std::optional<Expr> IndexMaps::PositionOf(Access& access) {
  const std::optional<std::vector<size_t>> order = OutsideIn(shapes_, access.view);
  const std::span<const int64_t> dims = shapes_.dims(access.view);
  if (!order || access.index.size() != dims.size()) return std::nullopt;
  std::vector<Digit> digits;
  for (const size_t d : *order) digits.push_back({access.index[d], dims[d]});
  const Layout* layout = FindLayout(shapes_, access.view);
  for (const std::vector<int64_t>& tile :
       layout == nullptr ? std::vector<std::vector<int64_t>>() : layout->tiles) {
    // The last digits become the number of the tile, then the place in it.
    while (digits.size() < tile.size()) digits.insert(digits.begin(), Digit());
    const size_t head = digits.size() - tile.size();
    std::vector<Digit> inside;
    Digit merged;
    std::vector<Digit> numbers;
    for (size_t k = 0; k < tile.size(); ++k) {
      const std::optional<int64_t> size = CheckedMultiply(merged.size, digits[head + k].size);
      if (!size) return std::nullopt;
      Digit digit = {digits[head + k].value.Plus(merged.value, digits[head + k].size), *size};
      merged = Digit();
      if (tile[k] == hlo::kCombineDimension) {
        merged = std::move(digit);
        continue;
      }
      if (tile[k] <= 0) return std::nullopt;
      const int64_t count = CeilDivide(*size, tile[k]);
      Expr number = Quotient(access, digit.value, tile[k], count);
      inside.push_back({digit.value.Plus(number, -tile[k]), tile[k]});
      numbers.push_back({std::move(number), count});
    }
    if (merged.size != 1) numbers.push_back(std::move(merged));
    digits.resize(head);
    std::ranges::move(numbers, std::back_inserter(digits));
    std::ranges::move(inside, std::back_inserter(digits));
  }
  Expr position;
  for (const Digit& digit : digits) position = digit.value.Plus(position, digit.size);
  return position;
}

bool IndexMaps::View(Access& access, ShapeId to) {
  if (LieAlike(shapes_, access.view, to)) {
    access.view = to;
    return true;
  }
  if (ElementWidth(shapes_, access.view) != ElementWidth(shapes_, to)) return false;
  const int64_t count = CountElements(shapes_, to);
  const bool has_tiles = HasTiles(shapes_, access.view) || HasTiles(shapes_, to);
  if (count < 0 || (!has_tiles && CountElements(shapes_, access.view) != count)) return false;
  const std::optional<Expr> position = PositionOf(access);
  const std::optional<std::vector<size_t>> order = OutsideIn(shapes_, to);
  if (!position || !order) return false;
  const std::span<const int64_t> dims = shapes_.dims(to);
  access.view = to;
  if (HasTiles(shapes_, to)) {
    access.index = NewIndex(dims);
    const std::optional<Expr> other = PositionOf(access);
    if (!other) return false;
    access.constraints.push_back({position->Plus(*other, -1), {0, 0}});
    return true;
  }
  std::vector<int64_t> sizes;
  for (const size_t d : *order) sizes.push_back(dims[d]);
  // Tiles have room for more.
  if (has_tiles) access.constraints.push_back({*position, {0, count - 1}});
  std::vector<Expr> digits = Digits(access, *position, sizes);
  access.index.assign(dims.size(), Expr());
  for (size_t k = 0; k < digits.size(); ++k) access.index[(*order)[k]] = std::move(digits[k]);
  return true;
}

void IndexMaps::Reshape(Access& access, std::span<const int64_t> from,
                        std::span<const int64_t> to) {
  Expr number;
  for (size_t d = 0; d < from.size(); ++d) number = access.index[d].Plus(number, from[d]);
  access.index = Digits(access, std::move(number), to);
}

}  // namespace stowplan::check
