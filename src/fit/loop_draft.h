// SPDX-License-Identifier: Apache-2.0
// Steps in which loops are changed: copies of parts of fusions, and new stacks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fit/loop_pairs.h"
#include "hlo/draft.h"
#include "stowplan/hlo/module.h"

namespace stowplan::fit {

void SetNumber(hlo::Draft::Row& row, hlo::AttributeKey key, int64_t number);
void Forget(hlo::Draft::Row& row, hlo::AttributeKey key);

// Whether a fusion means what its computation says, whatever its root is.
bool IsPlainFusion(const hlo::Module& module, hlo::InstrId fusion);

// A copy of a fusion, with a computation of its own.
struct FusionCopy {
  hlo::InstrId row;
  hlo::CompId part;
  std::vector<hlo::InstrId> before;  // rows of the original computation
  std::vector<hlo::InstrId> after;   // the same in the copy

  [[nodiscard]] hlo::InstrId Inside(hlo::InstrId id) const;
};
FusionCopy CopyFusion(hlo::Draft& draft, hlo::InstrId fusion, hlo::CompId parent,
                      std::vector<hlo::InstrId> operands);
// Lets the fusion yield another row of its computation, and forgets what was said about the old
// one.
void SetRoot(hlo::Draft& draft, const FusionCopy& copy, hlo::InstrId root);
// Drops what the root of a fusion's computation does not need, and operands for which there is no
// parameter then.
void Prune(hlo::Draft& draft, hlo::InstrId fusion, hlo::CompId part);

// Leaves out rows of a computation that its root needed in the module, and does not any more. What
// has an effect stays. Elements with negative numbers are gone.
void DropUnneeded(hlo::Draft& draft, const hlo::Module& module, hlo::CompId computation,
                  std::span<const uint8_t> effects);

// From what a new stack is copied.
struct StackPattern {
  Inner update;
  Inner slice;
  int64_t trips = 0;       // slices in a stack
  hlo::InstrId bitcast;    // any
  hlo::InstrId init;       // in the parent: makes an array of one number; a broadcast, or a fusion
  hlo::InstrId broadcast;  // inside of it, or itself
};
// For values of this type. Nothing if the pair has no stack that is simple enough.
std::optional<StackPattern> FindPattern(const hlo::Module& module, const LoopPair& pair,
                                        hlo::ElementType type);
// The shape of `count` values; none if the layout is not just an order of dimensions.
hlo::ShapeId StackedShape(hlo::ShapeTable& shapes, hlo::ShapeId value, int64_t count);

// The parts of a new stack of values of shape `value`. Elements are rows that are there already.
hlo::InstrId AddInit(hlo::Draft& draft, const hlo::Module& module, const StackPattern& pattern,
                     hlo::ShapeId value);
hlo::InstrId AddUpdate(hlo::Draft& draft, const hlo::Module& module, const StackPattern& pattern,
                       hlo::InstrId element, hlo::InstrId row);
// In the shape of the value.
hlo::InstrId AddSlice(hlo::Draft& draft, const hlo::Module& module, const StackPattern& pattern,
                      hlo::InstrId element, hlo::ShapeId value);

}  // namespace stowplan::fit
