// SPDX-License-Identifier: Apache-2.0
// Whether a problem is well-formed, and whether a plan solves it. Shares no code with the solvers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stowplan/pack/names.h"
#include "stowplan/pack/problem.h"

namespace stowplan::pack {

// The part of a problem that a mistake is in.
enum class Part : uint8_t {
  kSize,
  kLife,
  kAlignment,
  kGaps,
  kPin,
  kHint,
  kGroup,
  kApart,
  kChoice,
  kPool,
};

struct Mistake {
  Part part = Part::kSize;
  uint32_t row = 0;  // the buffer's number; with kPool the pool's
  std::string text;
};

// The first mistakes; none in a sound problem. Solvers require a sound one. `ids` name the buffers;
// if empty, buffers are called by their numbers.
std::vector<Mistake> FindMistakes(const Problem& problem, const Names& ids = {});

// The same as sentences, which call the buffers by their numbers.
std::vector<std::string> CheckProblem(const Problem& problem);

// The first complaints; none if
// - no two buffers that are alive at once share a byte that both need, unless they are in one
//   group,
// - offsets are aligned, and those of pinned buffers are their pins,
// - a group has one offset, and pairs that must be apart share no byte, at any time,
// - each buffer is in a pool that it may be in, and within its capacity,
// - the height is right: the highest end of a buffer, in the last pool where there are pools.
//
// Needs a sound problem.
std::vector<std::string> CheckPlan(const Problem& problem, const Plan& plan, const Names& ids = {});

}  // namespace stowplan::pack
