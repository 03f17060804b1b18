// SPDX-License-Identifier: Apache-2.0
// Shows progress on the last line of a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace stowplan::cli {

// A line that is updated a few times a second, and erased at the end.
class ProgressLine {
 public:
  // Writes nothing unless `is_shown`: see Console::is_watched.
  explicit ProgressLine(bool is_shown) : is_shown_(is_shown) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  // Calls `text()` only if it is time for an update.
  template <class Text>
  void Show(Text text) {
    if (IsTime()) Write(text());
  }

 private:
  bool IsTime();
  void Write(const std::string& text);

  bool is_shown_;
  bool has_line_ = false;
  std::chrono::steady_clock::time_point last_;  // initially long ago: the first text shows at once
};

// "[ 12/900] module_0012.jit_step"
class Progress {
 public:
  Progress(size_t total, bool is_shown) : total_(total), line_(is_shown) {}

  void Next(std::string_view name);

 private:
  size_t total_;
  size_t count_ = 0;
  ProgressLine line_;
};

}  // namespace stowplan::cli
