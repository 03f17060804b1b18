// SPDX-License-Identifier: Apache-2.0
// What makes no sense in a problem, with the part of it that is to blame.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stowplan/pack.h"

namespace stowplan::pack {

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
  kNames,
};

struct Mistake {
  Part part = Part::kSize;
  uint32_t row = 0;  // the buffer's number; with kPool the pool's
  std::string text;
};

// The first mistakes; none in a sound problem, the only kind that anything in src/pack but this and
// CheckPlan can take. `names` are those of all buffers; without any, they are numbers.
std::vector<Mistake> FindMistakes(const Problem& problem, const Names& names = {});

}  // namespace stowplan::pack
