// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "cli/report_text.h"

namespace stowplan::cli {
namespace {

void Write(const std::string& text) {
  [[maybe_unused]] const ssize_t count = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

Progress::~Progress() {
  if (has_line_) Write("\r\x1b[K");
}

void Progress::Next(std::string_view name) {
  ++count_;
  const auto now = std::chrono::steady_clock::now();
  if (!is_shown_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  has_line_ = true;
  const std::string total = std::to_string(total_);
  std::string count = std::to_string(count_);
  count.insert(0, total.size() - std::min(total.size(), count.size()), ' ');
  Write("\r\x1b[K[" + count + "/" + total + "] " + Shortened(Printable(name), 60));
}

}  // namespace stowplan::cli
