// SPDX-License-Identifier: Apache-2.0
#include "session/fit_obstacles.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "fit/find_task.h"
#include "fit/task.h"
#include "order/effects.h"
#include "order/find_problem.h"
#include "session/fit_lines.h"
#include "session/try_module.h"

namespace stowplan {
namespace {

using hlo::Opcode;

// Why a value is in memory at the peak. The first that is true counts.
enum class Keeper : uint8_t {
  kFixed,     // arguments and constants that are there all the time
  kArgument,  // donated ones, until they are overwritten
  kWorking,   // what runs then reads or writes it
  kInner,     // inside of what runs then
  kResult,
  kLoop,
  kAsync,
  kEffect,
  kInPlace,
  kBound,  // tuples, control dependencies, fast memory
  kAgain,
  kPlan,  // nothing is there, but the plan's allocations have no use for it elsewhere
};
struct KeeperWords {
  std::string_view kind;
  std::string_view words;
};
constexpr std::array<KeeperWords, 12> kKeepers = {{
    {"fixed", "arguments and constants that stay"},
    {"argument", "donated arguments"},
    {"working", "what runs then reads and writes"},
    {"inner", "inside of what runs then"},
    {"result", "parts of the result"},
    {"loop", "made by loops, branches and calls"},
    {"async", "made by asynchronous operations"},
    {"effect", "made by what may run only once"},
    {"in-place", "updated in place"},
    {"tied", "tied to other values"},
    {"recomputable", "could be computed again, at a higher cost"},
    {"unused", "left over in the plan"},
}};

class ObstacleFinder {
 public:
  ObstacleFinder(const PlannedModule& planned, const order::Surroundings& around, FitFacts& facts)
      : planned_(planned),
        module_(*planned.module),
        around_(around),
        facts_(facts),
        graph_(order::MakeGraph(module_, module_.entry, around.effects)),
        pure_(fit::FindPure(module_)) {}

  void Find() {
    const std::vector<double> costs(module_.instructions.size(), 1);
    const fit::Task task = fit::FindTask(around_, graph_, costs);
    if (task.size() == 0) return;
    fit::Trace trace;
    fit::FindTrace(task, fit::GivenSequence(task), trace);
    const fit::Node moment = trace.peak_place;
    facts_.fullest = module_.name(graph_.instructions[moment]);
    AddFixed();
    CountBuffers(task);
    std::vector<uint8_t> is_counted(counts_.size(), 0);
    for (const fit::Version& version : trace.versions) {
      const order::Life& life = task.problem.lives[version.life];
      const bool is_there =
          (version.begin == fit::kAtStart || version.begin <= moment) && version.last >= moment;
      if (!is_there || life.is_capped) continue;
      if (std::exchange(is_counted[task.buffers[version.life]], 1) != 0) continue;
      const hlo::InstrId maker =
          life.begin == fit::kNoNode ? hlo::InstrId() : graph_.instructions[life.begin];
      Add(KeeperOf(task, version.life, moment), life.size, maker);
    }
    Add(Keeper::kInner, task.problem.inner[moment], graph_.instructions[moment]);
    Finish();
  }

 private:
  void AddFixed() {
    for (const report::Allocation& allocation : planned_.report->allocations.rows()) {
      const bool is_fixed =
          allocation.is_constant || (allocation.parameter && !allocation.is_maybe_live_out);
      if (allocation.color == 0 && is_fixed && !allocation.is_thread_local)
        Add(Keeper::kFixed, allocation.size, {});
    }
  }

  // Lives that share their bytes.
  void CountBuffers(const fit::Task& task) {
    for (const uint32_t buffer : task.buffers) {
      if (buffer >= counts_.size()) counts_.resize(size_t{buffer} + 1, 0);
      ++counts_[buffer];
    }
  }

  [[nodiscard]] Keeper KeeperOf(const fit::Task& task, uint32_t row, fit::Node moment) const {
    const order::Life& life = task.problem.lives[row];
    const std::span<const uint32_t> touched = task.problem.touched[moment];
    if (std::ranges::find(touched, row) != touched.end()) return Keeper::kWorking;
    if (life.begin == fit::kNoNode) return Keeper::kArgument;
    if (life.lasts) return Keeper::kResult;
    if (task.can_repeat[life.begin] != 0) return Keeper::kAgain;
    const hlo::InstrId id = graph_.instructions[life.begin];
    const Opcode opcode = module_.instructions[id].opcode;
    if (opcode == Opcode::kWhile || opcode == Opcode::kConditional || opcode == Opcode::kCall)
      return Keeper::kLoop;
    if (order::IsStart(opcode) || order::IsDone(opcode)) return Keeper::kAsync;
    if (pure_[id.index] == 0 || around_.effects[id.index] != 0) return Keeper::kEffect;
    return counts_[task.buffers[row]] > 1 ? Keeper::kInPlace : Keeper::kBound;
  }

  void Add(Keeper keeper, int64_t bytes, hlo::InstrId maker) {
    if (bytes <= 0) return;
    FitObstacle& row = rows_[static_cast<size_t>(keeper)];
    row.bytes = SaturatingAdd(row.bytes, bytes);
    ++row.values;
    if (bytes <= row.largest_bytes || maker.is_none()) return;
    row.largest_bytes = bytes;
    row.largest = module_.name(maker);
    FitRepeat origin;
    AddOrigin(module_, maker, origin);
    row.source = std::move(origin.source);
  }

  // The rest of what the plan takes, so that the rows add up to it.
  void AddUnused() {
    int64_t sum = 0;
    for (const FitObstacle& row : rows_) sum = SaturatingAdd(sum, row.bytes);
    Add(Keeper::kPlan, BytesIn(planned_, 0) - sum, {});
  }

  void Finish() {
    AddUnused();
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].values == 0) continue;
      rows_[i].kind = kKeepers[i].kind;
      rows_[i].words = kKeepers[i].words;
      facts_.obstacles.push_back(std::move(rows_[i]));
    }
    std::ranges::stable_sort(facts_.obstacles, std::greater(), &FitObstacle::bytes);
  }

  const PlannedModule& planned_;
  const hlo::Module& module_;
  const order::Surroundings& around_;
  FitFacts& facts_;
  const order::Graph graph_;
  const std::vector<uint8_t> pure_;  // by instruction
  std::vector<uint32_t> counts_;     // by buffer: its lives
  std::array<FitObstacle, kKeepers.size()> rows_;
};

}  // namespace

void AddObstacles(const PlannedModule& planned, const Rules& rules, FitFacts& facts) {
  if (!planned.analysis) return;
  const Result<order::Surroundings> around =
      order::FindSurroundings(*planned.module, *planned.analysis, rules, order::Objective::kAll);
  if (around) ObstacleFinder(planned, *around, facts).Find();
}

}  // namespace stowplan
