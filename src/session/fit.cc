// SPDX-License-Identifier: Apache-2.0
#include "session/fit.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/checked_math.h"
#include "cost/machine.h"
#include "cost/work.h"
#include "fit/apply.h"
#include "fit/bound.h"
#include "fit/find_task.h"
#include "fit/search.h"
#include "hlo/source_line.h"
#include "order/find_problem.h"
#include "report/summary.h"
#include "session/make_plan.h"
#include "session/try_module.h"

namespace stowplan {
namespace {

std::vector<double> CostsOf(const hlo::Module& module, const Target& target, CostModel model) {
  const cost::Machine machine = cost::MachineOf(target);
  std::vector<double> costs;
  for (const cost::Work& work : cost::FindWork(module, target)) {
    costs.push_back(model == CostModel::kPlain ? cost::PlainCost(work, target)
                                               : cost::SecondsOf(work, machine));
  }
  return costs;
}

class Fitter {
 public:
  Fitter(PlannedModule ordered, const FitOptions& options, Prepared prepared)
      : ordered_(std::move(ordered)), options_(options), prepared_(std::move(prepared)) {}

  Result<Fitted> Run(int64_t given_bytes) && {
    FitFacts facts = {.given_bytes = given_bytes, .ordered_bytes = BytesIn(ordered_, 0)};
    facts.bytes = facts.ordered_bytes;
    Fitted fitted = {.planned = ordered_, .facts = {}};
    facts.curve = {{0, facts.ordered_bytes}};
    if (options_.uses_recompute) {
      const std::vector<double> costs =
          CostsOf(*ordered_.module, prepared_.setting.rules.target, options_.model);
      STOWPLAN_TRY(const Entry entry, EntryBy(prepared_.setting.rules, costs));
      STOWPLAN_TRY(const Entry exact, EntryBy(Unaligned(prepared_.setting.rules), costs));
      SetBound(exact, facts);
      const fit::Sequence least = Choose(entry.task, entry.graph, fitted, facts);
      SetCostBound(exact.task, least, facts);
      if (options_.uses_order && facts.bytes < facts.ordered_bytes) ArrangeAgain(fitted, facts);
    }
    fitted.facts = std::move(facts);
    return fitted;
  }

 private:
  // The entry computation as a task.
  struct Entry {
    order::Graph graph;
    fit::Task task;
  };
  [[nodiscard]] Result<Entry> EntryBy(const Rules& rules, std::span<const double> costs) const {
    STOWPLAN_TRY(const order::Surroundings around,
                 order::FindSurroundings(*ordered_.module, *ordered_.analysis, rules,
                                         order::Objective::kAll));
    Entry entry;
    entry.graph = order::MakeGraph(*ordered_.module, ordered_.module->entry, around.effects);
    entry.task = fit::FindTask(around, entry.graph, costs);
    return entry;
  }
  // What is last in an allocation is not rounded up, so a bound may not count on it.
  static Rules Unaligned(Rules rules) {
    rules.alignment = 1;
    std::ranges::fill(rules.space_alignments, 0);
    return rules;
  }

  void SetBound(const Entry& entry, FitFacts& facts) const {
    const fit::Bound bound = fit::FindBound(entry.task, options_.plan.should_stop);
    for (const report::Allocation& allocation : ordered_.report->allocations.rows()) {
      const bool is_fixed =
          allocation.is_constant || (allocation.parameter && !allocation.is_maybe_live_out);
      if (allocation.color == 0 && is_fixed && !allocation.is_thread_local)
        facts.bound_fixed = SaturatingAdd(facts.bound_fixed, allocation.size);
    }
    facts.bound = SaturatingAdd(facts.bound_fixed, bound.bytes);
    facts.bound_own = bound.own;
    if (bound.witness != fit::kNoNode)
      facts.witness = ordered_.module->name(entry.graph.instructions[bound.witness]);
  }

  void SetCostBound(const fit::Task& task, const fit::Sequence& least, FitFacts& facts) const {
    const fit::Bound bound = fit::FindBoundAt(task, least, options_.max_cost * fit::WholeCost(task),
                                              options_.plan.should_stop);
    facts.cost_bound = std::max(facts.bound, SaturatingAdd(facts.bound_fixed, bound.bytes));
  }

