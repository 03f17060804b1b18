// SPDX-License-Identifier: Apache-2.0
#include "pack/solve/pools.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "base/checked_math.h"
#include "pack/problem/loads.h"
#include "pack/problem/mistakes.h"
#include "pack/solve/extract.h"
#include "pack/solve/pool_units.h"
#include "pack/solve/solve.h"

namespace stowplan::pack {
namespace {

// Nodes of the exact search: for a pool, and for one more buffer in it.
constexpr int64_t kPoolEffort = 1 << 14;
constexpr int64_t kExtraEffort = 1 << 10;
// How many of those who were turned down are tried one by one, where the pool has at most so many.
constexpr size_t kMaxExtras = 24;
constexpr size_t kMostToTryWith = 5000;
// How often all is done again.
constexpr int kRounds = 6;
// Few units, and few ways to distribute them, are looked at one by one.
constexpr size_t kMaxUnitsToTry = 16;
constexpr int kMaxWaysToTry = 4000;
// All sets of so many pools are looked at for a proof; of more, only the whole and each alone.
constexpr size_t kMaxPoolSets = 8;

using Order = bool (*)(const Unit& a, const Unit& b);
// A byte that soon makes room for another is worth more than one that stays; but large ones, and
// small areas, sometimes pack better.
constexpr Order kOrders[] = {
    [](const Unit& a, const Unit& b) { return a.life < b.life; },
    [](const Unit& a, const Unit& b) { return a.size > b.size; },
    [](const Unit& a, const Unit& b) {
      return static_cast<double>(a.size) * static_cast<double>(a.life) <
             static_cast<double>(b.size) * static_cast<double>(b.life);
    },
};

// What lies in one pool.
struct Content {
  std::vector<size_t> units;
  std::vector<int64_t> offsets;  // by unit
  int64_t bytes = 0;
};

class PoolSolver {
 public:
  PoolSolver(const Problem& problem, const SolveOptions& options)
      : problem_(problem), options_(options), units_(FindUnits(problem)) {}

  Answer Run() {
    answer_.load = FindLoadBound(problem_);
    FindBounds();
    if (answer_.status == Status::kInfeasible) return std::move(answer_);
    bool is_complete = false;
    for (int round = 0; round < kRounds && !is_complete && !IsStopped(round); ++round)
      is_complete = Distribute();
    if (units_.size() <= kMaxUnitsToTry && Improve(is_complete ? Spilled() : INT64_MAX))
      is_complete = true;
    if (is_complete) {
      Finish();
    } else {
      answer_.status = Status::kUndecided;
    }
    return std::move(answer_);
  }

 private:
  [[nodiscard]] bool IsStopped(int round) const {
    return round > 0 && options_.should_stop && options_.should_stop();
  }
  [[nodiscard]] int64_t CapacityOf(uint32_t pool) const { return problem_.pools[pool].capacity; }
  // Whether the unit alone fits.
  [[nodiscard]] bool FitsAlone(const Unit& unit, uint32_t pool) const {
    return std::max<int64_t>(unit.pin, 0) <= CapacityOf(pool) - unit.size;
  }

  // For some sets of pools: those who may be nowhere else need no more than the set has.
  void FindBounds() {
    const size_t count = problem_.pools.size();
    std::vector<std::vector<bool>> sets;
    if (count <= kMaxPoolSets) {
      for (size_t bits = 1; bits < size_t{1} << count; ++bits) {
        sets.emplace_back(count);
        for (size_t p = 0; p < count; ++p) sets.back()[p] = (bits >> p & 1U) != 0;
      }
    } else {
      sets.emplace_back(count, true);
      for (size_t p = 0; p < count; ++p) {
        sets.emplace_back(count);
        sets.back()[p] = true;
      }
    }
    for (const std::vector<bool>& set : sets) CheckSet(set);
    for (const Unit& unit : units_) {
      if (std::ranges::any_of(unit.pools, [&](uint32_t p) { return FitsAlone(unit, p); })) continue;
      answer_.status = Status::kInfeasible;
      answer_.bound = SaturatingAdd(problem_.pools.back().capacity, 1);
      answer_.witness = unit.members;
      return;
    }
  }

