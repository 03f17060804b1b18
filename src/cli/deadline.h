// SPDX-License-Identifier: Apache-2.0
// --time-limit for the stages, which know no clock.
#pragma once

#include <chrono>
#include <functional>

namespace stowplan::cli {

// True when so many seconds have passed since the call; of more than a clock can tell, never.
inline std::function<bool()> StopAfter(double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr double kNever = 1e9;
  if (!(seconds < kNever)) return [] { return false; };
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  return [end] { return Clock::now() >= end; };
}

}  // namespace stowplan::cli