  // Returns the sequence of least memory.
  fit::Sequence Choose(const fit::Task& task, const order::Graph& graph, Fitted& chosen,
                       FitFacts& facts) const {
    const double whole = fit::WholeCost(task);
    if (whole <= 0) return fit::GivenSequence(task);
    const int64_t given_peak = fit::FindPeak(task, fit::GivenSequence(task));
    fit::SearchOptions search = {.most_cost = options_.max_cost * whole,
                                 .least_peak = 0,
                                 .should_stop = options_.plan.should_stop};
    if (options_.on_point) {
      search.on_point = [&](double cost, int64_t peak) {
        options_.on_point(cost / whole, facts.ordered_bytes - given_peak + peak);
      };
    }
    const fit::Curve curve = fit::Search(task, search);
    // What the plan has besides the load: arguments that stay, constants, and what cannot be
    // packed.
    const int64_t besides = facts.ordered_bytes - curve[0].peak;
    facts.curve.clear();
    for (const fit::Point& point : curve)
      facts.curve.push_back({point.cost / whole, point.peak + besides});
    int64_t aim = options_.budget.value_or(0);
    constexpr int kTries = 6;
    size_t last = 0;
    for (int k = 0; k < kTries && facts.bytes > options_.budget.value_or(0); ++k) {
      size_t index = 0;
      while (index + 1 < curve.size() && facts.curve[index].bytes > aim) ++index;
      if (k > 0 && index <= last) index = last + 1;
      if (index == 0 || index >= curve.size()) break;
      last = index;
      fit::Applied applied = fit::Apply(*ordered_.module, graph, curve[index].sequence);
      std::optional<PlannedModule> plan =
          TryModule(std::make_shared<const hlo::Module>(std::move(applied.module)),
                    prepared_.setting, ordered_, options_.plan);
      if (!plan) continue;
      plan->notes = ordered_.notes;
      const int64_t bytes = BytesIn(*plan, 0);
      if (bytes < facts.bytes) {
        facts.bytes = bytes;
        facts.cost = curve[index].cost / whole;
        facts.repeats = RepeatsOf(task, graph, curve[index].sequence, whole);
        chosen.planned = *std::move(plan);
        chosen.origins = OriginsOf(applied.origins);
      }
      if (!options_.budget) break;
      // As much lower as the plan is too high.
      aim -= std::max<int64_t>(bytes - *options_.budget, 0);
    }
    return curve.back().sequence;
  }

  // What is best for less memory may run in yet another order.
  void ArrangeAgain(Fitted& fitted, FitFacts& facts) const {
    PlanOptions options = options_.plan;
    options.scheduler = kBestOrder;
    Result<PlannedModule> arranged = Plan(fitted.planned, options);
    if (!arranged || BytesIn(*arranged, 0) >= facts.bytes) return;
    arranged->notes = ordered_.notes;
    fitted.planned = *std::move(arranged);
    facts.bytes = BytesIn(fitted.planned, 0);
  }

  [[nodiscard]] ProtoOrigins OriginsOf(const hlo::Origins& origins) const {
    ProtoOrigins ids;
    if (ordered_.module->proto_ids.empty()) return ids;
    for (const hlo::InstrId id : origins.instructions)
      ids.instructions.push_back(ordered_.module->proto_ids[id.index]);
    for (const hlo::CompId id : origins.computations)
      ids.computations.push_back(ordered_.module->computations[id].proto_id);
    return ids;
  }

  [[nodiscard]] std::vector<FitRepeat> RepeatsOf(const fit::Task& task, const order::Graph& graph,
                                                 const fit::Sequence& sequence,
                                                 double whole) const {
    std::vector<FitRepeat> repeats;
    std::vector<uint8_t> is_done(task.size(), 0);
    std::map<fit::Node, size_t> rows;
    for (const fit::Node node : sequence) {
      if (is_done[node] == 0) {
        is_done[node] = 1;
        continue;
      }
      const auto [row, is_new] = rows.emplace(node, repeats.size());
      if (is_new) repeats.push_back(RepeatOf(task, node, graph.instructions[node]));
      ++repeats[row->second].times;
      repeats[row->second].cost += task.costs[node] / whole;
    }
    return repeats;
  }

  [[nodiscard]] FitRepeat RepeatOf(const fit::Task& task, fit::Node node, hlo::InstrId id) const {
    const hlo::Module& module = *ordered_.module;
    FitRepeat repeat = {.instruction = std::string(module.name(id))};
    if (const hlo::Metadata* metadata = report::MetadataOf(module, id)) {
      repeat.source = hlo::SourceLine(module, *metadata);
      repeat.op_name = module.view(metadata->op_name);
    }
    for (const uint32_t life : task.makes[node]) repeat.bytes += task.problem.lives[life].size;
    return repeat;
  }

  const PlannedModule ordered_;
  const FitOptions& options_;
  const Prepared prepared_;
};

}  // namespace

Result<Fitted> Fit(const PlannedModule& planned, const FitOptions& options) {
  PlanOptions wanted = options.plan;
  wanted.policy = Policy::kBest;
  wanted.scheduler = options.uses_order ? std::string(kBestOrder) : std::string();
  STOWPLAN_TRY(PlannedModule ordered, Plan(planned, wanted));
  const int64_t given_bytes = ordered.order ? ordered.order->given_bytes : BytesIn(ordered, 0);
  PlanOptions in_order = wanted;
  in_order.scheduler.clear();
  STOWPLAN_TRY(Prepared prepared, Prepare(ordered, in_order));
  FitOptions own = options;
  own.plan = in_order;
  return Fitter(std::move(ordered), own, std::move(prepared)).Run(given_bytes);
}

}  // namespace stowplan
