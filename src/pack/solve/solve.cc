// SPDX-License-Identifier: Apache-2.0
#include "pack/solve/solve.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "pack/problem/loads.h"
#include "pack/solve/align.h"
#include "pack/solve/part.h"
#include "pack/solve/pools.h"
#include "pack/solve/race.h"
#include "pack/solve/reduce.h"
#include "pack/solve/witness.h"

namespace stowplan::pack {
namespace {

struct NamedSolver {
  std::string_view name;
  Solver solve;
};
// In the order in which they are tried.
constexpr NamedSolver kSolvers[] = {
    {"hints", SolveByHints},      //
    {"blocks", SolveByBlocks},    //
    {"valleys", SolveByValleys},  //
    {"fit", SolveByFit},          //
    {"pairs", SolveByPairs},      //
    {"proof", SolveByProof},      //
    {"search", SolveBySearch},
};

// One item above the other, and all above what is pinned: high, but a plan.
std::vector<int64_t> StackUp(const Core& core) {
  std::vector<int64_t> offsets(core.items.size(), 0);
  int64_t top = 0;
  for (uint32_t i = 0; i < core.items.size(); ++i) {
    if (core.is_pinned(i)) top = std::max(top, core.pins[i] + core.items[i].size);
  }
  for (uint32_t i = 0; i < core.items.size(); ++i) {
    offsets[i] = core.is_pinned(i) ? core.pins[i] : AlignUp(top, core.items[i].alignment);
    top = std::max(top, offsets[i] + core.items[i].size);
  }
  return offsets;
}

struct FirstBound {
  int64_t bytes = 0;
  std::vector<uint32_t> witness;  // where it takes more than adding up: who needs as much
};

// What no plan gets below: the room that a moment needs, less what the highest item then alive does
// not use of its own; and the ends of what is pinned.
FirstBound FirstBoundOf(const Core& core) {
  FirstBound bound;
  const std::vector<int64_t> loads = LoadsOf(core);
  const int64_t load = loads.empty() ? 0 : std::ranges::max(loads);
  bound.bytes = load - core.rounding;
  if (core.rounding > 0) {
    // Of the fullest moments, a few are enough.
    int looks = 64;
    for (int32_t slot = 0; slot < core.slot_count && looks > 0; ++slot) {
      if (loads[static_cast<size_t>(slot)] != load) continue;
      --looks;
      std::vector<uint32_t> items = ItemsIn(core, slot, slot + 1);
      int64_t unused = 0;
      for (const uint32_t i : items)
        unused = std::max(unused, core.items[i].room - core.items[i].size);
      if (load - unused < bound.bytes || (load - unused == bound.bytes && !bound.witness.empty()))
        continue;
      bound = {.bytes = load - unused, .witness = std::move(items)};
    }
  }
  for (uint32_t i = 0; i < core.items.size(); ++i) {
    if (core.is_pinned(i) && core.pins[i] + core.items[i].size > bound.bytes)
      bound = {.bytes = core.pins[i] + core.items[i].size, .witness = {i}};
  }
  return bound;
}

struct CoreAnswer {
  std::vector<int64_t> offsets;
  int64_t bound = 0;
  std::vector<uint32_t> witness;  // where the bound was raised above the load
};

// Stretches of time that nothing is alive across have a race each.
class Races {
 public:
  // `goal`: see Race. `on_plan` is called with each lower plan of all.
  Races(const Core& core, const SolveOptions& options, int64_t goal,
        std::function<void(const CoreAnswer&)> on_plan)
      : core_(core),
        options_(options),
        goal_(goal),
        on_plan_(std::move(on_plan)),
        stretches_(SplitInTime(core)) {
    answer_.offsets.assign(core.items.size(), 0);
    if (stretches_.size() > 1) {
      parts_.reserve(stretches_.size());
      for (const Stretch& stretch : stretches_)
        parts_.push_back(PartOf(core, stretch.items, stretch.from, stretch.to));
    }
    heights_.assign(stretches_.size(), kNoHeight);
    without_plan_ = stretches_.size();
    for (size_t k = 0; k < stretches_.size(); ++k) AddRace(k);
  }

  CoreAnswer Run() && {
    // A plan of all takes one of each stretch; the first is to come soon.
    if (races_.size() > 1 && options_.solver.empty()) {
      for (Race& race : races_) TakeFirstPlan(race);
    }
    effort_ = options_.effort;
    for (int round = 0; effort_ > 0; ++round) {
      const int64_t before = effort_;
      bool is_over = true;
      for (const NamedSolver& solver : kSolvers) {
        if (!options_.solver.empty() && solver.name != options_.solver) continue;
        for (Race& race : races_) is_over = !RunTurn(race, solver) && is_over;
      }
      for (Race& race : races_) race.StartRound();
      // Where nobody does anything any more, it is over too.
      if (is_over || (round > 1 && effort_ == before)) break;
    }
    for (size_t k = 0; k < races_.size(); ++k) {
      Race& race = races_[k];
      if (!race.has_plan()) race.Take(StackUp(race.core()));
      if (race.bound() < answer_.bound) continue;
      answer_.witness.clear();
      for (const uint32_t i : race.witness()) answer_.witness.push_back(stretches_[k].items[i]);
    }
    return std::move(answer_);
  }

