// SPDX-License-Identifier: Apache-2.0
// Loops that hand arrays from trip to trip: a forward loop that writes a slice of an array in each
// trip, and a backward loop that reads one slice of it in each trip.
//
//     forward  trip i:   stack[i] = f(x_i, weights[i], ...)          (stack is not read)
//     backward trip j:   g(stack[n - 1 - j], ...)                    (stack is not changed)
//
// This is what a scan over layers becomes when it is differentiated. A *stack* is such an array.
// What trip j reads was computed by one known trip of the forward loop, so it can be computed
// again from what that trip has read, as far as that is still there.
#pragma once

#include <cstdint>
#include <vector>

#include "fit/trip_values.h"
#include "stowplan/hlo/module.h"

namespace stowplan::fit {

// An instruction that may be inside of a fusion, which may be asynchronous.
struct Inner {
  hlo::InstrId call;    // in the loop's body: what makes the result
  hlo::InstrId fusion;  // none: not inside
  hlo::InstrId id;
};

struct Stack {
  int64_t written = 0;        // element of the forward loop
  int64_t read = 0;           // element of the backward loop
  Inner update;               // dynamic-update-slice
  std::vector<Inner> slices;  // dynamic-slice
  size_t dimension = 0;       // that the trips count along
};

struct LoopPair {
  hlo::InstrId forward;
  hlo::InstrId backward;
  std::vector<int64_t> trips;  // by trip of the backward loop: that of the forward loop
  std::vector<Stack> stacks;   // by element of the forward loop
};

// All pairs, in the order of the forward loops. Nothing is changed by guesses: what does not have
// the form above in every respect is left out.
std::vector<LoopPair> FindLoopPairs(const hlo::Module& module);

// What surrounds an instruction inside a fusion: operands are `read_by`'s in the loop's body.
hlo::InstrId ReadBy(const hlo::Module& module, const Inner& inner);

// By element: whether the loop hands it on unchanged.
std::vector<uint8_t> FindUnchanged(const hlo::Module& module, hlo::InstrId loop);

}  // namespace stowplan::fit
