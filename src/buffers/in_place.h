// SPDX-License-Identifier: Apache-2.0
// Instructions that write into an operand's memory: dynamic-update-slice and similar, fusions that
// end in one, and what output_to_operand_aliasing declares.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stowplan/hlo/module.h"
#include "values/positions.h"

namespace stowplan {

// The part at `output` of the result lies where the part at `input` of the operand lay. Both are
// offsets in shape trees.
struct InPlacePair {
  uint32_t operand = 0;
  uint32_t input = 0;
  uint32_t output = 0;
  friend bool operator==(const InPlacePair&, const InPlacePair&) = default;
};

struct InPlacePairs {
  // Instructions that have pairs, ascending, and their pairs.
  std::vector<hlo::InstrId> instructions;
  std::vector<Range> ranges;
  std::vector<InPlacePair> pairs;

  [[nodiscard]] std::span<const InPlacePair> of(hlo::InstrId id) const;
};

// What leaves the bytes where they are in a fusion. The first: bitcasts of what is written over,
// not of what was written.
enum class NoOps : uint8_t { kOperandBitcasts, kBitcasts, kBitcastsAndReshapes };

InPlacePairs FindInPlacePairs(const hlo::Module& module, const Positions& positions, NoOps no_ops);

}  // namespace stowplan
