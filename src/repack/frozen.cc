// SPDX-License-Identifier: Apache-2.0
#include "repack/frozen.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/checked_math.h"
#include "cost/machine.h"
#include "cost/work.h"
#include "fit/find_task.h"
#include "order/effects.h"
#include "order/find_problem.h"

namespace stowplan::repack {
namespace {

using executable::Executable;
using executable::Thunk;
using order::kNoNode;
using order::Life;
using order::Node;

// No heap that has a place for every value at once is larger.
constexpr int64_t kMostBytes = int64_t{1} << 56;

// Buffers that have everything that shares memory: units, and outside the heaps all units that
// meet, which follow each other in time.
struct FrozenBuffers {
  BufferSet set;
  std::vector<int64_t> sizes;  // by buffer: 0 outside the heaps
};

// By unit: the number of its buffer.
std::vector<uint32_t> JoinFixed(const std::vector<Unit>& units, uint32_t& count) {
  std::vector<uint32_t> order(units.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](uint32_t u) {
    return std::tuple(!units[u].is_fixed, units[u].allocation, units[u].begin);
  });
  std::vector<uint32_t> buffers(units.size());
  int64_t reach = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const Unit& unit = units[order[i]];
    const Unit* const before = i == 0 ? nullptr : &units[order[i - 1]];
    const bool joins = unit.is_fixed && before != nullptr && before->is_fixed &&
                       before->allocation == unit.allocation && unit.begin < reach;
    reach = joins ? std::max(reach, unit.end) : unit.end;
    buffers[order[i]] = joins ? count - 1 : count++;
  }
  return buffers;
}

FrozenBuffers BuffersOf(const Analysis& analysis, const Units& units, int64_t alignment) {
  uint32_t count = 0;
  const std::vector<uint32_t> of_unit = JoinFixed(units.units, count);
  FrozenBuffers out;
  BufferSet& set = out.set;
  set.buffers.resize(analysis.buffers.buffers.size());
  std::vector<std::vector<ValueId>> values(count);
  for (uint32_t i = 0; i < set.buffers.size(); ++i) {
    if (analysis.buffers.buffers[i].is_none()) continue;
    // What has no place is alone.
    uint32_t buffer = static_cast<uint32_t>(values.size());
    if (units.values[i].unit != kNoUnit) {
      buffer = of_unit[units.values[i].unit];
    } else {
      values.emplace_back();
    }
    set.buffers[i] = BufferId(size_t{buffer});
    values[buffer].push_back(ValueId(i));
  }
  set.begins.push_back(0);
  for (const std::vector<ValueId>& list : values) {
    set.values.insert(set.values.end(), list.begin(), list.end());
    set.begins.push_back(static_cast<uint32_t>(set.values.size()));
    set.is_live_out.push_back(static_cast<uint8_t>(
        std::ranges::any_of(list, [&](ValueId v) { return analysis.flow.is_live_out(v); })));
  }
  out.sizes.assign(values.size(), 0);
  for (size_t u = 0; u < units.units.size(); ++u) {
    const Unit& unit = units.units[u];
    if (unit.is_fixed) continue;
    out.sizes[of_unit[u]] = CheckedRoundUp(unit.end - unit.begin, alignment).value_or(kMostBytes);
  }
  return out;
}

class FrozenFinder {
 public:
  FrozenFinder(const Executable& executable, const PlannedModule& planned, const Rules& rules,
               const Units& units)
      : executable_(executable),
        module_(*planned.module),
        rules_(rules),
        units_(units),
        analysis_(*planned.analysis) {}

