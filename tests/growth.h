// SPDX-License-Identifier: Apache-2.0
// How time grows with the input, without a limit in seconds: machines differ, sanitizers slow
// everything down, and other programs run at the same time.
#pragma once

#include <cstddef>
#include <ctime>
#include <functional>

namespace stowplan {

inline double CpuSeconds(const std::function<void()>& work) {
  const std::clock_t begin = std::clock();  // of this process
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// Whether four times the input takes about four times the time; with the square it would be
// sixteen. `work_of` makes the input of a size and returns what is to be measured. Three tries,
// because a machine can pause; what takes the square fails all of them.
inline bool TimeIsLinear(const std::function<std::function<void()>(size_t)>& work_of,
                         size_t count) {
  const std::function<void()> small = work_of(count / 4);
  const std::function<void()> large = work_of(count);
  for (int i = 0; i < 3; ++i) {
    constexpr double kResolution = 0.05;  // seconds; below, a clock says little
    const double seconds = CpuSeconds(small);
    if (CpuSeconds(large) < 9 * seconds + kResolution) return true;
  }
  return false;
}

}  // namespace stowplan
