// SPDX-License-Identifier: Apache-2.0
// The values at positions while they are being found.
//
// A slot is one value, or names a row of many. A row never changes: all positions that hold the
// same values share it. A row that grows by a few values is a new row, but both are prefixes of one
// list: a parameter that receives its values one call after another costs one list, not one list
// for each call.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "values/value_flow.h"

namespace stowplan {

class ValueRows {
 public:
  // A slot from this number on is a row.
  static constexpr uint32_t kFlag = 0x80000000U;
  [[nodiscard]] static bool IsRow(ValueId slot) { return !slot.is_none() && slot.index >= kFlag; }

  // The values of a slot, each once, in any order. Valid until a row is made or the slot is
  // released.
  [[nodiscard]] std::span<const ValueId> Of(const ValueId& slot) const;
  // Whether both hold the same values.
  [[nodiscard]] bool Equal(ValueId a, ValueId b) const;
  // Whether `b` is `a` that has grown.
  [[nodiscard]] bool IsBeginning(ValueId a, ValueId b) const;
  // The slot of these values, which must be sorted and distinct.
  ValueId Make(std::span<const ValueId> sorted);
  // The slot of `slot`'s values and of these, which it must not hold yet. Requires a row.
  ValueId Grow(ValueId slot, std::span<const ValueId> more);

 private:
  struct Row {
    uint32_t list = 0;
    uint32_t length = 0;
  };
  [[nodiscard]] const Row& RowOf(ValueId slot) const { return rows_[slot.index - kFlag]; }
  ValueId Add(Row row);

  std::vector<Row> rows_;
  std::vector<std::vector<ValueId>> lists_;
};

}  // namespace stowplan
