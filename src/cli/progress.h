// SPDX-License-Identifier: Apache-2.0
// How far the work is, on the last line of a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace stowplan::cli {

// Written anew a few times a second, and gone in the end.
class ProgressLine {
 public:
  // Nothing is written unless it is shown: see Listener::is_watched.
  explicit ProgressLine(bool is_shown) : is_shown_(is_shown) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  // `text()` is what it says; asked for only when it is time.
  template <class Text>
  void Show(Text text) {
    if (IsTime()) Write(text());
  }

 private:
  bool IsTime();
  void Write(const std::string& text);

  bool is_shown_;
  bool has_line_ = false;
  std::chrono::steady_clock::time_point last_;  // long ago: the first is shown at once
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
