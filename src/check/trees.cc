// SPDX-License-Identifier: Apache-2.0
#include "check/trees.h"

#include <algorithm>

namespace stowplan::check {
namespace {

constexpr uint64_t kMaxRows = uint64_t{1} << 28U;

}  // namespace

std::optional<Trees> Trees::Of(const hlo::Module& module) {
  Trees trees;
  const hlo::ShapeTable& shapes = module.shapes;
  trees.counts_.resize(shapes.size());
  trees.child_begins_.assign(1, 0);
  // The elements of a tuple stand before it in the table.
  for (size_t s = 0; s < shapes.size(); ++s) {
    const hlo::ShapeId id(s);
    uint64_t count = 1;
    if (shapes.is_tuple(id)) {
      for (const hlo::ShapeId element : shapes.elements(id)) {
        trees.children_.push_back(static_cast<uint32_t>(count));
        count = std::min(count + trees.counts_[element.index], kMaxRows);
      }
    }
    trees.counts_[s] = static_cast<uint32_t>(count);
    trees.child_begins_.push_back(static_cast<uint32_t>(trees.children_.size()));
  }
  uint64_t rows = 0;
  trees.begins_.reserve(module.instructions.size() + 1);
  trees.begins_.push_back(0);
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    rows += trees.counts_[module.instructions[hlo::InstrId(i)].shape.index];
    if (rows >= kMaxRows) return std::nullopt;
    trees.begins_.push_back(static_cast<uint32_t>(rows));
  }
  trees.shapes_.reserve(rows);
  std::vector<hlo::ShapeId> stack;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    stack.push_back(module.instructions[hlo::InstrId(i)].shape);
    while (!stack.empty()) {
      const hlo::ShapeId shape = stack.back();
      stack.pop_back();
      trees.shapes_.push_back(shape);
      if (!shapes.is_tuple(shape)) continue;
      const std::span<const hlo::ShapeId> elements = shapes.elements(shape);
      stack.insert(stack.end(), elements.rbegin(), elements.rend());
    }
  }
  return trees;
}

hlo::InstrId Trees::instruction(uint32_t row) const {
  const auto next = std::ranges::upper_bound(begins_, row);
  return hlo::InstrId(static_cast<size_t>(next - begins_.begin()) - 1);
}

std::optional<uint32_t> Trees::Find(const hlo::Module& module, hlo::ShapeId shape,
                                    std::span<const int64_t> index) const {
  uint32_t row = 0;
  for (const int64_t k : index) {
    if (!module.shapes.is_tuple(shape)) return std::nullopt;
    const std::span<const hlo::ShapeId> elements = module.shapes.elements(shape);
    if (k < 0 || static_cast<size_t>(k) >= elements.size()) return std::nullopt;
    row += children(shape)[static_cast<size_t>(k)];
    shape = elements[static_cast<size_t>(k)];
  }
  return row;
}

std::vector<int64_t> Trees::IndexOf(const hlo::Module& module, uint32_t row) const {
  const hlo::InstrId id = instruction(row);
  uint32_t rest = row - top(id);
  hlo::ShapeId shape = module.instructions[id].shape;
  std::vector<int64_t> index;
  while (rest != 0) {
    const std::span<const uint32_t> begins = children(shape);
    const auto next = std::ranges::upper_bound(begins, rest);
    const auto k = static_cast<size_t>(next - begins.begin()) - 1;
    index.push_back(static_cast<int64_t>(k));
    rest -= begins[k];
    shape = module.shapes.elements(shape)[k];
  }
  return index;
}

std::string Trees::IndexText(const hlo::Module& module, uint32_t row) const {
  std::string text;
  for (const int64_t k : IndexOf(module, row)) {
    text += text.empty() ? '{' : ',';
    text += std::to_string(k);
  }
  if (!text.empty()) text += '}';
  return text;
}

}  // namespace stowplan::check
