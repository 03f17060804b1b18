// SPDX-License-Identifier: Apache-2.0
// The allocations again: in the order of their making, heaps packed, numbered.
#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "assign/combine.h"
#include "base/checked_math.h"
#include "base/stable_sort.h"
#include "report/replanner.h"
#include "target/size.h"

namespace stowplan::report {
namespace {

constexpr uint32_t kNoGroup = 0xffffffffU;

}  // namespace

Replanner::Rank Replanner::RankOf(Phase phase, const Value& value) {
  const bool is_told = report().dialect.from_instruction != FromInstruction::kAbsent;
  if (phase != Phase::kGlobal || sweeps_ || is_straight_ || !is_told) return {0, value.number};
  if (!computations_) computations_.emplace(report());
  return {computations_->FromLast(value.instruction), value.number};
}

void Replanner::AddMade(Phase phase, Made made, bool is_live_out) {
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  const auto end = static_cast<int64_t>(report().live_ranges->sequence.size());
  int64_t start = kNever;
  Rank rank = {kNever, kNever};
  Rank result_rank = rank;
  for (const auto& [id, offset] : made.values) {
    const Value& value = report().values[id];
    if (value.has_range) start = std::min(start, value.start);
    // The value that the allocation was made for is as large as it.
    if (sizes_[id.index] != made.allocation.size) continue;
    const Rank own = RankOf(phase, value);
    rank = std::min(rank, own);
    if (value.has_range && value.end == end) result_rank = std::min(result_rank, own);
  }
  // Results are given their allocations before temporaries move in.
  if (is_live_out && !made.allocation.parameter && result_rank.number != kNever) rank = result_rank;
  made.key.phase = phase;
  if (attempt_ == Attempt::kAgain && IsKept(made.allocation.color)) {
    made.key = {.phase = Phase::kPreset, .rank = rank};
  } else if (phase == Phase::kThreadLocal && rules_.thread_locals_by_number) {
    made.key.number = rank.number;
  } else if (phase == Phase::kHeap) {
    // Space 0 comes after the one whose holes it may fill.
    made.key.time_or_color =
        made.allocation.color == rules_.lending_space ? -1 : made.allocation.color;
  } else if (phase == Phase::kPreset) {
    // The fast memory first, then those of the SparseCore.
    const bool is_fast = made.allocation.color == rules_.preset_space;
    made.key.time_or_color = is_fast ? 0 : 1;
    made.key.minus_size = -made.allocation.size;
    made.key.number = made.allocation.color;
  } else {
    made.key = {.phase = phase,
                .time_or_color = sweeps_ ? start : 0,
                .minus_size = -made.allocation.size,
                .is_not_live_out = !is_live_out,
                .rank = rank};
  }
  made_.push_back(std::move(made));
}

std::optional<Diagnostics> Replanner::RebuildAllocations() {
  std::map<int64_t, std::vector<ValueId>> heaps;  // by color
  for (size_t a = 0; a < report().allocations.size(); ++a) {
    const OldId id(a);
    const Allocation& old = report().allocations[id];
    const stowplan::Allocation made = {.size = old.size,
                                       .color = old.color,
                                       .is_constant = old.is_constant,
                                       .is_thread_local = old.is_thread_local,
                                       .is_maybe_live_out = old.is_maybe_live_out,
                                       .parameter = old.parameter};
    if (old.is_temp() && !IsPreset(old)) {
      SplitTemporaries(id, heaps);
      continue;
    }
    Made row = {.allocation = made, .old = id};
    int64_t largest = 0;
    for (const ValueId value : old.values) {
      // Only in what is packed do values lie anywhere but at the beginning.
      row.values.emplace_back(value, old.is_temp() ? report().values[value].offset : 0);
      largest = std::max(largest, sizes_[value.index]);
    }
    if (old.is_temp()) {
      AddMade(Phase::kPreset, std::move(row), false);
      continue;
    }
    row.allocation.size = largest;
    // Constants of computations inside instructions are not on the time line.
    const bool is_inside =
        old.is_constant && !old.values.empty() && !report().values[old.values[0]].has_range;
    AddMade(old.is_thread_local || is_inside ? Phase::kThreadLocal : Phase::kGlobal, std::move(row),
            old.is_maybe_live_out);
  }
  if (rules_.preset_space >= 0)
    result_.taken.emplace_back(fmt::format("places in memory space {}", rules_.preset_space));
  result_.taken.emplace_back("which values share memory");
  for (const auto& [color, values] : heaps) Pack(color, values);
  StableSort(made_, {}, &Made::key);
  TakeOrderOfEquals();
  result_.derived.emplace_back("the order of allocations, and so their numbers");
  return std::nullopt;
}

void Replanner::SplitTemporaries(OldId id, std::map<int64_t, std::vector<ValueId>>& heaps) {
  const Allocation& old = report().allocations[id];
  // By offset. An empty table begins where the next one does: each has one of its own.
  std::map<std::pair<int64_t, int64_t>, Made> tables;
  // The SparseCore's stacks have one, too, and what took them over is in it.
  std::set<int64_t> stacks;
  for (const ValueId v : old.values) {
    if (sizes_[v.index] > 0 && old.color == 0 && IsContext(report().values[v]))
      stacks.insert(report().values[v].offset);
  }
  for (const ValueId v : old.values) {
    const Value& value = report().values[v];
    const bool is_in_stack = stacks.contains(value.offset) && sizes_[v.index] > 0;
    if (!IsTuple(value) && !is_in_stack) {
      heaps[old.color].push_back(v);
      continue;
    }
    const int64_t own = sizes_[v.index] == 0 ? int64_t{v.index} + 1 : 0;
    Made& table = tables[{value.offset, own}];
    table.allocation.size = std::max(table.allocation.size, sizes_[v.index]);
    table.allocation.color = old.color;
    table.allocation.is_tuple = !is_in_stack;
    table.values.emplace_back(v, 0);
  }
  for (auto& [offset, table] : tables) AddMade(Phase::kGlobal, std::move(table), false);
}

HeapInput Replanner::GroupsOf(const std::vector<ValueId>& values, Handover unknown,
                              int64_t& unknowns) {
  HeapInput input;
  std::vector<ValueId> order = values;
  std::ranges::sort(order, {}, [&](ValueId id) {
    const Value& value = report().values[id];
    return std::tuple(value.start, value.end, value.number);
  });
  // Numbers of a report may be any; only their order counts.
  std::vector<ValueId> by_number = values;
  std::ranges::sort(by_number, {}, [&](ValueId id) { return report().values[id].number; });
  std::unordered_map<uint32_t, size_t> ranks;
  for (const ValueId id : by_number) ranks.emplace(id.index, ranks.size());
  const Sharers sharers = FindSharers(order, unknown);
  unknowns = sharers.unknown;
  std::vector<uint32_t> group_of(order.size(), kNoGroup);  // by row that stands for its sharers
  std::map<std::pair<uint32_t, int64_t>, std::vector<ValueId>> ends;  // by group and time
  struct State {
    uint32_t group;
    uint32_t interval;
    bool is_freed;
  };
  std::map<ValueId, State> states;
  std::vector<ValueId> by_end = order;
  StableSort(by_end, {}, [&](ValueId id) { return report().values[id].end; });
  size_t ending = 0;
  const auto free = [&](ValueId id) {
    const auto row = states.find(id);
    if (row == states.end() || std::exchange(row->second.is_freed, true)) return;
    input.groups[row->second.group].intervals[row->second.interval].end = input.end++;
  };
  for (size_t k = 0; k < order.size(); ++k) {
    const ValueId id = order[k];
    const Value& value = report().values[id];
    for (; ending < by_end.size() && report().values[by_end[ending]].end < value.start; ++ending)
      free(by_end[ending]);
    if (sizes_[id.index] == 0) {
      input.empty.push_back(stowplan::ValueId(id.index));
      continue;
    }
    uint32_t& own = group_of[sharers.first[k]];
    if (own == kNoGroup) {
      own = static_cast<uint32_t>(input.groups.size());
      input.groups.push_back({.first = stowplan::ValueId(ranks[id.index]),
                              .first_size = sizes_[id.index],
                              .size = 0,
                              .intervals = {},
                              .values = {}});
    } else if (sharers.takes_over[k] != 0) {
      // Whoever ends now gave its place away.
      for (const ValueId other : ends[{own, value.start}]) free(other);
    }
    HeapGroup& group = input.groups[own];
    ends[{own, value.end}].push_back(id);
    states[id] = {own, static_cast<uint32_t>(group.intervals.size()), false};
    group.size = std::max(group.size, sizes_[id.index]);
    group.intervals.push_back({input.end++, 0});
    group.values.emplace_back(id.index);
  }
  for (; ending < by_end.size(); ++ending) free(by_end[ending]);
  return input;
}

bool Replanner::IsAsInReport(const HeapInput& input, const HeapPlan& plan) const {
  std::map<uint32_t, std::pair<OldId, int64_t>> bases;  // by heap
  for (size_t g = 0; g < input.groups.size(); ++g) {
    for (const stowplan::ValueId id : input.groups[g].values) {
      const Value& value = report().values[ValueId(id.index)];
      const std::pair base(value.allocation, value.offset - plan.spots[g].offset);
      if (bases.try_emplace(plan.spots[g].heap, base).first->second != base) return false;
    }
  }
  return true;
}

void Replanner::Pack(int64_t color, const std::vector<ValueId>& values) {
  if (std::ranges::any_of(values, [&](ValueId id) { return is_guest_[id.index] != 0; })) {
    // Holes are filled buffer by buffer, and a report does not tell its buffers.
    std::map<OldId, Made> heaps;
    for (const ValueId id : values) {
      const Value& value = report().values[id];
      Made& heap = heaps[value.allocation];
      heap.allocation.color = color;
      heap.allocation.size = std::max(heap.allocation.size, value.offset + sizes_[id.index]);
      heap.values.emplace_back(id, value.offset);
    }
    for (auto& [old, heap] : heaps) AddMade(Phase::kHeap, std::move(heap), false);
    result_.taken.emplace_back(
        fmt::format("places in memory space {}, where values of another fill holes", color));
    return;
  }
  const bool sweeps = rules_.order == AssignOrder::kEarliestFirst && (sweeps_ || color != 0) &&
                      rules_.Sweeps(color);
  const int64_t alignment = rules_.AlignmentOf(color);
  HeapInput input;
  HeapPlan plan;
  int64_t unknowns = 0;
  bool is_right = false;
  for (const Handover unknown : {Handover::kTakenOver, Handover::kInPlace}) {
    HeapInput groups = GroupsOf(values, unknown, unknowns);
    const std::vector<uint8_t> is_placed(groups.groups.size(), 0);
    HeapPlan packed = sweeps ? PackTimeSweep(groups, alignment, rules_.heap_limit, is_placed)
                             : PackBestFit(groups, alignment, rules_.heap_limit, is_placed);
    is_right = IsAsInReport(groups, packed);
    if (unknown == Handover::kTakenOver || is_right) {
      input = std::move(groups);
      plan = std::move(packed);
    }
    if (is_right) break;
  }
  if (!is_right) unknown_handovers_ += unknowns;
  std::vector<Made> heaps(plan.sizes.size());
  for (size_t h = 0; h < heaps.size(); ++h)
    heaps[h].allocation = {.size = plan.sizes[h], .color = color};
  for (size_t g = 0; g < input.groups.size(); ++g) {
    for (const stowplan::ValueId value : input.groups[g].values)
      heaps[plan.spots[g].heap].values.emplace_back(value.index, plan.spots[g].offset);
  }
  for (const stowplan::ValueId value : input.empty) heaps[0].values.emplace_back(value.index, 0);
  for (Made& heap : heaps) AddMade(Phase::kHeap, std::move(heap), false);
  result_.derived.emplace_back(
      fmt::format("offsets of {} values in the heap of memory space {}", values.size(), color));
}

namespace {

// What a first plan leaves when the second is not taken.
void KeepOtherSpacesFirst(Assignment& assignment) {
  std::vector<NewId> order;
  order.reserve(assignment.allocations.size());
  for (size_t a = 0; a < assignment.allocations.size(); ++a) order.emplace_back(a);
  std::ranges::stable_partition(order,
                                [&](NewId id) { return assignment.allocations[id].color != 0; });
  Table<NewId, stowplan::Allocation> allocations;
  std::vector<NewId> moved(order.size());
  for (const NewId id : order) {
    moved[id.index] = allocations.next_id();
    allocations.Add(std::move(assignment.allocations[id]));
  }
  assignment.allocations = std::move(allocations);
  for (Place& place : assignment.places) {
    if (!place.allocation.is_none()) place.allocation = moved[place.allocation.index];
  }
}

}  // namespace

std::optional<Diagnostics> Replanner::Rewrite() {
  Assignment assignment = ToAssignment();
  std::map<ValueId, OldId> old_of;  // by the first value of what is no temporary
  for (const Made& made : made_) {
    if (!made.old.is_none() && !made.values.empty()) old_of[made.values[0].first] = made.old;
  }
  CombineTemporaries(assignment, rules_);
  if (attempt_ == Attempt::kKept) KeepOtherSpacesFirst(assignment);
  Table<AllocationId, Allocation> allocations;
  for (size_t a = 0; a < assignment.allocations.size(); ++a) {
    const stowplan::Allocation& from = assignment.allocations[NewId(a)];
    Allocation to;
    for (const stowplan::ValueId value : from.values) {
      if (const auto row = old_of.find(ValueId(value.index)); row != old_of.end())
        to = report().allocations[row->second];
    }
    to.number = static_cast<int64_t>(a);
    to.size = from.size;
    to.color = from.color;
    if (report().dialect.page && !to.page) to.page = 0;
    to.values.clear();
    for (const stowplan::ValueId value : from.values) to.values.emplace_back(value.index);
    std::ranges::sort(to.values, {}, [&](ValueId id) { return report().values[id].number; });
    allocations.Add(std::move(to));
  }
  for (size_t v = 0; v < report().values.size(); ++v) {
    Value& value = report().values[ValueId(v)];
    const Place& place = assignment.places[v];
    if (place.allocation.is_none()) continue;
    const AllocationId id(place.allocation.index);
    if (value.offset != place.offset ||
        report().allocations[value.allocation].number != allocations[id].number) {
      Differs(fmt::format("{} goes to allocation {} at {}, in the report to {} at {}",
                          NameOf(value), allocations[id].number, place.offset,
                          report().allocations[value.allocation].number, value.offset));
    }
    value.allocation = id;
    value.offset = place.offset;
    value.size = place.size;
  }
  CompareSizes(allocations);
  report().allocations = std::move(allocations);
  return std::nullopt;
}

}  // namespace stowplan::report
