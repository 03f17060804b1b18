// SPDX-License-Identifier: Apache-2.0
// Plans a module and explains the plan again and again; prints the best CPU times of reading the
// module's text and of explaining, and the peak, as JSON.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "assign/assignment.h"
#include "cpu_seconds.h"
#include "explain/footprint.h"
#include "explain/partition.h"
#include "explain/xla_peak.h"
#include "report/from_assignment.h"
#include "stowplan/session.h"

int main(int argc, char** argv) {
  namespace explain = stowplan::explain;
  if (argc != 4) {
    fmt::print(stderr, "usage: stowplan_bench_explain TARGET REPETITIONS MODULE\n");
    return 2;
  }
  const std::optional<stowplan::Target> target = stowplan::FindTarget(argv[1]);
  const auto source = stowplan::ReadSource(argv[3]);
  if (!target || !source) return 2;
  double read_best = std::numeric_limits<double>::infinity();
  double explain_best = read_best;
  double others_best = read_best;
  size_t instructions = 0;
  size_t values = 0;
  int64_t peak = 0;
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    const double start = CpuSeconds();
    const auto module = stowplan::ParseModule(*source);
    read_best = std::min(read_best, CpuSeconds() - start);
    if (!module) return 2;
    const stowplan::Rules rules = stowplan::RulesOf(*target);
    const auto analysis = stowplan::Analyze(*module, rules.analysis);
    if (!analysis) return 2;
    const auto plan = stowplan::Assign(*module, *analysis, rules, std::nullopt);
    if (!plan) return 2;
    const stowplan::report::Report report = stowplan::report::ReportOf(
        *module, *analysis, *plan, *stowplan::report::FindReportStyle("jaxlib-0.11.2"));
    // All that the page shows: `stowplan explain`, without its words.
    using explain::By;
    const double middle = CpuSeconds();
    const auto picture = explain::MakePicture(report, &*module, target);
    if (!picture) return 2;
    const explain::Curve& curve = picture->curves.all;
    const explain::Moment moment = explain::MomentAt(*picture, curve.peak.time);
    int64_t total = explain::FootprintOf(*picture, moment).bytes;
    for (const By by : {By::kSource, By::kKind, By::kValue})
      total += explain::PartitionOf(*picture, moment, by).total();
    const auto gap = explain::GapToXla(*picture);
    const double end = CpuSeconds();
    explain_best = std::min(explain_best, end - middle);
    // The tables that are shown on demand.
    for (const By by : {By::kStack, By::kOpName, By::kParameter, By::kFootprint})
      total += explain::PartitionOf(*picture, moment, by).total();
    others_best = std::min(others_best, CpuSeconds() - end);
    if (total <= 0 || !gap) return 1;
    instructions = module->instructions.size();
    values = report.values.size();
    peak = curve.peak.bytes;
  }
  fmt::print(
      "{{\"instructions\": {}, \"values\": {}, \"peak\": {}, \"read_s\": {}, \"explain_s\": {}, "
      "\"other_tables_s\": {}}}\n",
      instructions, values, peak, read_best, explain_best, others_best);
}
