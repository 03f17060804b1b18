// SPDX-License-Identifier: Apache-2.0
// Implements --time-limit for the stages, which never read the clock themselves.
#pragma once

#include <chrono>
#include <functional>

namespace stowplan::cli {

// Returns a function that is true once `seconds` have passed. Never true for very large values.
inline std::function<bool()> StopAfter(double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr double kNever = 1e9;
  if (!(seconds < kNever)) return [] { return false; };
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  return [end] { return Clock::now() >= end; };
}

}  // namespace stowplan::cli
