// SPDX-License-Identifier: Apache-2.0
// Stretches of the time line that belong together: the body of a loop, a branch, a call, an
// operation that runs concurrently with others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "explain/picture.h"

namespace stowplan::view {

enum class BracketKind : uint8_t { kWhile, kCondition, kBranch, kCall, kAsync };
inline constexpr std::string_view kBracketKinds[] = {"while", "condition", "branch", "call",
                                                     "async"};

struct Bracket {
  int64_t start = 0;  // inclusive
  int64_t end = 0;
  uint8_t depth = 0;  // the line on which it overlaps none: 0 is outermost, 255 the last
  BracketKind kind = BracketKind::kWhile;
  std::string label;
};

// By start, the outer first. None without a program.
[[nodiscard]] std::vector<Bracket> FindBrackets(const explain::Picture& picture);

}  // namespace stowplan::view
