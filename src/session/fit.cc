// SPDX-License-Identifier: Apache-2.0
#include "session/fit.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/checked_math.h"
#include "base/stable_sort.h"
#include "check/same_results.h"
#include "cost/machine.h"
#include "cost/work.h"
#include "fit/apply.h"
#include "fit/bound.h"
#include "fit/find_task.h"
#include "fit/loop_points.h"
#include "fit/search.h"
#include "order/find_problem.h"
#include "session/fit_lines.h"
#include "session/fit_obstacles.h"
#include "session/make_plan.h"
#include "session/try_module.h"

namespace stowplan {
namespace {

// Finding the lines of one point takes a pass over the program, so on a long curve only some points
// have them.
constexpr size_t kMostPointsWithLines = 48;

cost::Machine MachineFor(const FitOptions& options, const Target& target) {
  return cost::Chosen({.name = options.machine,
                       .bytes_per_second = options.bytes_per_second,
                       .flops_per_second = options.flops_per_second},
                      target);
}

std::vector<double> CostsOf(const hlo::Module& module, const Target& target,
                            const FitOptions& options) {
  const cost::Machine machine = MachineFor(options, target);
  const bool is_plain = options.model == CostModel::kPlain;
  return cost::FindCosts(module, target, [&](const cost::Work& work) {
    return is_plain ? cost::PlainCost(work, target) : cost::SecondsOf(work, machine);
  });
}

// The cost of the entry computation: the sum over its instructions.
double WholeCostOf(const hlo::Module& module, std::span<const double> costs) {
  double sum = 0;
  for (const hlo::InstrId id : module.schedule_of(module.entry)) sum += costs[id.index];
  return sum;
}

// The given program, and where the rows of a changed one come from.
struct Given {
  std::shared_ptr<const hlo::Module> module;
  std::optional<hlo::Origins> origins = {};  // absent: the program is unchanged
};

class Fitter {
 public:
  Fitter(PlannedModule ordered, const FitOptions& options, Prepared prepared, Given given)
      : ordered_(std::move(ordered)),
        options_(options),
        prepared_(std::move(prepared)),
        given_(std::move(given)) {}

