// SPDX-License-Identifier: Apache-2.0
// The parts of what instructions return, in one row: tuples before their elements.
//
//     (f32[2], (s32[], s32[]))     0 {}   1 {0}   2 {1}   3 {1,0}   4 {1,1}
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan::check {

class Trees {
 public:
  // Nothing when all parts together are more than a machine holds.
  static std::optional<Trees> Of(const hlo::Module& module);

  // How many parts there are, of a shape and of all instructions.
  [[nodiscard]] uint32_t count(hlo::ShapeId shape) const { return counts_[shape.index]; }
  [[nodiscard]] uint32_t count() const { return begins_.back(); }
  // The row of an instruction's part {}.
  [[nodiscard]] uint32_t top(hlo::InstrId id) const { return begins_[id.index]; }
  [[nodiscard]] std::span<const uint32_t> children(hlo::ShapeId shape) const {
    return std::span(children_).subspan(
        child_begins_[shape.index], child_begins_[shape.index + 1] - child_begins_[shape.index]);
  }
  [[nodiscard]] hlo::ShapeId shape(uint32_t row) const { return shapes_[row]; }
  [[nodiscard]] hlo::InstrId instruction(uint32_t row) const;
  // The part of a shape that an index names.
  [[nodiscard]] std::optional<uint32_t> Find(const hlo::Module& module, hlo::ShapeId shape,
                                             std::span<const int64_t> index) const;
  // "{1,0}"; empty for {}.
  [[nodiscard]] std::string IndexText(const hlo::Module& module, uint32_t row) const;
  [[nodiscard]] std::vector<int64_t> IndexOf(const hlo::Module& module, uint32_t row) const;

 private:
  std::vector<uint32_t> counts_;        // by shape
  std::vector<uint32_t> child_begins_;  // by shape, and one more
  std::vector<uint32_t> children_;      // of a tuple: how far behind {} each element begins
  std::vector<uint32_t> begins_;        // by instruction, and one more
  std::vector<hlo::ShapeId> shapes_;    // by row
};

}  // namespace stowplan::check
