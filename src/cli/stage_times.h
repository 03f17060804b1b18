// SPDX-License-Identifier: Apache-2.0
// What --stats prints: time and memory, stage by stage.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace stowplan::cli {

class StageTimes {
 public:
  // Counts the time since the previous stage towards this one.
  void Done(std::string_view stage);
  // A table: stage, milliseconds, peak memory so far.
  [[nodiscard]] std::string Table() const;

 private:
  struct Row {
    std::string stage;
    double seconds = 0;
    int64_t peak_bytes = 0;
  };
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::vector<Row> rows_;
};

}  // namespace stowplan::cli