  std::expected<Frozen, std::string> Run() {
    FrozenBuffers buffers = BuffersOf(analysis_, units_, rules_.AlignmentOf(0));
    const int64_t sum = std::accumulate(buffers.sizes.begin(), buffers.sizes.end(), int64_t{0},
                                        [](int64_t a, int64_t b) { return SaturatingAdd(a, b); });
    if (sum >= kMostBytes) return std::unexpected("its values are too large to be added up");
    analysis_.buffers = std::move(buffers.set);
    order::Surroundings around = {.module = module_,
                                  .analysis = analysis_,
                                  .rules = rules_,
                                  .measured = {},
                                  .countings = {},
                                  .loads = LoadsByTime(),
                                  .effects = order::FindEffects(module_),
                                  .is_frozen = true};
    for (const int64_t size : buffers.sizes) {
      around.countings.push_back(size > 0 ? order::Surroundings::Counting::kCounts
                                          : order::Surroundings::Counting::kNot);
    }
    around.measured.buffer_colors.assign(buffers.sizes.size(), 0);
    around.measured.sizes = std::move(buffers.sizes);
    out_.graph = order::MakeGraph(module_, module_.entry, around.effects);
    const std::vector<int64_t> slacks(module_.computations.size(), 0);
    out_.problem = order::FindProblem(around, out_.graph, slacks, &values_);
    can_repeat_ = fit::FindRepeatable(around, out_.graph, out_.problem);
    ForbidThunks();
    can_join_ = can_repeat_;
    // A group that may not run again only ties nodes together.
    do {
      MakeGroups();
      MakeTask();
    } while (DissolveGroups());
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::vector<int64_t> LoadsByTime() const {
    std::vector<int64_t> loads(static_cast<size_t>(analysis_.schedule.end()) + 2, 0);
    for (const Unit& unit : units_.units) {
      if (unit.is_fixed) continue;
      for (const Instants& instants : unit.alive) {
        const auto last = static_cast<int64_t>(loads.size() - 1);
        loads[static_cast<size_t>(std::clamp<int64_t>(instants.start, 0, last))] +=
            unit.end - unit.begin;
        loads[static_cast<size_t>(std::clamp<int64_t>(instants.end, 0, last))] -=
            unit.end - unit.begin;
      }
    }
    for (size_t t = 1; t < loads.size(); ++t) loads[t] += loads[t - 1];
    return loads;
  }

  // What has no thunks of its own, or thunks that may not run twice.
  void ForbidThunks() {
    std::unordered_map<std::string_view, bool> is_fine;  // by instruction
    for (const uint32_t row : executable_.program.sequences[0].thunks) {
      const Thunk& thunk = executable_.program.thunks[row];
      const bool fine = thunk.kind != nullptr && thunk.is_understood &&
                        thunk.kind->effect == executable::Effect::kPure &&
                        thunk.sequences.count == 0;
      const auto [entry, is_new] = is_fine.emplace(thunk.name, fine);
      if (!is_new) entry->second = entry->second && fine;
    }
    for (Node i = 0; i < out_.problem.size(); ++i) {
      const auto found = is_fine.find(module_.name(out_.graph.instructions[i]));
      if (found == is_fine.end() || !found->second) can_repeat_[i] = 0;
    }
  }

  [[nodiscard]] bool IsSameBuffer(size_t life, size_t next) const {
    return next < values_.size() &&
           analysis_.buffers.of(values_[life]) == analysis_.buffers.of(values_[next]);
  }
  [[nodiscard]] const Unit& UnitOf(size_t life) const {
    return units_.units[units_.values[values_[life].index].unit];
  }

  // A node that only the next one of its buffer reads joins that one's group: it moves right before
  // it, and nobody else may wait for it.
  void MakeGroups() {
    const order::Problem& problem = out_.problem;
    std::vector<std::vector<Node>> members(problem.size());
    for (Node i = 0; i < problem.size(); ++i) members[i] = {i};
    // By the node that joins; its group goes to that of a later one.
    std::vector<std::pair<Node, Node>> joins;
    for (uint32_t i = 0; i < values_.size(); ++i) {
      if (!IsSameBuffer(i, i + 1)) continue;
      const Node first = problem.lives[i].begin;
      const Node second = problem.lives[i + 1].begin;
      if (first == kNoNode || second == kNoNode || first >= second || can_join_[first] == 0 ||
          can_join_[second] == 0) {
        continue;
      }
      if (std::ranges::any_of(problem.touches[i],
                              [&](Node node) { return node != first && node != second; })) {
        continue;
      }
      joins.emplace_back(second, first);
    }
    std::ranges::sort(joins);
    for (const auto& [second, first] : joins) {
      // Another one may have taken it.
      if (members[first].empty()) continue;
      const bool can_move = std::ranges::all_of(members[first], [&](Node member) {
        return std::ranges::all_of(problem.after[member], [&](Node after) {
          return after >= second ||
                 std::ranges::find(members[first], after) != members[first].end();
        });
      });
      if (!can_move) continue;
      std::vector<Node> joined = std::move(members[first]);
      members[first].clear();
      joined.insert(joined.end(), members[second].begin(), members[second].end());
      std::ranges::sort(joined);
      members[second] = std::move(joined);
    }
    out_.groups.clear();
    group_of_.assign(problem.size(), kNoNode);
    for (std::vector<Node>& group : members) {
      if (group.empty()) continue;
      for (const Node node : group) group_of_[node] = static_cast<Node>(out_.groups.size());
      out_.groups.push_back(std::move(group));
    }
  }

  bool DissolveGroups() {
    bool is_any = false;
    for (size_t group = 0; group < out_.groups.size(); ++group) {
      if (out_.groups[group].size() < 2 || out_.task.can_repeat[group] != 0) continue;
      is_any = true;
      for (const Node node : out_.groups[group]) can_join_[node] = 0;
    }
    return is_any;
  }

  void MakeTask() {
    const order::Problem& problem = out_.problem;
    const size_t count = out_.groups.size();
    const cost::Machine machine = cost::MachineOf(rules_.target);
    const std::vector<cost::Work> work = cost::FindWork(module_, rules_.target);
    std::vector<double> costs(count, 0);
    std::vector<uint8_t> can_repeat(count, 1);
    order::ProblemParts parts;
    parts.inner.assign(count, 0);
    for (Node i = 0; i < problem.size(); ++i) {
      const Node group = group_of_[i];
      costs[group] += cost::SecondsOf(work[out_.graph.instructions[i].index], machine);
      parts.inner[group] = std::max(parts.inner[group], problem.inner[i]);
      if (can_repeat_[i] == 0) can_repeat[group] = 0;
      for (const Node before : problem.before[i]) {
        if (group_of_[before] != group) parts.edges.emplace_back(group_of_[before], group);
      }
    }
    overwriters_.clear();
    buffers_.clear();
    AddLives(parts, can_repeat);
    // Copies of what is overwritten are overwritten instead, so what MakeTask forbids is allowed.
    const std::vector<uint8_t> allowed = can_repeat;
    out_.task = fit::MakeTask(order::MakeProblem(std::move(parts)), std::move(costs),
                              std::move(can_repeat), std::move(overwriters_), std::move(buffers_));
    out_.task.can_repeat = allowed;
  }

  void AddLives(order::ProblemParts& parts, std::vector<uint8_t>& can_repeat) {
    const order::Problem& problem = out_.problem;
    uint32_t last = 0;  // the last life of the same buffer that was added, and one more
    for (uint32_t i = 0; i < problem.lives.size(); ++i) {
      if (i == 0 || !IsSameBuffer(i - 1, i)) last = 0;
      Life life = problem.lives[i];
      if (life.begin != kNoNode) life.begin = group_of_[life.begin];
      std::vector<Node> touches;
      for (const Node touch : problem.touches[i]) touches.push_back(group_of_[touch]);
      std::ranges::sort(touches);
      touches.erase(std::unique(touches.begin(), touches.end()), touches.end());
      // What only lives inside a group lies where the group's result will.
      const bool is_inside = life.begin != kNoNode && !life.lasts && IsSameBuffer(i, i + 1) &&
                             problem.lives[i + 1].begin != kNoNode &&
                             group_of_[problem.lives[i + 1].begin] == life.begin &&
                             touches.size() == 1 && touches[0] == life.begin;
      if (is_inside) continue;
      const auto row = static_cast<uint32_t>(parts.lives.size());
      parts.lives.push_back(life);
      overwriters_.push_back(kNoNode);
      buffers_.push_back(analysis_.buffers.of(values_[i]).index);
      if (last != 0) {
        const uint32_t before = last - 1;
        overwriters_[before] = life.begin;
        // Each life is made by one node, which may not write over what is needed again.
        if (life.begin != kNoNode) can_repeat[life.begin] = 0;
        if (life.begin != kNoNode && std::ranges::binary_search(parts.touches[before], life.begin))
          parts.overwrites.push_back({life.begin, row, before});
        // What is overwritten outside the heaps, a copy would have to lie there too.
        const Node maker = parts.lives[before].begin;
        if (maker != kNoNode && UnitOf(i).is_fixed) can_repeat[maker] = 0;
      }
      parts.touches.push_back(std::move(touches));
      last = row + 1;
    }
  }

  const Executable& executable_;
  const hlo::Module& module_;
  const Rules& rules_;
  const Units& units_;
  Analysis analysis_;                // with buffers that have everything that shares memory
  std::vector<ValueId> values_;      // by life
  std::vector<uint8_t> can_repeat_;  // by node
  std::vector<uint8_t> can_join_;    // by node: a group
  std::vector<Node> group_of_;       // by node
  std::vector<Node> overwriters_;    // by life of the task
  std::vector<uint32_t> buffers_;    // by life of the task
  Frozen out_;
};

}  // namespace

std::expected<Frozen, std::string> FindFrozen(const Executable& executable,
                                              const PlannedModule& planned, const Rules& rules,
                                              const Units& units, Guests guests) {
  Units placed = units;
  for (Unit& unit : placed.units) {
    if (guests == Guests::kMove && unit.is_guest) unit.is_fixed = false;
  }
  return FrozenFinder(executable, planned, rules, placed).Run();
}

}  // namespace stowplan::repack
