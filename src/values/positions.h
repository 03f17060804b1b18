// SPDX-License-Identifier: Apache-2.0
// Positions: the parts of what instructions return, numbered consecutively.
//
// An instruction of shape (f32[2], (s32[], pred[])) has the positions {}, {0}, {1}, {1,0}, {1,1}:
// its shape tree in pre-order. The positions of all instructions are numbered consecutively, so
// anything known about positions is a vector.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

using PositionId = Id<struct PositionTag>;

class Positions {
 public:
  // Fails if the expanded shape trees are too large to be numbered.
  static Result<Positions> Of(const hlo::Module& module);

  [[nodiscard]] size_t size() const { return owners_.size(); }
  // The whole of what the instruction returns: {}.
  [[nodiscard]] PositionId top(hlo::InstrId id) const { return PositionId(firsts_[id.index]); }
  // How many positions the instruction has.
  [[nodiscard]] uint32_t count(hlo::InstrId id) const {
    return firsts_[id.index + 1] - firsts_[id.index];
  }
  [[nodiscard]] hlo::InstrId instruction(PositionId id) const { return owners_[id.index]; }
  [[nodiscard]] bool is_top(PositionId id) const {
    return firsts_[owners_[id.index].index] == id.index;
  }
  // The offset of a position in its instruction's tree: 0 for {}.
  [[nodiscard]] uint32_t offset(PositionId id) const {
    return id.index - firsts_[owners_[id.index].index];
  }
  [[nodiscard]] PositionId At(hlo::InstrId id, uint32_t offset) const {
    return PositionId(size_t{firsts_[id.index]} + offset);
  }
  [[nodiscard]] hlo::ShapeId shape(PositionId id) const { return shapes_[id.index]; }
  // The k-th part of a tuple's position. Requires k to be less than the number of its parts.
  [[nodiscard]] PositionId Child(PositionId id, size_t k) const {
    return PositionId(id.index + size_t{ChildOffset(shapes_[id.index], k)});
  }
  // The offset of the k-th part of a tuple of this shape from the tuple itself.
  [[nodiscard]] uint32_t ChildOffset(hlo::ShapeId tuple, size_t k) const {
    return child_offsets_[child_begins_[tuple.index] + k];
  }
  // How many positions a shape has.
  [[nodiscard]] uint32_t TreeSize(hlo::ShapeId shape) const { return tree_sizes_[shape.index]; }

  // The offset of an index in a shape's tree, or kNowhere.
  static constexpr uint32_t kNowhere = 0xffffffffU;
  [[nodiscard]] uint32_t Find(const hlo::ShapeTable& shapes, hlo::ShapeId shape,
                              std::span<const int64_t> index) const;
  // The index of the part at `offset` of a shape's tree: {1,0}.
  void AppendIndex(const hlo::ShapeTable& shapes, hlo::ShapeId shape, uint32_t offset,
                   std::vector<int64_t>& out) const;

 private:
  std::vector<uint32_t> firsts_;        // by instruction, and one more
  std::vector<hlo::InstrId> owners_;    // by position
  std::vector<hlo::ShapeId> shapes_;    // by position
  std::vector<uint32_t> tree_sizes_;    // by shape
  std::vector<uint32_t> child_begins_;  // by shape: where its tuple's elements begin below
  std::vector<uint32_t> child_offsets_;
};

}  // namespace stowplan
