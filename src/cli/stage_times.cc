// SPDX-License-Identifier: Apache-2.0
#include "cli/stage_times.h"

#include <algorithm>

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/human_bytes.h"

namespace stowplan::cli {

void StageTimes::Done(std::string_view stage) {
  const auto now = std::chrono::steady_clock::now();
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  rows_.push_back({.stage = std::string(stage),
                   .seconds = std::chrono::duration<double>(now - last_).count(),
                   .peak_bytes = int64_t{usage.ru_maxrss} * 1024});
  last_ = now;
}

std::string StageTimes::Table() const {
  std::string out = "stage              time    peak memory\n";
  double total = 0;
  int64_t peak = 0;
  for (const Row& row : rows_) {
    out += fmt::format("{:<12} {:7.1f} ms    {:>11}\n", row.stage, row.seconds * 1e3,
                       HumanBytes(row.peak_bytes));
    total += row.seconds;
    peak = std::max(peak, row.peak_bytes);
  }
  return out + fmt::format("{:<12} {:7.1f} ms    {:>11}\n", "all", total * 1e3, HumanBytes(peak));
}

}  // namespace stowplan::cli
