// SPDX-License-Identifier: Apache-2.0
#include "cli/pack_progress.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/human_bytes.h"

namespace stowplan::cli {

PackProgress::PackProgress()
    : line_(isatty(STDERR_FILENO) != 0), begin_(std::chrono::steady_clock::now()) {}

void PackProgress::Show(int64_t height, int64_t bound) {
  height_ = height;
  bound_ = bound;
  Tick();
}

void PackProgress::Tick() {
  if (height_ == 0) return;
  line_.Show([&] {
    const double apart = 100.0 * static_cast<double>(height_ - bound_) /
                         static_cast<double>(std::max<int64_t>(bound_, 1));
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin_;
    return fmt::format("{}, at least {}, {:.2f} % apart, {:.0f} s", HumanBytes(height_),
                       HumanBytes(bound_), apart, time.count());
  });
}

}  // namespace stowplan::cli
