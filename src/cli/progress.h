// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

namespace stowplan::cli {

// "[ 12/900] module_0012.jit_step" on the last line of a terminal, a few times a second.
class Progress {
 public:
  // Nothing is written unless it is shown: see Listener::is_watched.
  Progress(size_t total, bool is_shown) : total_(total), is_shown_(is_shown) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void Next(std::string_view name);

 private:
  size_t total_;
  size_t count_ = 0;
  bool is_shown_;
  bool has_line_ = false;
  std::chrono::steady_clock::time_point last_;  // long ago: the first is shown at once
};

}  // namespace stowplan::cli
