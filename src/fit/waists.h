// SPDX-License-Identifier: Apache-2.0
// Where a program is narrow: little is handed on from what comes before to what comes after, as
// between the layers of a network. What is handed on there is worth keeping, because then each
// layer can be computed again by itself.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fit/task.h"

namespace stowplan::fit {

// A place of the sequence between two wider stretches.
struct Waist {
  uint32_t place = 0;  // after it, little is handed on
  int64_t depth = 0;   // how much wider it gets on both sides, in bytes
};

// Of the part before `end`, by place: as if nothing after it were read by what comes after `end`.
std::vector<Waist> FindWaists(const Task& task, std::span<const Node> sequence, const Trace& trace,
                              uint32_t end);

// The nodes whose results are handed on at one of the places; by node.
std::vector<uint8_t> HandedOnAt(const Task& task, std::span<const Node> sequence,
                                const Trace& trace, uint32_t end, std::span<const uint32_t> places);

}  // namespace stowplan::fit