  void CheckSet(const std::vector<bool>& set) {
    std::vector<uint32_t> buffers;
    for (const Unit& unit : units_) {
      if (std::ranges::all_of(unit.pools, [&](uint32_t p) { return set[p]; }))
        buffers.insert(buffers.end(), unit.members.begin(), unit.members.end());
    }
    std::ranges::sort(buffers);
    const LoadBound load = FindLoadBound(Extract(problem_, buffers));
    int64_t others = 0;
    for (uint32_t p = 0; p + 1 < set.size(); ++p)
      if (set[p]) others = SaturatingAdd(others, CapacityOf(p));
    const int64_t last = set.back() ? problem_.pools.back().capacity : 0;
    int64_t bound = load.bytes - others;
    if (bound > last && !set.back()) bound = SaturatingAdd(bound, problem_.pools.back().capacity);
    if (bound <= answer_.bound) return;
    answer_.bound = bound;
    answer_.witness = buffers.size() == problem_.buffers.size() ? std::vector<uint32_t>() : buffers;
    if (bound > problem_.pools.back().capacity) answer_.status = Status::kInfeasible;
  }

  // Fills the pools. False when somebody is left over; they are urgent the next time.
  bool Distribute() {
    contents_.assign(problem_.pools.size(), {});
    ranks_.assign(units_.size(), 0);
    std::vector<std::vector<size_t>> waiting(problem_.pools.size());
    bool is_complete = true;
    const auto send = [&](size_t u) {
      const Unit& unit = units_[u];
      while (ranks_[u] < unit.pools.size() && !FitsAlone(unit, unit.pools[ranks_[u]])) ++ranks_[u];
      if (ranks_[u] == unit.pools.size()) {
        units_[u].is_urgent = true;
        is_complete = false;
        return;
      }
      waiting[unit.pools[ranks_[u]]].push_back(u);
    };
    for (size_t u = 0; u < units_.size(); ++u) send(u);
    while (true) {
      const auto next = std::ranges::find_if(waiting, [](const auto& w) { return !w.empty(); });
      if (next == waiting.end()) return is_complete;
      const auto pool = static_cast<uint32_t>(next - waiting.begin());
      for (const size_t u : Fill(pool, std::exchange(*next, {}))) {
        ++ranks_[u];
        send(u);
      }
    }
  }

  // Bytes, each as often as pools were passed over for it.
  [[nodiscard]] int64_t SpillOf(size_t unit, size_t rank) const {
    int64_t bytes = 0;
    for (; rank != 0; --rank) {
      for (const uint32_t b : units_[unit].members)
        bytes = SaturatingAdd(bytes, problem_.buffers[b].size);
    }
    return bytes;
  }
  [[nodiscard]] int64_t Spilled() const {
    int64_t sum = 0;
    for (size_t u = 0; u < units_.size(); ++u) sum = SaturatingAdd(sum, SpillOf(u, ranks_[u]));
    return sum;
  }

  // Looks for a distribution that spills less than `most`: units one by one, the largest first,
  // each into every pool that it may be in. True when there is one; it is kept.
  bool Improve(int64_t most) {
    std::vector<size_t> order(units_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater<>(), [&](size_t u) { return units_[u].size; });
    // What has been decided, as a path through the tree of decisions; the last may be changed.
    std::vector<size_t> ranks;
    std::vector<std::vector<size_t>> pools(problem_.pools.size());
    std::vector<int64_t> spilled = {0};
    bool is_better = false;
    int ways = 0;
    size_t rank = 0;  // to be tried for the next unit
    while (ways < kMaxWaysToTry && !IsStopped(1)) {
      const size_t depth = ranks.size();
      if (depth < order.size() && rank < units_[order[depth]].pools.size()) {
        const size_t u = order[depth];
        const uint32_t pool = units_[u].pools[rank];
        const int64_t sum = SaturatingAdd(spilled.back(), SpillOf(u, rank));
        ++ways;
        pools[pool].push_back(u);
        if (sum < most && FitsAlone(units_[u], pool) && PinsAgree(pools[pool]) &&
            LoadFits(pools[pool], pool)) {
          ranks.push_back(rank);
          spilled.push_back(sum);
          rank = 0;
        } else {
          pools[pool].pop_back();
          ++rank;
        }
        continue;
      }
      if (depth == order.size() && Settle(order, ranks, pools)) {
        is_better = true;
        most = spilled.back();
      }
      if (depth == 0) break;
      pools[units_[order[depth - 1]].pools[ranks.back()]].pop_back();
      rank = ranks.back() + 1;
      ranks.pop_back();
      spilled.pop_back();
    }
    return is_better;
  }
  // Whether everything has a place in its pool; then that is kept.
  bool Settle(const std::vector<size_t>& order, const std::vector<size_t>& ranks,
              const std::vector<std::vector<size_t>>& pools) {
    std::vector<Content> contents;
    for (uint32_t p = 0; p < pools.size(); ++p) {
      contents.push_back(Place(pools[p], p, kPoolEffort));
      if (contents.back().units.size() != pools[p].size()) return false;
    }
    contents_ = std::move(contents);
    ranks_.assign(units_.size(), 0);
    for (size_t k = 0; k < order.size(); ++k) ranks_[order[k]] = ranks[k];
    return true;
  }

