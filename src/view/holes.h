// SPDX-License-Identifier: Apache-2.0
// What is unused in an allocation at some moment, and why.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "explain/picture.h"

namespace stowplan::view {

enum class HoleKind : uint8_t {
  kAlignment,      // up to the next allowed offset
  kFragmentation,  // no value lies here at any time
  kDead,           // a value lies here at another time
};
inline constexpr std::string_view kHoleKinds[] = {"alignment", "fragmentation", "dead"};

struct Hole {
  report::AllocationId allocation;
  HoleKind kind = HoleKind::kDead;
  int64_t begin = 0;  // bytes within the allocation
  int64_t end = 0;
  report::ValueId below;  // that pin it, alive at the moment; none at the ends
  report::ValueId above;
};

// By allocation and byte. Thread-local allocations have none.
[[nodiscard]] std::vector<Hole> FindHoles(const explain::Picture& picture, int64_t color,
                                          int64_t time);

}  // namespace stowplan::view