  Result<Fitted> Run(int64_t given_bytes) && {
    FitFacts facts = {.given_bytes = given_bytes, .ordered_bytes = BytesIn(ordered_, 0)};
    facts.bytes = facts.ordered_bytes;
    Fitted fitted = {.planned = ordered_, .facts = {}};
    if (given_.origins) fitted.origins = OriginsOf(*ordered_.module, nullptr);
    facts.curve = {{0, facts.ordered_bytes}};
    const std::vector<double> costs =
        CostsOf(*ordered_.module, prepared_.setting.rules.target, options_);
    SetWork(costs, facts);
    std::optional<Entry> exact;
    if (!given_.origins) {
      STOWPLAN_TRY(exact, EntryBy(Unaligned(prepared_.setting.rules), costs));
      const fit::LoopSlack slack = fit::FindLoopSlack(*ordered_.module);
      SetBound(slack, *exact, facts);
      // The task's costs do not include what loops would save by handing on less.
      if (!slack.loops.empty()) exact.reset();
    }
    if (options_.uses_recompute) {
      STOWPLAN_TRY(const Entry entry, EntryBy(prepared_.setting.rules, costs));
      const fit::Sequence least = Choose(entry.task, entry.graph, fitted, facts);
      if (exact) SetCostBound(exact->task, least, facts);
      if (options_.uses_order && facts.bytes < facts.ordered_bytes) ArrangeAgain(fitted, facts);
    }
    AddObstacles(fitted.planned, prepared_.setting.rules, options_.plan.own, facts);
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
  // The last value of an allocation is not rounded up, so a bound must not rely on alignment.
  static Rules Unaligned(Rules rules) {
    rules.alignment = 1;
    std::ranges::fill(rules.space_alignments, 0);
    return rules;
  }

  void SetWork(std::span<const double> costs, FitFacts& facts) const {
    const Target& target = prepared_.setting.rules.target;
    const std::vector<cost::Work> works = cost::FindWork(*ordered_.module, target);
    for (const hlo::InstrId id : ordered_.module->schedule_of(ordered_.module->entry))
      facts.work += works[id.index];
    if (options_.model != CostModel::kMachine) return;
    facts.machine = MachineFor(options_, target).name;
    facts.seconds = WholeCostOf(*ordered_.module, costs);
  }

  void SetBound(const fit::LoopSlack& slack, Entry& entry, FitFacts& facts) const {
    const bool has_slack = !slack.loops.empty();
    const fit::Bound bound =
        fit::FindBound(entry.task, has_slack ? Loosen(slack, entry) : std::vector<uint8_t>(),
                       options_.plan.should_stop);
    for (const report::Allocation& allocation : ordered_.report->allocations.rows()) {
      // Some constants may be needed only for a stack.
      const bool is_fixed = (allocation.is_constant && !has_slack) ||
                            (allocation.parameter && !allocation.is_maybe_live_out);
      if (allocation.color == 0 && is_fixed && !allocation.is_thread_local)
        facts.bound_fixed = SaturatingAdd(facts.bound_fixed, allocation.size);
    }
    facts.bound = SaturatingAdd(facts.bound_fixed, bound.bytes);
    facts.cost_bound = facts.bound;
    facts.bound_own = bound.own;
    if (bound.witness != fit::kNoNode)
      facts.witness = ordered_.module->name(entry.graph.instructions[bound.witness]);
  }

  // Removes from the task what loops need not hand on. Returns the nodes that may go with it.
  [[nodiscard]] std::vector<uint8_t> Loosen(const fit::LoopSlack& slack, Entry& entry) const {
    const Analysis& analysis = *ordered_.analysis;
    std::vector<uint8_t> is_loose(analysis.buffers.size(), 0);
    for (const auto& [loop, element] : slack.stacks) {
      const PositionId position = analysis.flow.positions.Child(analysis.flow.positions.top(loop),
                                                                static_cast<size_t>(element));
      for (const ValueId value : analysis.flow.at(position))
        is_loose[analysis.buffers.of(value).index] = 1;
    }
    std::vector<uint8_t> is_gone(entry.task.size(), 0);
    for (fit::Node i = 0; i < entry.task.size(); ++i) {
      const hlo::InstrId id = entry.graph.instructions[i];
      is_gone[i] = slack.may_go[id.index];
      // The callee may contain loops.
      if (!ordered_.module->called_by(id).empty()) {
        entry.task.problem.inner[i] = 0;
        entry.task.problem.least_inner[i] = 0;
      }
    }
    for (size_t life = 0; life < entry.task.problem.lives.size(); ++life) {
      order::Life& row = entry.task.problem.lives[life];
      if (is_loose[entry.task.buffers[life]] != 0 ||
          (row.begin != fit::kNoNode && is_gone[row.begin] != 0))
        row.size = 0;
    }
    return is_gone;
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
    // What the plan holds besides the load: arguments that stay, constants, and what packing
    // wastes.
    const int64_t besides = facts.ordered_bytes - curve[0].peak;
    facts.curve.clear();
    for (const fit::Point& point : curve)
      facts.curve.push_back({point.cost / whole, point.peak + besides});
    for (const size_t row : SpreadPoints(facts.curve, kMostPointsWithLines))
      facts.curve[row].lines = LinesOf(RepeatsOf(task, graph, curve[row].sequence, whole));
    check::SameResults results(*ordered_.module);
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
      if (!plan || !results.AreThoseOf(*plan->module)) continue;
      plan->notes = ordered_.notes;
      const int64_t bytes = BytesIn(*plan, 0);
      if (bytes < facts.bytes) {
        facts.bytes = bytes;
        facts.cost = curve[index].cost / whole;
        facts.repeats = RepeatsOf(task, graph, curve[index].sequence, whole);
        chosen.origins = OriginsOf(*plan->module, &applied.origins);
        chosen.planned = *std::move(plan);
      }
      if (!options_.budget) break;
      // Aim lower by as much as the plan is too high.
      aim -= std::max<int64_t>(bytes - *options_.budget, 0);
    }
    return curve.back().sequence;
  }

  // With repetitions, a different order may be best.
  void ArrangeAgain(Fitted& fitted, FitFacts& facts) const {
    PlanOptions options = options_.plan;
    options.scheduler = kBestOrder;
    Result<PlannedModule> arranged = Plan(fitted.planned, options);
    if (!arranged || BytesIn(*arranged, 0) >= facts.bytes) return;
    arranged->notes = ordered_.notes;
    fitted.planned = *std::move(arranged);
    facts.bytes = BytesIn(fitted.planned, 0);
  }

