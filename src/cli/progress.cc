// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "page/text.h"

namespace stowplan::cli {

ProgressLine::~ProgressLine() {
  if (has_line_) Write({});
}

bool ProgressLine::IsTime() {
  const auto now = std::chrono::steady_clock::now();
  if (!is_shown_ || now - last_ < std::chrono::milliseconds(100)) return false;
  last_ = now;
  return true;
}

void ProgressLine::Write(const std::string& text) {
  has_line_ = true;
  const std::string line = "\r\x1b[K" + text;
  [[maybe_unused]] const ssize_t count = write(STDERR_FILENO, line.data(), line.size());
}

void Progress::Next(std::string_view name) {
  ++count_;
  line_.Show([&] {
    const std::string total = std::to_string(total_);
    std::string count = std::to_string(count_);
    count.insert(0, total.size() - std::min(total.size(), count.size()), ' ');
    return "[" + count + "/" + total + "] " + page::Shortened(page::Printable(name), 60);
  });
}

}  // namespace stowplan::cli
