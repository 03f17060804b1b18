// SPDX-License-Identifier: Apache-2.0
// What ends long work: a time limit, or Ctrl-C where the main thread works. The work then returns
// the best that it has.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include <nanobind/nanobind.h>

namespace stowplan::python {

// Made and left with the interpreter lock held; in between, the work runs without it.
class Watch {
 public:
  explicit Watch(std::optional<double> time_limit);

  // For the stages; any thread may ask. The watch must outlive it.
  [[nodiscard]] std::function<bool()> should_stop() {
    return [this] { return ShouldStop(); };
  }
  // Whether Ctrl-C has ended the work.
  [[nodiscard]] bool is_interrupted() const { return is_interrupted_; }
  // Raises what a signal handler other than that of Ctrl-C has raised.
  void Finish();

 private:
  using Clock = std::chrono::steady_clock;
  bool ShouldStop();
  void LookForSignals();

  std::mutex mutex_;
  std::thread::id looker_;  // who looks for signals; none: nobody
  std::optional<Clock::time_point> end_;
  Clock::time_point next_look_;
  bool is_interrupted_ = false;
  std::optional<nanobind::python_error> error_;
};

}  // namespace stowplan::python
