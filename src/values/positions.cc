// SPDX-License-Identifier: Apache-2.0
#include "values/positions.h"

#include <algorithm>

#include <fmt/format.h>

namespace stowplan {
namespace {

using hlo::InstrId;
using hlo::ShapeId;

// Positions and the numbers in their indices, {1,0}: more than any program has. A short text can
// claim far more by nesting tuples.
constexpr uint64_t kMaxParts = uint64_t{1} << 26U;

}  // namespace

Result<Positions> Positions::Of(const hlo::Module& module) {
  Positions positions;
  const hlo::ShapeTable& shapes = module.shapes;
  positions.tree_sizes_.assign(shapes.size(), 1);
  positions.child_begins_.assign(shapes.size(), 0);
  std::vector<uint64_t> parts(shapes.size(), 1);  // by shape: positions and numbers in indices
  // Elements are interned before the tuples that hold them.
  for (size_t s = 0; s < shapes.size(); ++s) {
    positions.child_begins_[s] = static_cast<uint32_t>(positions.child_offsets_.size());
    if (!shapes.is_tuple(ShapeId(s))) continue;
    uint64_t size = 1;
    for (const ShapeId element : shapes.elements(ShapeId(s))) {
      positions.child_offsets_.push_back(static_cast<uint32_t>(size));
      size = std::min(kMaxParts, size + positions.tree_sizes_[element.index]);
      parts[s] = std::min(kMaxParts,
                          parts[s] + parts[element.index] + positions.tree_sizes_[element.index]);
    }
    positions.tree_sizes_[s] = static_cast<uint32_t>(size);
  }
  const size_t count = module.instructions.size();
  positions.firsts_.reserve(count + 1);
  uint64_t total = 0;
  uint64_t total_parts = 0;
  for (size_t i = 0; i < count; ++i) {
    const ShapeId shape = module.instructions[InstrId(i)].shape;
    positions.firsts_.push_back(static_cast<uint32_t>(total));
    total += positions.tree_sizes_[shape.index];
    total_parts += parts[shape.index];
    if (total_parts >= kMaxParts) {
      return Fail(module.source ? module.source->name() : std::string(),
                  fmt::format("the tuples of the program, written out, have more than {} parts",
                              kMaxParts));
    }
  }
  positions.firsts_.push_back(static_cast<uint32_t>(total));
  positions.owners_.reserve(total);
  positions.shapes_.reserve(total);
  std::vector<ShapeId> pending;
  for (size_t i = 0; i < count; ++i) {
    pending.push_back(module.instructions[InstrId(i)].shape);
    while (!pending.empty()) {
      const ShapeId shape = pending.back();
      pending.pop_back();
      positions.owners_.emplace_back(i);
      positions.shapes_.push_back(shape);
      if (!shapes.is_tuple(shape)) continue;
      const std::span<const ShapeId> elements = shapes.elements(shape);
      pending.insert(pending.end(), elements.rbegin(), elements.rend());
    }
  }
  return positions;
}

uint32_t Positions::Find(const hlo::ShapeTable& shapes, ShapeId shape,
                         std::span<const int64_t> index) const {
  uint32_t offset = 0;
  for (const int64_t k : index) {
    if (!shapes.is_tuple(shape)) return kNowhere;
    const std::span<const ShapeId> elements = shapes.elements(shape);
    if (k < 0 || k >= static_cast<int64_t>(elements.size())) return kNowhere;
    offset += ChildOffset(shape, static_cast<size_t>(k));
    shape = elements[static_cast<size_t>(k)];
  }
  return offset;
}

void Positions::AppendIndex(const hlo::ShapeTable& shapes, ShapeId shape, uint32_t offset,
                            std::vector<int64_t>& out) const {
  while (offset != 0) {
    const std::span<const ShapeId> elements = shapes.elements(shape);
    const auto begin = child_offsets_.begin() + child_begins_[shape.index];
    const auto child =
        std::upper_bound(begin, begin + static_cast<std::ptrdiff_t>(elements.size()), offset) - 1;
    out.push_back(child - begin);
    offset -= *child;
    shape = elements[static_cast<size_t>(child - begin)];
  }
}

}  // namespace stowplan
