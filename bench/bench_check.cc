// SPDX-License-Identifier: Apache-2.0
// Plans a module and checks the plan again and again; prints the best CPU times of reading the
// module and of checking as JSON.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "assign/assignment.h"
#include "check/check.h"
#include "cpu_seconds.h"
#include "report/from_assignment.h"
#include "stowplan/session.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: stowplan_bench_check TARGET REPETITIONS MODULE\n");
    return 2;
  }
  const std::optional<stowplan::Target> target = stowplan::FindTarget(argv[1]);
  const auto source = stowplan::ReadSource(argv[3]);
  if (!target || !source) return 2;
  double read_best = std::numeric_limits<double>::infinity();
  double check_best = read_best;
  stowplan::check::Verdict verdict;
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
    const double middle = CpuSeconds();
    auto checked = stowplan::check::CheckPlan(*module, report, *target);
    check_best = std::min(check_best, CpuSeconds() - middle);
    if (!checked) return 2;
    verdict = *std::move(checked);
  }
  fmt::print(
      "{{\"executed\": {}, \"reads\": {}, \"findings\": {}, \"read_s\": {}, \"check_s\": {}}}\n",
      verdict.instructions, verdict.reads, verdict.findings.size(), read_best, check_best);
  return verdict.is_fine() ? 0 : 1;
}
