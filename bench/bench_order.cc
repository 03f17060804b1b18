// SPDX-License-Identifier: Apache-2.0
// The order of least memory of one module, as a line of JSON: temporaries in its own order, in the
// best order and in those of simpler rules (if they keep effects and overlap), all planned by
// policy `best` and checked; loads and their bound; and the time of the search.
//
//     stowplan_bench_order TARGET RELEASE MODULE [search] [least=BYTES] [preset=REPORT]
//
// `problems` in place of all that: made-up problems on plain numbers, a line for each.
// search: nothing is planned. least: what has smaller temporaries is not searched.
// Exit codes: 0; 1 an order could not be planned; 2 usage; 3 the module has no plan to begin with.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "assign/rules.h"
#include "cpu_seconds.h"
#include "live/analysis.h"
#include "order/find_problem.h"
#include "order/reorder.h"
#include "order/solve.h"
#include "schedule/make_schedule.h"
#include "stowplan/session.h"
#include "unit/order/made_problems.h"

namespace {

using namespace stowplan;

// Of the space 0, without what holds arguments and results; negative: there is no sound plan.
int64_t Temporaries(const Result<PlannedModule>& planned) {
  if (!planned || planned->verdict.soundness != Soundness::kSound) return -1;
  int64_t sum = 0;
  for (const report::Allocation& allocation : planned->report->allocations.rows()) {
    if (allocation.color == 0 && allocation.is_temp()) sum += allocation.size;
  }
  return sum;
}

// Whether more is in use inside some loop than anywhere outside of all loops.
Result<bool> IsPeakInLoop(const hlo::Module& module, const Analysis& analysis, const Rules& rules) {
  STOWPLAN_TRY(const order::Surroundings around,
               order::FindSurroundings(module, analysis, rules, order::Objective::kAll));
  std::vector<int64_t> outside = around.loads;
  for (size_t c = 0; c < module.computations.size(); ++c) {
    for (const hlo::InstrId id : module.schedule_of(hlo::CompId(c))) {
      if (module.instructions[id].opcode != hlo::Opcode::kWhile) continue;
      for (const hlo::CompId callee : module.called_by(id)) {
        const Schedule::Span span = analysis.schedule.spans[callee.index];
        if (span.start == kNoTime) continue;
        std::fill(outside.begin() + span.start, outside.begin() + span.end, 0);
      }
    }
  }
  return std::ranges::max(around.loads) > std::ranges::max(outside);
}

struct Search {
  double seconds = 0;
  order::ReorderedComputation entry;        // by Objective::kAll
  order::ReorderedComputation temporaries;  // by Objective::kTemporaries
  bool is_changed_inside = false;           // a computation that is not the entry
};
Result<Search> MeasureSearch(const hlo::Module& module, const Rules& rules) {
  Search search;
  const double start = CpuSeconds();
  for (const order::Objective objective : order::kObjectives) {
    STOWPLAN_TRY(const order::Reordered reordered,
                 order::Reorder(module, rules,
                                {.overlap_loss = 0, .objective = objective, .should_stop = {}}));
    (objective == order::Objective::kAll ? search.entry : search.temporaries) =
        reordered.computations.back();
    for (const order::ReorderedComputation& one : reordered.computations)
      search.is_changed_inside |= one.is_changed() && one.computation != module.entry;
  }
  search.seconds = CpuSeconds() - start;
  return search;
}

// By key of the line: the order that is planned.
constexpr std::pair<std::string_view, std::string_view> kSchedulers[] = {
    {"post_order", "post-order"}, {"depth_first", "depth-first"}, {"list", "list"}};

struct Wanted {
  PlanOptions options;
  bool is_search_alone = false;
  int64_t least = 0;  // programs with smaller temporaries are not searched
};

// `has_plan`: whether the module could be read and planned in its own order.
Result<std::string> Measure(const std::string& file, const Wanted& wanted, bool& has_plan) {
  STOWPLAN_TRY(hlo::Module module, ReadModule(file));
  PlanOptions options = wanted.options;
  options.policy = Policy::kBest;
  const Rules rules = RulesOf(*FindTarget(options.target), options.release);
  if (rules.preset_space < 0) {
    module.buffer_assignment = {};
    options.preset.clear();
  }
  size_t scheduled = 0;
  for (size_t c = 0; c < module.computations.size(); ++c)
    scheduled += module.schedule_of(hlo::CompId(c)).size();
  std::string line = fmt::format(R"({{"instructions": {})", scheduled);
  if (!wanted.is_search_alone) {
    STOWPLAN_TRY(const PlannedModule given, Plan(module, options));
    line += fmt::format(R"(, "given": {})", Temporaries(given));
    if (Temporaries(given) < wanted.least) return line + "}";
  }
  has_plan = true;
  STOWPLAN_TRY(const Search search, MeasureSearch(module, rules));
  line +=
      fmt::format(R"(, "search_s": {:.6f}, "given_load": {}, "load": {}, "bound": {})",
                  search.seconds, search.entry.given_peak, search.entry.peak, search.entry.bound);
  line += fmt::format(R"(, "temporaries_load": {}, "temporaries_bound": {})",
                      search.temporaries.peak, search.temporaries.bound);
  if (wanted.is_search_alone) return line + "}";
  STOWPLAN_TRY(const Analysis analysis, Analyze(module, rules.analysis));
  STOWPLAN_TRY(const bool is_in_loop, IsPeakInLoop(module, analysis, rules));
  line += fmt::format(R"(, "is_peak_in_loop": {}, "is_loop_changed": {})", is_in_loop,
                      search.is_changed_inside);
  for (const auto& [key, scheduler] : kSchedulers) {
    PlanOptions other = options;
    other.preset.clear();
    other.scheduler = scheduler;
    const bool is_allowed = order::KeepsWhatIsKept(
        module, WithSchedule(module, *FindScheduler(scheduler), rules.target));
    line += fmt::format(R"(, "{}": {})", key, is_allowed ? Temporaries(Plan(module, other)) : -1);
  }
  options.scheduler = "best";
  STOWPLAN_TRY(const PlannedModule best, Plan(module, options));
  line +=
      fmt::format(R"(, "best": {}, "total": {}, "given_total": {}, "best_load": {})",
                  Temporaries(best), best.order->bytes, best.order->given_bytes, best.order->load);
  return line + "}";
}

// A line for each shape and size.
void MeasureProblems(std::span<const uint32_t> sizes, std::string_view only) {
  for (const uint32_t nodes : sizes) {
    for (const order::Shape shape : order::kShapes) {
      const std::string_view name = order::kShapeNames[static_cast<size_t>(shape)];
      // Each node has 300 edges.
      if (shape == order::Shape::kBipartite && nodes > 100'000) continue;
      if (!name.starts_with(only)) continue;
      const order::Problem problem = order::MadeProblem(shape, nodes);
      const double start = CpuSeconds();
      const order::Answer answer = order::Solve(problem);
      fmt::print(
          R"({{"problem": "{}", "nodes": {}, "search_s": {:.6f}, "given_load": {}, "load": {}, )"
          R"("bound": {}, "is_sound": {}}})"
          "\n",
          name, problem.size(), CpuSeconds() - start, answer.given_peak, answer.peak, answer.bound,
          order::IsPossible(problem, answer.order) && answer.bound <= answer.peak);
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 2 && std::string_view(argv[1]) == "problems") {
    constexpr uint32_t kSizes[] = {10'000, 100'000, 1'000'000};
    const uint32_t size = argc > 2 ? static_cast<uint32_t>(std::atoll(argv[2])) : 0;
    MeasureProblems(size > 0 ? std::span(&size, 1) : std::span(kSizes), argc > 3 ? argv[3] : "");
    return 0;
  }
  if (argc < 4) {
    fmt::print(stderr,
               "usage: stowplan_bench_order problems [NODES [SHAPE]]\n"
               "       stowplan_bench_order TARGET RELEASE MODULE [search] [least=BYTES] "
               "[preset=REPORT]\n");
    return 2;
  }
  Wanted wanted;
  wanted.options.target = argv[1];
  wanted.options.release = argv[2];
  for (int k = 4; k < argc; ++k) {
    const std::string_view argument = argv[k];
    if (argument == "search") wanted.is_search_alone = true;
    if (argument.starts_with("least=")) wanted.least = std::atoll(argv[k] + 6);
    if (argument.starts_with("preset=")) wanted.options.preset = argument.substr(7);
  }
  bool has_plan = false;
  const Result<std::string> line = Measure(argv[3], wanted, has_plan);
  if (!line) {
    fmt::print(stderr, "{}", Render(line.error()));
    return has_plan ? 1 : 3;
  }
  fmt::print("{}\n", *line);
  return 0;
}
