// SPDX-License-Identifier: Apache-2.0
// Plans two modules and finds their difference again and again; prints the best CPU times of
// reading both texts and of the difference with its causes, as JSON.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "assign/assignment.h"
#include "cpu_seconds.h"
#include "diff/cause.h"
#include "diff/diff.h"
#include "report/from_assignment.h"
#include "stowplan/session.h"

namespace {

struct Side {
  std::optional<stowplan::hlo::Module> module;
  stowplan::report::Report report;
  double read_s = 0;
};

bool Plan(const stowplan::Target& target, const char* file, Side& side) {
  const auto source = stowplan::ReadSource(file);
  if (!source) return false;
  const double start = CpuSeconds();
  auto module = stowplan::ParseModule(*source);
  side.read_s = CpuSeconds() - start;
  if (!module) return false;
  const stowplan::Rules rules = stowplan::RulesOf(target);
  const auto analysis = stowplan::Analyze(*module, rules.analysis);
  if (!analysis) return false;
  const auto plan = stowplan::Assign(*module, *analysis, rules, std::nullopt);
  if (!plan) return false;
  side.report = stowplan::report::ReportOf(*module, *analysis, *plan,
                                           *stowplan::report::FindReportStyle("jaxlib-0.11.2"));
  side.module = *std::move(module);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  namespace diff = stowplan::diff;
  if (argc != 5) {
    fmt::print(stderr, "usage: stowplan_bench_diff TARGET REPETITIONS A B\n");
    return 2;
  }
  const std::optional<stowplan::Target> target = stowplan::FindTarget(argv[1]);
  if (!target) return 2;
  double read_best = std::numeric_limits<double>::infinity();
  double picture_best = read_best;
  double diff_best = read_best;
  size_t instructions = 0;
  int64_t change = 0;
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    std::array<Side, 2> sides;
    if (!Plan(*target, argv[3], sides[0]) || !Plan(*target, argv[4], sides[1])) return 2;
    read_best = std::min(read_best, sides[0].read_s + sides[1].read_s);
    const double start = CpuSeconds();
    const auto a = stowplan::explain::MakePicture(sides[0].report, &*sides[0].module, target);
    const auto b = stowplan::explain::MakePicture(sides[1].report, &*sides[1].module, target);
    if (!a || !b) return 2;
    const double middle = CpuSeconds();
    const auto found = diff::DiffOf(*a, *b);
    if (!found) return 2;
    int64_t sum = 0;
    for (const diff::Cause& cause : diff::CausesOf(found->spaces[0], found->match, *a, *b))
      sum += cause.bytes;
    picture_best = std::min(picture_best, middle - start);
    diff_best = std::min(diff_best, CpuSeconds() - middle);
    change = found->spaces[0].peak_change();
    if (sum != change) return 1;
    instructions = sides[0].module->instructions.size() + sides[1].module->instructions.size();
  }
  fmt::print(
      "{{\"instructions\": {}, \"change\": {}, \"read_s\": {}, \"picture_s\": {}, \"diff_s\": "
      "{}}}\n",
      instructions, change, read_best, picture_best, diff_best);
}
