// SPDX-License-Identifier: Apache-2.0
#include "stowplan/hlo/shape.h"

#include <algorithm>
#include <set>

#include "base/hash.h"

namespace stowplan::hlo {
namespace {

uint64_t HashNumbers(uint64_t hash, std::span<const int64_t> numbers) {
  hash = MixHash(hash, numbers.size());
  for (const int64_t n : numbers) hash = MixHash(hash, static_cast<uint64_t>(n));
  return hash;
}

// Of the parts by which layouts differ in practice.
uint64_t HashLayout(const Layout& layout) {
  uint64_t hash = HashNumbers(0, layout.minor_to_major);
  for (const std::vector<int64_t>& tile : layout.tiles) hash = HashNumbers(hash, tile);
  for (const Layout::Split& split : layout.splits) hash = HashNumbers(hash, split.indices);
  for (const int64_t n : {layout.tail_padding, layout.element_bits, layout.memory_space,
                          layout.dynamic_prefix_bytes}) {
    hash = MixHash(hash, static_cast<uint64_t>(n));
  }
  return MixHash(hash, layout.physical_shape.index);
}

}  // namespace

ShapeTable::ShapeTable() : slots_(64, 0) {}

ShapeId ShapeTable::AddArray(ElementType type, std::span<const int64_t> dims,
                             std::span<const bool> dynamic, LayoutId layout) {
  Shape shape;
  shape.type = type;
  shape.is_dynamic = std::ranges::any_of(dynamic, [](bool b) { return b; });
  shape.layout = layout;
  if (dims.empty() && !layout.is_none() && layouts_[layout] == Layout{}) shape.layout = LayoutId();
  return Intern(shape, dims, shape.is_dynamic ? dynamic : std::span<const bool>(), {}, 0);
}

ShapeId ShapeTable::AddTuple(std::span<const ShapeId> elements) {
  int deepest = 0;
  for (const ShapeId id : elements) deepest = std::max(deepest, depth(id));
  Shape shape;
  shape.type = ElementType::kTuple;
  return Intern(shape, {}, {}, elements, deepest + 1);
}

ShapeId ShapeTable::AddBuffer(ShapeId inner) {
  Shape shape;
  shape.type = ElementType::kBuffer;
  return Intern(shape, {}, {}, {&inner, 1}, depth(inner) + 1);
}

ShapeId ShapeTable::AddOther(ElementType type) {
  Shape shape;
  shape.type = type;
  return Intern(shape, {}, {}, {}, 0);
}

LayoutId ShapeTable::AddLayout(const Layout& layout) {
  const auto [begin, end] = layout_rows_.equal_range(HashLayout(layout));
  for (auto row = begin; row != end; ++row) {
    if (layouts_[row->second] == layout) return row->second;
  }
  const LayoutId id = layouts_.Add(layout);
  layout_rows_.emplace(HashLayout(layout), id);
  return id;
}

std::span<const int64_t> ShapeTable::dims(ShapeId id) const {
  const Shape& shape = shapes_[id];
  if (!IsArray(shape.type)) return {};
  return std::span<const int64_t>(dims_).subspan(shape.parts.begin, shape.parts.count);
}

bool ShapeTable::is_dynamic(ShapeId id, size_t dim) const {
  const Shape& shape = shapes_[id];
  return shape.is_dynamic && dynamic_[shape.parts.begin + dim] != 0;
}

std::span<const ShapeId> ShapeTable::elements(ShapeId id) const {
  const Shape& shape = shapes_[id];
  if (IsArray(shape.type)) return {};
  return std::span<const ShapeId>(elements_).subspan(shape.parts.begin, shape.parts.count);
}

ShapeId ShapeTable::Intern(const Shape& shape, std::span<const int64_t> dims,
                           std::span<const bool> dynamic, std::span<const ShapeId> elements,
                           int depth) {
  uint64_t hash = MixHash(static_cast<uint64_t>(shape.type), shape.layout.index);
  for (const int64_t d : dims) hash = MixHash(hash, static_cast<uint64_t>(d));
  for (const bool b : dynamic) hash = MixHash(hash, b ? 2 : 1);
  for (const ShapeId e : elements) hash = MixHash(hash, e.index);
  size_t slot = hash & (slots_.size() - 1);
  for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    const ShapeId id(slots_[slot] - 1);
    if (hashes_[id.index] != hash) continue;
    const Shape& other = shapes_[id];
    if (other.type != shape.type || other.layout != shape.layout ||
        other.is_dynamic != shape.is_dynamic) {
      continue;
    }
    const auto same_dynamic = [&] {
      for (size_t i = 0; i < dynamic.size(); ++i) {
        if (is_dynamic(id, i) != dynamic[i]) return false;
      }
      return true;
    };
    if (std::ranges::equal(this->dims(id), dims) &&
        std::ranges::equal(this->elements(id), elements) && same_dynamic()) {
      return id;
    }
  }
  Shape row = shape;
  if (IsArray(shape.type)) {
    row.parts = {static_cast<uint32_t>(dims_.size()), static_cast<uint32_t>(dims.size())};
    dims_.insert(dims_.end(), dims.begin(), dims.end());
    for (size_t i = 0; i < dims.size(); ++i) dynamic_.push_back(!dynamic.empty() && dynamic[i]);
  } else {
    row.parts = {static_cast<uint32_t>(elements_.size()), static_cast<uint32_t>(elements.size())};
    elements_.insert(elements_.end(), elements.begin(), elements.end());
  }
  const ShapeId id = shapes_.Add(row);
  depths_.push_back(depth);
  constexpr int64_t kMost = int64_t{1} << 62U;
  int64_t leaves = elements.empty() ? 1 : 0;
  for (const ShapeId element : elements)
    leaves = std::min(kMost, leaves + std::min(kMost, leaf_count(element)));
  leaf_counts_.push_back(leaves);
  hashes_.push_back(hash);
  slots_[slot] = id.index + 1;
  if (shapes_.size() * 2 > slots_.size()) Grow();
  return id;
}

