// SPDX-License-Identifier: Apache-2.0
// Plans all modules of the corpus by policy `best`, and prints the heaps from a size on as the
// table of docs/best.md. Exit code 1 when one is larger than XLA's, or not sound.
//
//     stowplan_bench_best CORPUS [MIN_BYTES]
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "best/best.h"
#include "cpu_seconds.h"
#include "report/from_assignment.h"
#include "report/read.h"
#include "stowplan/session.h"

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

// The mean of how far sizes are above others, in percent.
class Mean {
 public:
  void Add(int64_t size, int64_t other) {
    if (other <= 0) return;
    logs_ += std::log(static_cast<double>(size) / static_cast<double>(other));
    ++count_;
  }
  [[nodiscard]] double percent() const {
    return count_ == 0 ? 0 : 100 * (std::exp(logs_ / count_) - 1);
  }

 private:
  double logs_ = 0;
  int count_ = 0;
};

std::string Above(int64_t size, int64_t other) {
  if (size == other) return "0";
  if (other == 0) return "";
  return fmt::format("{:.4f} %",
                     100.0 * static_cast<double>(size - other) / static_cast<double>(other));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: stowplan_bench_best CORPUS [MIN_BYTES]\n");
    return 2;
  }
  const int64_t least = argc > 2 ? std::atoll(argv[2]) : 1'000'000;
  fmt::print("| heap | XLA | Stowplan | XLA above it | above its bound | above the floor |\n");
  fmt::print("|---|---|---|---|---|---|\n");
  Mean xla;
  Mean bound;
  Mean floor;
  int count = 0;
  int optimal = 0;
  double seconds = 0;
  bool is_fine = true;
  for (const Archive& archive : kArchives) {
    for (const std::string& file : ModulesBelow(fmt::format("{}/{}", argv[1], archive.name))) {
      const Result<Planned> planned = PlanModule(file, archive);
      if (!planned) {
        fmt::print(stderr, "{}: {}", file, Render(planned.error()));
        is_fine = false;
        continue;
      }
      seconds += planned->seconds;
      for (const BestHeap& heap : planned->plan.heaps) {
        is_fine = is_fine && heap.bytes <= heap.xla_bytes && heap.bound <= heap.bytes &&
                  heap.floor <= heap.bytes;
        if (heap.xla_bytes < least) continue;
        ++count;
        optimal += heap.is_optimal() ? 1 : 0;
        xla.Add(heap.xla_bytes, heap.bytes);
        bound.Add(heap.bytes, heap.bound);
        floor.Add(heap.bytes, heap.floor);
        fmt::print("| {} {}{} | {} | {} | {} | {} | {} |\n", archive.name,
                   std::filesystem::path(file).parent_path().filename().string(),
                   heap.color == 0 ? std::string() : fmt::format(", space {}", heap.color),
                   heap.xla_bytes, heap.bytes, Above(heap.xla_bytes, heap.bytes),
                   Above(heap.bytes, heap.bound), Above(heap.bytes, heap.floor));
      }
    }
  }
  fmt::print(
      "\n{} heaps, {} as low as their bounds. Geometric means: XLA {:.3f} % above Stowplan, "
      "Stowplan {:.5f} % above its bounds, {:.3f} % above the floors.\n",
      count, optimal, xla.percent(), bound.percent(), floor.percent());
  fmt::print(stderr, "{:.1f} s of CPU time for all plans\n", seconds);
  return is_fine ? 0 : 1;
}
