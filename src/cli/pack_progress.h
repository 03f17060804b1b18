// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "cli/progress.h"

namespace stowplan::cli {

// "1.02MiB, at least 1.00MiB, 2.0 % apart, 3 s". Silent unless standard error is a terminal.
class PackProgress {
 public:
  PackProgress();

  void Show(int64_t height, int64_t bound);
  // Repeats the line with the current time.
  void Tick();

 private:
  ProgressLine line_;
  int64_t height_ = 0;
  int64_t bound_ = 0;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace stowplan::cli
