// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

// Of this process, all threads together.
inline double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}
