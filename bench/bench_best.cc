// SPDX-License-Identifier: Apache-2.0
// Plans all modules of the corpus with policy `best`, and prints the heaps above a size as a table:
// XLA's height, Stowplan's, the bound; the geometric mean of height over bound last.
//
//     stowplan_bench_best CORPUS [MIN_BYTES]
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "stowplan/best/best.h"
#include "stowplan/read.h"
#include "stowplan/report/from_assignment.h"
#include "stowplan/report/read.h"

namespace {

using namespace stowplan;

struct Archive {
  std::string_view name;
  std::string_view target;
  std::string_view version;
};
constexpr Archive kArchives[] = {
    {"cpu", "cpu", "jaxlib-0.10.2"},     {"cpu11", "cpu", "jaxlib-0.11.2"},
    {"gpu", "gpu", "jaxlib-0.11.2"},     {"scale", "gpu", "jaxlib-0.11.2"},
    {"tpu", "tpu-v5e", "libtpu-0.0.51"},
};

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Planned {
  BestPlan plan;
  double seconds = 0;
};

Result<Planned> PlanModule(const std::string& file, const Archive& archive) {
  STOWPLAN_TRY(hlo::Module module, ReadModule(file));
  module.buffer_assignment = {};
  const Rules rules = RulesOf(*FindTarget(archive.target), archive.version);
  STOWPLAN_TRY(const Analysis analysis, Analyze(module, rules.analysis));
  std::optional<Preset> preset;
  if (rules.preset_space >= 0) {
    const std::string stem = file.substr(0, file.size() - std::string_view(".hlo.pb").size());
    STOWPLAN_TRY(const std::shared_ptr<const Source> source,
                 ReadSource(stem + "-buffer-assignment.txt"));
    const std::shared_ptr<const Source> sources[] = {source};
    STOWPLAN_TRY(const report::Report report, report::ReadReport(sources));
    STOWPLAN_TRY(preset, report::PresetFrom(module, analysis, report, rules.preset_space));
  }
  const double start = CpuSeconds();
  STOWPLAN_TRY(BestPlan plan, AssignBest(module, analysis, rules, preset, {}));
  const double seconds = CpuSeconds() - start;
  if (Diagnostics overlaps = FindOverlaps(module, analysis, plan.assignment); !overlaps.empty())
    return std::unexpected(std::move(overlaps));
  return Planned{std::move(plan), seconds};
}

std::vector<std::string> ModulesBelow(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().string().ends_with(".hlo.pb")) files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: stowplan_bench_best CORPUS [MIN_BYTES]\n");
    return 2;
  }
  const int64_t least = argc > 2 ? std::atoll(argv[2]) : 1'000'000;
  fmt::print("| program | space | XLA | Stowplan | bound | above bound | moved | s |\n");
  fmt::print("|---|---|---|---|---|---|---|---|\n");
  double logs = 0;
  double xla_logs = 0;
  int count = 0;
  int optimal = 0;
  bool is_fine = true;
  for (const Archive& archive : kArchives) {
    for (const std::string& file : ModulesBelow(fmt::format("{}/{}", argv[1], archive.name))) {
      const Result<Planned> planned = PlanModule(file, archive);
      if (!planned) {
        fmt::print(stderr, "{}: {}", file, Render(planned.error()));
        is_fine = false;
        continue;
      }
      for (const BestHeap& heap : planned->plan.heaps) {
        if (heap.xla_bytes < least) continue;
        const double ratio =
            static_cast<double>(heap.bytes) / static_cast<double>(std::max<int64_t>(heap.bound, 1));
        ++count;
        optimal += heap.is_optimal() ? 1 : 0;
        logs += std::log(ratio);
        xla_logs += std::log(static_cast<double>(heap.xla_bytes) /
                             static_cast<double>(std::max<int64_t>(heap.bytes, 1)));
        is_fine = is_fine && heap.bytes <= heap.xla_bytes && heap.bound <= heap.bytes;
        fmt::print(
            "| {} {} | {} | {} | {} | {} | {} | {} | {:.2f} |\n", archive.name,
            std::filesystem::path(file).parent_path().filename().string(), heap.color,
            heap.xla_bytes, heap.bytes, heap.bound,
            heap.is_optimal() ? std::string("optimal") : fmt::format("{:.3f} %", 100 * (ratio - 1)),
            fmt::format("{} / {} / {:.3f} %", heap.xla_guests, heap.guests,
                        100.0 * (double(heap.bytes) / double(heap.floor + 1) - 1)),
            planned->seconds);
      }
    }
  }
  fmt::print(
      "\n{} heaps, {} optimal, geometric mean of height over bound {:.4f} % above, XLA over "
      "Stowplan {:.3f} %\n",
      count, optimal, 100 * (std::exp(logs / count) - 1), 100 * (std::exp(xla_logs / count) - 1));
  return is_fine ? 0 : 1;
}
