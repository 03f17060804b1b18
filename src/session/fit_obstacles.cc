// SPDX-License-Identifier: Apache-2.0
#include "session/fit_obstacles.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "base/stable_sort.h"
#include "fit/find_task.h"
#include "fit/task.h"
#include "order/effects.h"
#include "order/find_problem.h"
#include "report/peak.h"
#include "session/fit_lines.h"
#include "session/try_module.h"

namespace stowplan {
namespace {

using hlo::Opcode;

// Why a value is in memory at the peak. The first reason that applies counts.
enum class Keeper : uint8_t {
  kFixed,     // arguments and constants, in memory all the time
  kArgument,  // donated arguments, until they are overwritten
  kWorking,   // the instruction at the peak reads or writes it
  kInner,     // inside the instruction at the peak
  kResult,
  kLoop,
  kAsync,
  kEffect,
  kInPlace,
  kBound,  // tuples, control dependencies, fast memory
  kAgain,
  kPlan,  // unused at the peak: the plan needs these bytes at other times
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
  ObstacleFinder(const PlannedModule& planned, const order::Surroundings& around,
                 const OwnCode& own, FitFacts& facts)
      : planned_(planned),
        module_(*planned.module),
        around_(around),
        own_(own),
        facts_(facts),
        graph_(order::MakeGraph(module_, module_.entry, around.effects)),
        pure_(fit::FindPure(module_)),
        nodes_(module_.instructions.size(), fit::kNoNode) {
    for (size_t node = 0; node < graph_.instructions.size(); ++node)
      nodes_[graph_.instructions[node].index] = static_cast<fit::Node>(node);
  }

  // `time` is the time of the plan's peak.
  void Find(int64_t time) {
    const std::vector<double> costs(module_.instructions.size(), 1);
    const fit::Task task = fit::FindTask(around_, graph_, costs);
    const fit::Node moment = NodeAt(time);
    if (moment == fit::kNoNode) return;
    facts_.fullest = module_.name(graph_.instructions[moment]);
    for (const report::Allocation& allocation : planned_.report->allocations.rows()) {
      if (allocation.color == 0 && IsFixed(allocation) && !allocation.is_thread_local)
        Add(Keeper::kFixed, allocation.size, {});
    }
    CountBuffers(task);
    is_touched_.assign(task.size(), 0);
    is_touched_[moment] = 1;
    for (const uint32_t life : task.problem.touched[moment]) {
      if (const fit::Node maker = task.problem.lives[life].begin; maker != fit::kNoNode)
        is_touched_[maker] = 1;
    }
    std::unordered_map<std::string_view, hlo::InstrId> names;
    for (uint32_t i = 0; i < module_.instructions.size(); ++i)
      names.emplace(module_.name(hlo::InstrId(i)), hlo::InstrId(i));
    for (const report::LiveValue& live : report::LiveValuesAt(*planned_.report, time)) {
      const report::Value& value = planned_.report->values[live.value];
      const report::Allocation& allocation = planned_.report->allocations[value.allocation];
      if (allocation.color != 0 || IsFixed(allocation)) continue;
      const auto named = names.find(value.instruction);
      const hlo::InstrId maker = named == names.end() ? hlo::InstrId() : named->second;
      Add(KeeperOf(task, value, maker), live.bytes, maker);
    }
    Finish();
  }

 private:
  // Whether it is in use all the time.
  static bool IsFixed(const report::Allocation& allocation) {
    return allocation.is_constant || (allocation.parameter && !allocation.is_maybe_live_out);
  }

  // The node of the entry computation that runs at `time`. Loop bodies and branches come before the
  // instruction that calls them.
  [[nodiscard]] fit::Node NodeAt(int64_t time) const {
    const std::vector<hlo::InstrId>& sequence = planned_.analysis->schedule.sequence;
    for (auto at = static_cast<size_t>(std::max<int64_t>(time, 0)); at < sequence.size(); ++at) {
      if (nodes_[sequence[at].index] != fit::kNoNode) return nodes_[sequence[at].index];
    }
    return fit::kNoNode;
  }

  // Counts the lives of each buffer: those share their bytes.
  void CountBuffers(const fit::Task& task) {
    for (const uint32_t buffer : task.buffers) {
      if (buffer >= counts_.size()) counts_.resize(size_t{buffer} + 1, 0);
      ++counts_[buffer];
    }
  }

  [[nodiscard]] Keeper KeeperOf(const fit::Task& task, const report::Value& value,
                                hlo::InstrId maker) const {
    if (maker.is_none()) return Keeper::kBound;
    const Opcode opcode = module_.instructions[maker].opcode;
    const fit::Node node = nodes_[maker.index];
    if (node == fit::kNoNode)
      return module_.instructions[maker].parent == module_.entry ? Keeper::kArgument
                                                                 : Keeper::kInner;
    if (is_touched_[node] != 0) return Keeper::kWorking;
    if (opcode == Opcode::kParameter) return Keeper::kArgument;
    if (value.end + 1 >= planned_.analysis->schedule.end()) return Keeper::kResult;
    if (task.can_repeat[node] != 0) return Keeper::kAgain;
    if (opcode == Opcode::kWhile || opcode == Opcode::kConditional || opcode == Opcode::kCall)
      return Keeper::kLoop;
    if (order::IsStart(opcode) || order::IsDone(opcode)) return Keeper::kAsync;
    if (pure_[maker.index] == 0 || around_.effects[maker.index] != 0) return Keeper::kEffect;
    const bool is_shared = std::ranges::any_of(
        task.makes[node], [&](uint32_t life) { return counts_[task.buffers[life]] > 1; });
    return is_shared ? Keeper::kInPlace : Keeper::kBound;
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
    AddOrigin(module_, maker, own_, origin);
    row.source = std::move(origin.source);
  }

  // Adds the rest of the plan's bytes, so that the rows add up to its size.
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
    StableSort(facts_.obstacles, std::greater(), &FitObstacle::bytes);
  }

  const PlannedModule& planned_;
  const hlo::Module& module_;
  const order::Surroundings& around_;
  const OwnCode& own_;
  FitFacts& facts_;
  const order::Graph graph_;
  const std::vector<uint8_t> pure_;  // by instruction
  std::vector<fit::Node> nodes_;     // by instruction
  std::vector<uint32_t> counts_;     // by buffer: its lives
  std::vector<uint8_t> is_touched_;  // by node: what runs at the peak reads or writes its results
  std::array<FitObstacle, kKeepers.size()> rows_;
};

}  // namespace

void AddObstacles(const PlannedModule& planned, const Rules& rules, const OwnCode& own,
                  FitFacts& facts) {
  if (!planned.analysis) return;
  const Result<order::Surroundings> around =
      order::FindSurroundings(*planned.module, *planned.analysis, rules, order::Objective::kAll);
  if (!around || !report::HasPeak(*planned.report)) return;
  const Result<report::TruePeak> peak = report::ComputeTruePeak(*planned.report);
  if (!peak) return;
  const auto space = std::ranges::find(peak->spaces, 0, &report::SpacePeak::color);
  if (space == peak->spaces.end()) return;
  ObstacleFinder(planned, *around, own, facts).Find(space->peak.time);
}

}  // namespace stowplan