  // `applied` says where the rows of `module` come from; null if `module` is this program's own.
  [[nodiscard]] ProtoOrigins OriginsOf(const hlo::Module& module,
                                       const hlo::Origins* applied) const {
    ProtoOrigins ids;
    if (given_.module->proto_ids.empty()) return ids;
    const hlo::Origins& rows = applied != nullptr ? *applied : *given_.origins;
    const bool is_twice = applied != nullptr && given_.origins.has_value();
    for (size_t i = 0; i < rows.instructions.size(); ++i) {
      hlo::InstrId id = rows.instructions[i];
      if (is_twice) id = given_.origins->instructions[id.index];
      ids.instructions.push_back(given_.module->proto_ids[id.index]);
      if (given_.origins) ids.is_changed.push_back(IsChanged(module, hlo::InstrId(i), id));
    }
    for (hlo::CompId id : rows.computations) {
      if (is_twice) id = given_.origins->computations[id.index];
      ids.computations.push_back(given_.module->computations[id].proto_id);
    }
    return ids;
  }

  [[nodiscard]] uint8_t IsChanged(const hlo::Module& module, hlo::InstrId id,
                                  hlo::InstrId origin) const {
    const auto count = [](const hlo::Module& of, hlo::InstrId row) {
      return std::ranges::count_if(of.attributes_of(row), [](const hlo::Attribute& attribute) {
        return attribute.key != hlo::AttributeKey::kControlPredecessors;
      });
    };
    return static_cast<uint8_t>(module.instructions[id].shape !=
                                    given_.module->instructions[origin].shape ||
                                count(module, id) != count(*given_.module, origin));
  }

  [[nodiscard]] std::vector<FitRepeat> RepeatsOf(const fit::Task& task, const order::Graph& graph,
                                                 const fit::Sequence& sequence,
                                                 double whole) const {
    std::vector<FitRepeat> repeats;
    std::vector<uint8_t> is_done(task.size(), 0);
    std::map<fit::Node, size_t> rows;
    const std::vector<int64_t> freed = FreedBytes(task, sequence);
    for (const fit::Node node : sequence) {
      if (is_done[node] == 0) {
        is_done[node] = 1;
        continue;
      }
      const auto [row, is_new] = rows.emplace(node, repeats.size());
      if (is_new) {
        repeats.push_back(RepeatOf(task, node, graph.instructions[node]));
        repeats.back().freed = freed[node];
      }
      ++repeats[row->second].times;
      repeats[row->second].cost += task.costs[node] / whole;
    }
    return repeats;
  }

  [[nodiscard]] FitRepeat RepeatOf(const fit::Task& task, fit::Node node, hlo::InstrId id) const {
    FitRepeat repeat = {.instruction = std::string(ordered_.module->name(id))};
    AddOrigin(*ordered_.module, id, options_.plan.own, repeat);
    for (const uint32_t life : task.makes[node]) repeat.bytes += task.problem.lives[life].size;
    return repeat;
  }

  const PlannedModule ordered_;
  const FitOptions& options_;
  const Prepared prepared_;
  const Given given_;
};

// Tries programs whose loops hand on less, and fits each of them like any other program.
class LoopFitter {
 public:
  LoopFitter(const PlannedModule& ordered, const FitOptions& options, const PlanOptions& wanted,
             const Prepared& prepared)
      : ordered_(ordered),
        options_(options),
        wanted_(wanted),
        prepared_(prepared),
        costs_(CostsOf(*ordered.module, target(), options)),
        whole_(WholeCostOf(*ordered.module, costs_)) {}

  // Updates `best` if one of them is better.
  void Run(Fitted& best) const {
    if (whole_ <= 0) return;
    check::SameResults results(*ordered_.module);
    const auto accepts = [&](const std::shared_ptr<const hlo::Module>& module) {
      return results.AreThoseOf(*module) &&
             TryModule(module, prepared_.setting, ordered_, options_.plan).has_value();
    };
    for (const fit::LoopPoint& point : fit::FindLoopPoints(*ordered_.module, target(), accepts)) {
      if (options_.plan.should_stop && options_.plan.should_stop()) return;
      if (!results.AreThoseOf(*point.module)) continue;
      if (std::optional<Fitted> fitted = Try(point, best.facts)) Merge(*std::move(fitted), best);
    }
  }

 private:
  [[nodiscard]] const Target& target() const { return prepared_.setting.rules.target; }

