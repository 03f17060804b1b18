// SPDX-License-Identifier: Apache-2.0
#include "cli/pack_progress.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/human_bytes.h"

namespace stowplan::cli {
namespace {

void Write(const std::string& text) {
  [[maybe_unused]] const ssize_t count = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

PackProgress::PackProgress()
    : is_shown_(isatty(STDERR_FILENO) != 0), begin_(std::chrono::steady_clock::now()) {}

PackProgress::~PackProgress() {
  if (has_line_) Write("\r\x1b[K");
}

void PackProgress::Show(int64_t height, int64_t bound) {
  height_ = height;
  bound_ = bound;
  Tick();
}

void PackProgress::Tick() {
  if (!is_shown_ || height_ == 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (last_ && now - *last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  has_line_ = true;
  const double apart = 100.0 * static_cast<double>(height_ - bound_) /
                       static_cast<double>(std::max<int64_t>(bound_, 1));
  Write(fmt::format("\r\x1b[K{}, at least {}, {:.2f} % apart, {:.0f} s", HumanBytes(height_),
                    HumanBytes(bound_), apart,
                    std::chrono::duration<double>(now - begin_).count()));
}

}  // namespace stowplan::cli