  // Puts into the pool what fits; who does not is returned.
  std::vector<size_t> Fill(uint32_t pool, std::vector<size_t> candidates) {
    const Content before = contents_[pool];
    std::vector<size_t> all = before.units;
    all.insert(all.end(), candidates.begin(), candidates.end());
    if (PinsAgree(all) && LoadFits(all, pool)) {
      if (Content content = Place(all, pool, kPoolEffort); content.units.size() == all.size()) {
        contents_[pool] = std::move(content);
        return {};
      }
    }
    Content best = before;
    for (const Order order : kOrders) {
      Content content = PlaceSubset(before, candidates, order, pool);
      if (content.bytes > best.bytes && Keeps(content, before)) best = std::move(content);
      if (options_.should_stop && options_.should_stop()) break;
    }
    std::vector<size_t> left = Missing(candidates, best);
    std::ranges::stable_sort(left, [&](size_t a, size_t b) {
      if (units_[a].is_urgent != units_[b].is_urgent) return units_[a].is_urgent;
      return units_[a].size > units_[b].size;
    });
    for (size_t k = 0; k < std::min(left.size(), kMaxExtras); ++k) {
      if (best.units.size() > kMostToTryWith) break;
      if (options_.should_stop && options_.should_stop()) break;
      std::vector<size_t> more = best.units;
      more.push_back(left[k]);
      if (!PinsAgree(more) || !LoadFits(more, pool)) continue;
      Content content = Place(more, pool, kExtraEffort);
      if (content.units.size() == more.size()) best = std::move(content);
    }
    contents_[pool] = std::move(best);
    return Missing(candidates, contents_[pool]);
  }

  static std::vector<size_t> Missing(const std::vector<size_t>& units, const Content& content) {
    std::vector<size_t> missing;
    for (const size_t u : units)
      if (!std::ranges::binary_search(content.units, u)) missing.push_back(u);
    return missing;
  }
  static bool Keeps(const Content& content, const Content& before) {
    return std::ranges::includes(content.units, before.units);
  }

  // Those who were there, then the others in that order, while the load allows it; of the plan that
  // Solve makes of them, what lies within the capacity.
  Content PlaceSubset(const Content& before, const std::vector<size_t>& candidates, Order order,
                      uint32_t pool) {
    std::vector<size_t> sorted = candidates;
    std::ranges::stable_sort(sorted, [&](size_t a, size_t b) {
      const Unit& one = units_[a];
      const Unit& two = units_[b];
      if (one.is_urgent != two.is_urgent) return one.is_urgent;
      // Pinned ones first: they cannot go elsewhere in the pool.
      if ((one.pin >= 0) != (two.pin >= 0)) return one.pin >= 0;
      return order(one, two);
    });
    sorted.insert(sorted.begin(), before.units.begin(), before.units.end());
    LoadTree tree(problem_);
    std::vector<size_t> taken;
    std::vector<size_t> pinned;
    const bool do_all_agree = PinsAgree(sorted);
    for (const size_t u : sorted) {
      if (units_[u].pin >= 0 && !do_all_agree) {
        pinned.push_back(u);
        if (!PinsAgree(pinned)) {
          pinned.pop_back();
          continue;
        }
      }
      const bool is_new = taken.size() >= before.units.size();
      if (tree.Take(units_[u], is_new ? CapacityOf(pool) : INT64_MAX)) {
        taken.push_back(u);
      } else if (!pinned.empty() && pinned.back() == u) {
        pinned.pop_back();
      }
    }
    return Place(taken, pool, kPoolEffort);
  }

