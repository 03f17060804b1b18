// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace stowplan::cli {

// "1.02MiB, at least 1.00MiB, 2.0 % apart, 3 s" on the last line of a terminal, a few times a
// second. Nothing where standard error is no terminal.
class PackProgress {
 public:
  PackProgress();
  PackProgress(const PackProgress&) = delete;
  PackProgress& operator=(const PackProgress&) = delete;
  ~PackProgress();

  void Show(int64_t height, int64_t bound);
  // The same again, with the time that has passed.
  void Tick();

 private:
  bool is_shown_;
  bool has_line_ = false;
  int64_t height_ = 0;
  int64_t bound_ = 0;
  std::chrono::steady_clock::time_point begin_;
  std::optional<std::chrono::steady_clock::time_point> last_;
};

}  // namespace stowplan::cli