 private:
  void AddRace(size_t k) {
    const Core& part = stretches_.size() > 1 ? parts_[k] : core_;
    const FirstBound bound = FirstBoundOf(part);
    answer_.bound = std::max(answer_.bound, bound.bytes);
    races_.emplace_back(part, bound.bytes,
                        Race::Limits{.goal = goal_,
                                     .effort = options_.effort,
                                     .threads = options_.threads,
                                     .seed = options_.seed,
                                     .should_stop = options_.should_stop,
                                     .on_plan = [this, k](std::span<const int64_t> offsets, int64_t,
                                                          int64_t) { Keep(k, offsets); }});
    races_.back().SetWitness(bound.witness);
  }

  // False when the race is over.
  bool RunTurn(Race& race, const NamedSolver& solver) {
    race.SetGoalAtLeast(answer_.bound);
    race.SetEffort(effort_);
    if (race.IsOver()) return false;
    solver.solve(race);
    effort_ = race.effort();
    answer_.bound = std::max(answer_.bound, race.bound());
    return true;
  }

  void Keep(size_t k, std::span<const int64_t> offsets) {
    for (size_t i = 0; i < offsets.size(); ++i)
      answer_.offsets[stretches_[k].items[i]] = offsets[i];
    const int64_t before = std::exchange(heights_[k], races_[k].height());
    if (before == kNoHeight) --without_plan_;
    // Lower than before only if the highest stretch is.
    if (without_plan_ != 0 || (before != kNoHeight && before < height_)) return;
    const int64_t height = std::ranges::max(heights_);
    if (height >= height_) return;
    height_ = height;
    on_plan_(answer_);
  }

  static constexpr int64_t kNoHeight = std::numeric_limits<int64_t>::max();
  const Core& core_;
  const SolveOptions& options_;
  int64_t goal_;
  std::function<void(const CoreAnswer&)> on_plan_;
  std::vector<Stretch> stretches_;
  std::vector<Core> parts_;       // by stretch, if there are several
  std::deque<Race> races_;        // by stretch
  std::vector<int64_t> heights_;  // by stretch
  size_t without_plan_ = 0;
  int64_t effort_ = 0;
  CoreAnswer answer_;
  int64_t height_ = kNoHeight;
};

Status StatusOf(const Answer& answer, const std::optional<int64_t>& capacity) {
  if (capacity && answer.plan.height > *capacity)
    return answer.bound > *capacity ? Status::kInfeasible : Status::kUndecided;
  return answer.plan.height <= answer.bound ? Status::kOptimal : Status::kFeasible;
}

Diagnostics CheckOptions(const SolveOptions& options) {
  constexpr int kMostThreads = 1024;
  Diagnostics errors;
  if (options.capacity && *options.capacity < 0)
    errors.push_back({.message = fmt::format("the capacity {} is negative", *options.capacity)});
  if (options.effort < 0)
    errors.push_back({.message = fmt::format("the effort {} is negative", options.effort)});
  if (options.threads < 1 || options.threads > kMostThreads)
    errors.push_back({.message = fmt::format("the number of threads is {}; it must be 1 to {}",
                                             options.threads, kMostThreads)});
  if (!options.solver.empty() &&
      std::ranges::find(kSolvers, options.solver, &NamedSolver::name) == std::end(kSolvers)) {
    std::string hint = "solvers:";
    for (const NamedSolver& solver : kSolvers) hint += fmt::format(" {}", solver.name);
    errors.push_back({.message = fmt::format("there is no solver `{}`", options.solver),
                      .hint = std::move(hint)});
  }
  return errors;
}

}  // namespace

std::string_view Name(Status status) {
  switch (status) {
    case Status::kOptimal:
      return "optimal";
    case Status::kFeasible:
      return "feasible";
    case Status::kInfeasible:
      return "infeasible";
    case Status::kUndecided:
      return "undecided";
  }
  return {};
}

std::vector<std::string_view> SolverNames() {
  std::vector<std::string_view> names;
  for (const NamedSolver& solver : kSolvers) names.push_back(solver.name);
  return names;
}

Answer SolveSound(const Problem& problem, const SolveOptions& options) {
  if (!problem.pools.empty()) return SolvePools(problem, options);
  Answer answer;
  answer.load = FindLoadBound(problem);
  const Reduced reduced = Reduce(problem);
  const auto on_plan = [&](const CoreAnswer& now) {
    if (!options.on_plan) return;
    options.on_plan(Expand(problem, reduced, now.offsets),
                    std::max(answer.load.bytes, now.bound * reduced.unit));
  };
  CoreAnswer core =
      Races(reduced.core, options, options.capacity ? *options.capacity / reduced.unit : 0, on_plan)
          .Run();
  answer.plan = Expand(problem, reduced, core.offsets);
  answer.bound = answer.load.bytes;
  if (!reduced.core.has_windows() && core.bound * reduced.unit > answer.bound) {
    answer.bound = core.bound * reduced.unit;
    if (!core.witness.empty()) {
      core.witness = ShrinkWitness(reduced.core, std::move(core.witness), core.bound - 1);
      std::vector<uint8_t> is_in(reduced.core.items.size(), 0);
      for (const uint32_t item : core.witness) is_in[item] = 1;
      for (uint32_t b = 0; b < problem.buffers.size(); ++b) {
        if (reduced.items[b] != kNone && is_in[reduced.items[b]] != 0) answer.witness.push_back(b);
      }
    }
  }
  answer.status = StatusOf(answer, options.capacity);
  return answer;
}

Result<Answer> Solve(const Problem& problem, const SolveOptions& options, const Names& names) {
  if (Diagnostics errors = CheckProblem(problem, names); !errors.empty())
    return std::unexpected(std::move(errors));
  if (Diagnostics errors = CheckOptions(options); !errors.empty())
    return std::unexpected(std::move(errors));
  return SolveSound(problem, options);
}

}  // namespace stowplan::pack
