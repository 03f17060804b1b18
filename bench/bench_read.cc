// SPDX-License-Identifier: Apache-2.0
// Reads files in memory again and again; prints the best CPU time and the peak of memory as JSON.
// With one repetition, the peak is that of reading once. Several files are the reports of one
// module.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cpu_seconds.h"
#include "report/read.h"
#include "stowplan/session.h"

namespace {

// The most memory this process has had. (getrusage would count what the process that started it
// had.)
int64_t PeakBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::atoll(line.c_str() + 6) * 1024;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: stowplan_bench_read module|report REPETITIONS FILE...\n");
    return 2;
  }
  const bool is_report = std::string_view(argv[1]) == "report";
  const int repetitions = std::atoi(argv[2]);
  const int64_t before = PeakBytes();
  std::vector<std::shared_ptr<const stowplan::Source>> sources;
  size_t bytes = 0;
  for (int i = 3; i < argc; ++i) {
    auto source = stowplan::ReadSource(argv[i]);
    if (!source) {
      fmt::print(stderr, "{}", stowplan::Render(source.error()));
      return 2;
    }
    bytes += (*source)->size();
    sources.push_back(*source);
  }
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repetitions; ++i) {
    const double start = CpuSeconds();
    bool ok = false;
    if (is_report) {
      ok = stowplan::report::ReadReport(sources).has_value();
    } else {
      ok = stowplan::ParseModule(sources[0]).has_value();
    }
    best = std::min(best, CpuSeconds() - start);
    if (!ok) {
      fmt::print(stderr, "{}: not read\n", argv[3]);
      return 2;
    }
  }
  fmt::print("{{\"bytes\": {}, \"seconds\": {:.9f}, \"peak_bytes\": {}, \"start_bytes\": {}}}\n",
             bytes, best, PeakBytes(), before);
}
