// SPDX-License-Identifier: Apache-2.0
// Plans a module again and again; prints the best CPU time of each part as JSON: what comes before
// live ranges, and from live ranges to the finished assignment.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "assign/assignment.h"
#include "cpu_seconds.h"
#include "stowplan/session.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: stowplan_bench_assign TARGET REPETITIONS MODULE\n");
    return 2;
  }
  const std::optional<stowplan::Target> target = stowplan::FindTarget(argv[1]);
  const stowplan::Result<stowplan::hlo::Module> module = stowplan::ReadModule(argv[3]);
  if (!target || !module) {
    fmt::print(stderr, "{}", module ? "no such target\n" : stowplan::Render(module.error()));
    return 2;
  }
  const stowplan::Rules rules = stowplan::RulesOf(*target);
  double analysis_best = std::numeric_limits<double>::infinity();
  double assign_best = analysis_best;
  size_t values = 0;
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    double live_start = 0;
    const double start = CpuSeconds();
    const auto analysis = stowplan::Analyze(*module, rules.analysis, [&](std::string_view stage) {
      if (stage == "aliases") live_start = CpuSeconds();
    });
    if (!analysis) return 2;
    const auto plan = stowplan::Assign(*module, *analysis, rules, std::nullopt);
    const double end = CpuSeconds();
    if (!plan) return 2;
    values = analysis->flow.values.size();
    analysis_best = std::min(analysis_best, live_start - start);
    assign_best = std::min(assign_best, end - live_start);
  }
  fmt::print("{{\"instructions\": {}, \"values\": {}, \"before_s\": {}, \"assign_s\": {}}}\n",
             module->instructions.size(), values, analysis_best, assign_best);
  return 0;
}