void ShapeTable::Grow() {
  std::vector<uint32_t> slots(slots_.size() * 2, 0);
  for (size_t i = 0; i < shapes_.size(); ++i) {
    size_t slot = hashes_[i] & (slots.size() - 1);
    while (slots[slot] != 0) slot = (slot + 1) & (slots.size() - 1);
    slots[slot] = static_cast<uint32_t>(i + 1);
  }
  slots_ = std::move(slots);
}

bool Equal(const ShapeTable& a, ShapeId x, const ShapeTable& b, ShapeId y, bool layouts) {
  // Pairs still to compare. Shared subtrees are compared once a pair, which tuples of tuples could
  // otherwise make exponential.
  std::vector<std::pair<ShapeId, ShapeId>> stack = {{x, y}};
  std::set<std::pair<ShapeId, ShapeId>> seen;
  while (!stack.empty()) {
    const auto [p, q] = stack.back();
    stack.pop_back();
    if (&a == &b && p == q) continue;
    const Shape& s = a[p];
    const Shape& t = b[q];
    if (s.type != t.type || s.is_dynamic != t.is_dynamic || s.parts.count != t.parts.count)
      return false;
    if (!std::ranges::equal(a.dims(p), b.dims(q))) return false;
    if (s.is_dynamic) {
      for (size_t i = 0; i < s.parts.count; ++i) {
        if (a.is_dynamic(p, i) != b.is_dynamic(q, i)) return false;
      }
    }
    if (layouts) {
      if (s.layout.is_none() != t.layout.is_none()) return false;
      if (!s.layout.is_none()) {
        Layout l = a.layout(s.layout);
        Layout m = b.layout(t.layout);
        if (l.physical_shape.is_none() != m.physical_shape.is_none()) return false;
        if (!l.physical_shape.is_none()) stack.emplace_back(l.physical_shape, m.physical_shape);
        l.physical_shape = m.physical_shape = ShapeId();
        if (l != m) return false;
      }
    }
    const std::span<const ShapeId> es = a.elements(p);
    if (es.empty() || !seen.emplace(p, q).second) continue;
    const std::span<const ShapeId> fs = b.elements(q);
    for (size_t i = 0; i < es.size(); ++i) stack.emplace_back(es[i], fs[i]);
  }
  return true;
}

}  // namespace stowplan::hlo