  [[nodiscard]] std::vector<uint32_t> BuffersOf(const std::vector<size_t>& units) const {
    std::vector<uint32_t> buffers;
    for (const size_t u : units)
      buffers.insert(buffers.end(), units_[u].members.begin(), units_[u].members.end());
    std::ranges::sort(buffers);
    return buffers;
  }

  // Pins that agree in the whole problem may not in one pool.
  [[nodiscard]] bool PinsAgree(const std::vector<size_t>& units) const {
    std::vector<size_t> pinned;
    for (const size_t u : units)
      if (units_[u].pin >= 0) pinned.push_back(u);
    return pinned.size() < 2 || FindMistakes(Extract(problem_, BuffersOf(pinned))).empty();
  }

  [[nodiscard]] bool LoadFits(const std::vector<size_t>& units, uint32_t pool) const {
    return FindLoadBound(Extract(problem_, BuffersOf(units))).bytes <= CapacityOf(pool);
  }

  Content Place(std::vector<size_t> units, uint32_t pool, int64_t effort) {
    std::ranges::sort(units);
    const std::vector<uint32_t> buffers = BuffersOf(units);
    SolveOptions options = {.capacity = CapacityOf(pool),
                            .seed = options_.seed,
                            .threads = options_.threads,
                            .solver = options_.solver,
                            .effort = std::min(effort, options_.effort),
                            .should_stop = options_.should_stop};
    const Plan plan = SolveSound(Extract(problem_, buffers), options).plan;
    Content content;
    for (const size_t u : units) {
      const auto at = std::ranges::lower_bound(buffers, units_[u].members.front());
      const int64_t offset = plan.offsets[static_cast<size_t>(at - buffers.begin())];
      if (offset > CapacityOf(pool) - units_[u].size) continue;
      content.units.push_back(u);
      content.offsets.push_back(offset);
      content.bytes = SaturatingAdd(content.bytes, units_[u].size);
    }
    return content;
  }

  // The plan, with the last pool as low as SolveSound gets it.
  void Finish() {
    const auto last = static_cast<uint32_t>(problem_.pools.size() - 1);
    Plan& plan = answer_.plan;
    plan.offsets.resize(problem_.buffers.size());
    plan.pools.resize(problem_.buffers.size());
    for (uint32_t p = 0; p < contents_.size(); ++p) {
      for (size_t k = 0; k < contents_[p].units.size(); ++k) {
        for (const uint32_t b : units_[contents_[p].units[k]].members) {
          plan.offsets[b] = contents_[p].offsets[k];
          plan.pools[b] = p;
        }
      }
    }
    const std::vector<uint32_t> buffers = BuffersOf(contents_[last].units);
    SolveOptions options = options_;
    options.capacity.reset();
    options.on_plan = nullptr;
    const Plan low = SolveSound(Extract(problem_, buffers), options).plan;
    plan.height = HeightOf(last);
    if (low.height < plan.height) {
      for (size_t k = 0; k < buffers.size(); ++k) plan.offsets[buffers[k]] = low.offsets[k];
      plan.height = low.height;
    }
    const bool is_preferred = std::ranges::all_of(ranks_, [](size_t rank) { return rank == 0; });
    answer_.status =
        is_preferred && plan.height <= answer_.bound ? Status::kOptimal : Status::kFeasible;
    if (options_.on_plan) options_.on_plan(plan, answer_.bound);
  }

  [[nodiscard]] int64_t HeightOf(uint32_t pool) const {
    int64_t height = 0;
    for (size_t b = 0; b < answer_.plan.offsets.size(); ++b) {
      if (answer_.plan.pools[b] == pool)
        height = std::max(height, answer_.plan.offsets[b] + problem_.buffers[b].size);
    }
    return height;
  }

  const Problem& problem_;
  const SolveOptions& options_;
  std::vector<Unit> units_;
  std::vector<Content> contents_;  // by pool
  std::vector<size_t> ranks_;      // by unit: which of its pools it is in, or wants
  Answer answer_;
};

}  // namespace

Answer SolvePools(const Problem& problem, const SolveOptions& options) {
  return PoolSolver(problem, options).Run();
}

}  // namespace stowplan::pack
