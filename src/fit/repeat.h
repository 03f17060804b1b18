// SPDX-License-Identifier: Apache-2.0
// Changes of a sequence: nodes occur again, or no longer.
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "fit/task.h"

namespace stowplan::fit {

// The occurrence at this place cannot be repeated: what it reads would be overwritten.
struct Refused {
  uint32_t place = 0;
};

// What reads a chosen occurrence (by place, all before `place`) after `place` reads a repetition of
// it instead, which comes right before its first reader. Occurrences that nobody reads any more are
// dropped.
std::variant<Sequence, Refused> Repeat(const Task& task, std::span<const Node> sequence,
                                       uint32_t place, std::span<const uint8_t> is_chosen);

// Without the occurrences that nobody reads, as far as other occurrences of the node remain.
Sequence WithoutUnread(const Task& task, std::span<const Node> sequence);

// Drops repetitions, expensive ones first, as long as no load exceeds `limit`.
Sequence WithoutNeedless(const Task& task, Sequence sequence, int64_t limit);

}  // namespace stowplan::fit