  [[nodiscard]] std::optional<Fitted> Try(const fit::LoopPoint& point,
                                          const FitFacts& facts) const {
    const double whole = WholeCostOf(*point.module, CostsOf(*point.module, target(), options_));
    const double more = std::max(whole / whole_ - 1, 0.0);
    if (more > options_.max_cost || whole <= 0) return std::nullopt;
    std::optional<PlannedModule> plan =
        TryModule(point.module, prepared_.setting, ordered_, options_.plan);
    if (!plan) return std::nullopt;
    // Fast memory is scarce.
    const int64_t fast = prepared_.setting.rules.preset_space;
    if (fast >= 0 && BytesIn(*plan, fast) > BytesIn(ordered_, fast)) return std::nullopt;
    if (options_.uses_order) {
      Result<PlannedModule> arranged = Plan(*plan, wanted_);
      if (arranged && BytesIn(*arranged, 0) < BytesIn(*plan, 0)) plan = *std::move(arranged);
    }
    plan->notes = ordered_.notes;
    const double unit = whole / whole_;
    FitOptions own = options_;
    own.max_cost = (options_.max_cost - more) / unit;
    if (options_.on_point) {
      own.on_point = [&, unit, more](double cost, int64_t bytes) {
        options_.on_point(more + cost * unit, bytes);
      };
    }
    Result<Prepared> prepared = Prepare(*plan, own.plan);
    if (!prepared) return std::nullopt;
    Result<Fitted> fitted =
        Fitter(*std::move(plan), own, *std::move(prepared), {ordered_.module, point.origins})
            .Run(facts.given_bytes);
    if (!fitted) return std::nullopt;
    fitted->facts.cost = more + fitted->facts.cost * unit;
    std::vector<FitRepeat> repeats = RepeatsOf(point);
    const std::vector<FitLine> lines = LinesOf(repeats);
    for (FitPoint& row : fitted->facts.curve) {
      row.cost = more + row.cost * unit;
      if (row.lines) row.lines = WithMore(lines, *std::move(row.lines), unit);
    }
    for (FitRepeat& repeat : fitted->facts.repeats) repeat.cost *= unit;
    std::ranges::move(fitted->facts.repeats, std::back_inserter(repeats));
    fitted->facts.repeats = std::move(repeats);
    return *std::move(fitted);
  }

  [[nodiscard]] std::vector<FitRepeat> RepeatsOf(const fit::LoopPoint& point) const {
    std::vector<FitRepeat> repeats;
    const hlo::Module& module = *ordered_.module;
    for (const fit::LoopPoint::Again& again : point.again) {
      FitRepeat repeat = {
          .instruction = std::string(module.name(again.id)),
          .times = again.trips,
          .bytes = again.bytes,
          .cost = costs_[again.id.index] * static_cast<double>(again.trips) / whole_};
      repeat.freed = again.stacked;
      repeat.is_in_loop = true;
      AddOrigin(module, again.id, options_.plan.own, repeat);
      repeats.push_back(std::move(repeat));
    }
    return repeats;
  }

  // Prefers what fits into the budget, at the least cost; if neither fits, the least memory.
  [[nodiscard]] bool IsBetter(const FitFacts& a, const FitFacts& b) const {
    const int64_t budget = options_.budget.value_or(0);
    const bool fits = a.bytes <= budget;
    if (fits != (b.bytes <= budget)) return fits;
    if (fits) return std::pair(a.cost, a.bytes) < std::pair(b.cost, b.bytes);
    return std::pair(a.bytes, a.cost) < std::pair(b.bytes, b.cost);
  }
  void Merge(Fitted fitted, Fitted& best) const {
    std::vector<FitPoint> points = best.facts.curve;
    std::ranges::copy(fitted.facts.curve, std::back_inserter(points));
    StableSort(points, {}, [](const FitPoint& p) { return std::pair(p.cost, p.bytes); });
    std::vector<FitPoint> curve;
    for (const FitPoint& point : points) {
      if (curve.empty() || point.bytes < curve.back().bytes) curve.push_back(point);
    }
    if (IsBetter(fitted.facts, best.facts)) {
      FitFacts facts = std::move(best.facts);
      facts.bytes = fitted.facts.bytes;
      facts.cost = fitted.facts.cost;
      facts.repeats = std::move(fitted.facts.repeats);
      facts.fullest = std::move(fitted.facts.fullest);
      facts.obstacles = std::move(fitted.facts.obstacles);
      best = std::move(fitted);
      best.facts = std::move(facts);
    }
    best.facts.curve = std::move(curve);
  }

  const PlannedModule& ordered_;
  const FitOptions& options_;
  const PlanOptions& wanted_;
  const Prepared& prepared_;
  const std::vector<double> costs_;  // by instruction
  const double whole_;
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
  STOWPLAN_TRY(Fitted fitted, Fitter(ordered, own, prepared, {ordered.module}).Run(given_bytes));
  const bool fits = options.budget && fitted.facts.bytes <= *options.budget;
  if (options.uses_recompute && !(fits && fitted.facts.cost == 0))
    LoopFitter(ordered, own, wanted, prepared).Run(fitted);
  return fitted;
}

}  // namespace stowplan
