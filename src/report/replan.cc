// SPDX-License-Identifier: Apache-2.0
#include "stowplan/report/replan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "assign/combine.h"
#include "assign/heap.h"
#include "base/checked_math.h"
#include "report/replan_computations.h"
#include "report/shapes.h"
#include "stowplan/report/derive.h"
#include "stowplan/report/summary.h"
#include "stowplan/report/write.h"
#include "stowplan/target/size.h"

namespace stowplan::report {
namespace {

using OldId = AllocationId;
using NewId = stowplan::AllocationId;

// Whether an instruction has a computation of its own whose instructions are on the time line.
bool HasComputation(std::string_view opcode) {
  if (opcode == "while" || opcode == "conditional" || opcode == "call") return true;
  // `fusion-start` is an async-start, written short; these are instructions by themselves.
  return opcode.ends_with("-start") && opcode != "copy-start" && opcode != "all-gather-start" &&
         opcode != "all-reduce-start" && opcode != "collective-permute-start";
}

// The first line of `a` that is not that of `b`.
std::string_view FirstDifference(std::string_view a, std::string_view b) {
  const auto at = static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  const size_t begin = at == 0 ? 0 : a.rfind('\n', at - 1) + 1;
  return a.substr(begin, a.find('\n', begin) - begin);
}

class Replanner {
 public:
  Replanner(Report report, const Rules& rules) : rules_(rules) {
    result_.report = std::move(report);
  }

  Result<Replan> Run() && {
    const std::string before = Write();
    // Each step relies on what those before it have refused.
    for (const auto step :
         {&Replanner::CheckRanges, &Replanner::DeriveSizes, &Replanner::CheckPlaces,
          &Replanner::DeriveRanges, &Replanner::RebuildAllocations, &Replanner::Rewrite,
          &Replanner::CheckOverlaps}) {
      if (std::optional<Diagnostics> errors = (this->*step)()) {
        return std::unexpected(*std::move(errors));
      }
    }
    CompareFigures();
    // Whatever else may differ: a report without differences is the same, byte for byte.
    if (const std::string after = Write(); result_.differences.empty() && after != before) {
      Differs(fmt::format("`{}` comes out, `{}` is in the report", FirstDifference(after, before),
                          FirstDifference(before, after)));
    }
    return std::move(result_);
  }

 private:
  Report& report() { return result_.report; }
  [[nodiscard]] const Report& report() const { return result_.report; }

  [[nodiscard]] std::string Write() const {
    ReportDialect dialect = report().dialect;
    dialect.separate_files = false;
    return WriteAssignment(report(), dialect);
  }

  void Differs(const std::string& message) {
    Diagnostic difference;
    difference.severity = Severity::kNote;
    difference.file = FileName();
    difference.message = message;
    result_.differences.push_back(std::move(difference));
  }
  [[nodiscard]] std::string FileName() const {
    return report().sources.empty() ? std::string() : report().sources[0]->name();
  }
  [[nodiscard]] Diagnostics Refuse(std::string message) const {
    return Fail(FileName(), std::move(message)).error();
  }
  static std::string ShortNameOf(const Value& value) {
    return fmt::format("{} ({})", value.number, value.instruction);
  }
  static std::string NameOf(const Value& value) { return "value " + ShortNameOf(value); }
  [[nodiscard]] bool IsPreset(const Allocation& allocation) const {
    return allocation.is_temp() && allocation.color == rules_.preset_space;
  }

  // Live ranges lie within the sequence, and whatever is packed has one.
  std::optional<Diagnostics> CheckRanges() {
    const auto end = static_cast<int64_t>(report().live_ranges->sequence.size());
    for (const Value& value : report().values.rows()) {
      if (value.has_range && (value.start < 0 || value.start > value.end || value.end > end)) {
        return Refuse(fmt::format("{} is alive {}-{}, which is no time within 0-{}", NameOf(value),
                                  value.start, value.end, end));
      }
      if (value.has_range || value.allocation.is_none()) continue;
      const Allocation& allocation = report().allocations[value.allocation];
      if (allocation.is_temp() && !IsPreset(allocation))
        return Refuse(fmt::format("{} is a temporary without a live range", NameOf(value)));
    }
    return std::nullopt;
  }

  // A value takes what its shape takes on the target; all values in one place take what the
  // largest does.
  std::optional<Diagnostics> DeriveSizes() {
    sizes_.assign(report().values.size(), 0);
    std::map<std::tuple<OldId, int64_t, int64_t>, int64_t> largest;  // by place
    bool is_complete = true;
    for (size_t v = 0; v < report().values.size(); ++v) {
      const Value& value = report().values[ValueId(v)];
      if (value.allocation.is_none()) continue;
      const std::optional<hlo::ShapeId> shape = shapes_.Parse(value.shape);
      const ByteCount size = shape ? ByteSize(shapes_.table(), *shape, rules_.target)
                                   : ByteCount(std::unexpected(SizeError::kMalformed));
      is_complete &= size.has_value();
      int64_t& most = largest[{value.allocation, value.offset, value.size}];
      most = std::max(most, size.value_or(value.size));
    }
    for (size_t v = 0; v < report().values.size(); ++v) {
      Value& value = report().values[ValueId(v)];
      if (value.allocation.is_none()) continue;
      const int64_t size = largest[{value.allocation, value.offset, value.size}];
      if (size != value.size) {
        Differs(fmt::format("{} takes {} bytes by its shape, {} by the report", NameOf(value), size,
                            value.size));
      }
      sizes_[v] = size;
    }
    (is_complete ? result_.derived : result_.taken)
        .emplace_back(is_complete ? "sizes, from the shapes"
                                  : "sizes of shapes that are not known");
    return CheckSum();
  }

  // Offsets never exceed the sum of everything, aligned; when that fits, no later sum overflows.
  [[nodiscard]] std::optional<Diagnostics> CheckSum() const {
    std::optional<int64_t> sum = 0;
    const auto add = [&](int64_t size, int64_t color) {
      if (sum) sum = CheckedAdd(*sum, 2 * rules_.AlignmentOf(color));
      if (sum) sum = CheckedAdd(*sum, size);
    };
    for (size_t v = 0; v < report().values.size(); ++v) {
      const AllocationId allocation = report().values[ValueId(v)].allocation;
      if (!allocation.is_none()) add(sizes_[v], report().allocations[allocation].color);
    }
    for (const Allocation& allocation : report().allocations.rows()) {
      if (IsPreset(allocation)) add(allocation.size, allocation.color);
    }
    if (sum) return std::nullopt;
    return Refuse("the sizes of all values together do not fit in 64 bits");
  }

  // Places that are taken from the report lie within their allocations.
  std::optional<Diagnostics> CheckPlaces() {
    for (const Allocation& allocation : report().allocations.rows()) {
      if (!allocation.is_temp() && allocation.values.empty())
        return Refuse(fmt::format("allocation {} has no values", allocation.number));
      if (!IsPreset(allocation)) continue;
      for (const ValueId id : allocation.values) {
        const Value& value = report().values[id];
        if (sizes_[id.index] > allocation.size ||
            value.offset > allocation.size - sizes_[id.index]) {
          return Refuse(
              fmt::format("{} lies outside of allocation {}", NameOf(value), allocation.number));
        }
      }
    }
    return std::nullopt;
  }

  // Whether all instructions of the time line are of one computation: what others do is told in
  // none of the report's lines.
  [[nodiscard]] bool IsStraight() const {
    for (const Value& value : report().values.rows()) {
      if (!value.has_range) continue;
      const std::string_view opcode = OpcodeOf(value.instruction_text);
      if (opcode.empty() || HasComputation(opcode)) return false;
      if (opcode == "parameter" &&
          (value.allocation.is_none() || !report().allocations[value.allocation].parameter))
        return false;
    }
    return true;
  }

  std::optional<Diagnostics> DeriveRanges() {
    is_straight_ = IsStraight();
    if (!is_straight_) {
      result_.taken.emplace_back(
          "live ranges: the report does not tell which instructions are in which computation");
      return std::nullopt;
    }
    const LiveRanges& live = *report().live_ranges;
    std::unordered_map<std::string_view, int64_t> times;
    for (size_t t = 0; t < live.sequence.size(); ++t)
      times.emplace(live.sequence[t], static_cast<int64_t>(t));
    const auto end = static_cast<int64_t>(live.sequence.size());
    const std::string_view root = FindRoot(times);
    const auto time = [&](std::string_view name, bool is_position) {
      if (is_position && name == root) return end;
      const auto row = times.find(name);
      return row == times.end() ? int64_t{-1} : row->second;
    };
    for (size_t v = 0; v < report().values.size(); ++v) {
      Value& value = report().values[ValueId(v)];
      if (!value.has_range) continue;
      const bool is_parameter = OpcodeOf(value.instruction_text) == "parameter";
      const int64_t start = is_parameter ? 0 : time(value.instruction, false);
      if (start < 0)
        return Refuse(fmt::format("{} is made by no instruction of the sequence", NameOf(value)));
      int64_t last = start;
      for (const Position& position : report().positions_of(value))
        last = std::max(last, time(position.instruction, true));
      for (const Use& use : report().uses_of(value))
        last = std::max(last, time(use.instruction, false));
      if (is_parameter && !report().allocations[value.allocation].is_maybe_live_out) last = end;
      if (start == value.start && last == value.end) continue;
      Differs(fmt::format("{} is alive {}-{} by its uses, {}-{} by the report", NameOf(value),
                          start, last, value.start, value.end));
      value.start = start;
      value.end = last;
    }
    result_.derived.emplace_back("live ranges, from the sequence, positions and uses");
    return std::nullopt;
  }

  // The instruction that gives the program's result: the last at which that value is seen.
  [[nodiscard]] std::string_view FindRoot(
      const std::unordered_map<std::string_view, int64_t>& times) const {
    std::string_view root;
    int64_t latest = -1;
    for (const Value& value : report().values.rows()) {
      if (value.allocation.is_none() || !report().allocations[value.allocation].output_shape ||
          !value.has_range || value.end != static_cast<int64_t>(times.size()))
        continue;
      for (const Position& position : report().positions_of(value)) {
        const auto row = times.find(position.instruction);
        if (row == times.end() || row->second <= latest || position.index.numbers.count != 0)
          continue;
        latest = row->second;
        root = position.instruction;
      }
    }
    return root;
  }

  [[nodiscard]] bool IsTuple(const Value& value) const { return value.shape.starts_with('('); }

  enum class Phase : uint8_t { kPreset, kGlobal, kHeap, kThreadLocal };
  // Among equals: the entry first, then other computations in the reverse order of their numbers.
  struct Rank {
    int64_t computation = 0;
    int64_t number = 0;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };
  // Where an allocation stands in the order of making.
  struct OrderKey {
    Phase phase = Phase::kPreset;
    int64_t time_or_color = 0;  // of heaps the color
    int64_t minus_size = 0;     // the largest first
    bool is_not_live_out = false;
    Rank rank;
    friend auto operator<=>(const OrderKey&, const OrderKey&) = default;
  };
  // Allocations as they were before temporaries were combined, in the order of their making.
  struct Made {
    stowplan::Allocation allocation;
    OldId old;                                        // none for what temporaries were in
    std::vector<std::pair<ValueId, int64_t>> values;  // and offsets
    OrderKey key;
  };

  Rank RankOf(Phase phase, const Value& value) {
    const bool is_told = report().dialect.from_instruction != FromInstruction::kAbsent;
    if (phase != Phase::kGlobal || rules_.order == AssignOrder::kEarliestFirst || is_straight_ ||
        !is_told)
      return {0, value.number};
    if (!computations_) computations_.emplace(report());
    return {computations_->FromLast(value.instruction), value.number};
  }

  void AddMade(Phase phase, Made made, bool is_live_out) {
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
    if (is_live_out && !made.allocation.parameter && result_rank.number != kNever)
      rank = result_rank;
    const bool sweeps = rules_.order == AssignOrder::kEarliestFirst;
    made.key.phase = phase;
    if (phase == Phase::kThreadLocal && sweeps && rules_.thread_locals_by_number) {
      made.key.rank = rank;
    } else if (phase == Phase::kHeap) {
      made.key.time_or_color = made.allocation.color;
    } else {
      made.key = {.phase = phase,
                  .time_or_color = sweeps ? start : 0,
                  .minus_size = -made.allocation.size,
                  .is_not_live_out = !is_live_out,
                  .rank = rank};
    }
    made_.push_back(std::move(made));
  }

  std::optional<Diagnostics> RebuildAllocations() {
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
      // Constants of computations inside of instructions are not on the time line.
      const bool is_inside =
          old.is_constant && !old.values.empty() && !report().values[old.values[0]].has_range;
      AddMade(old.is_thread_local || is_inside ? Phase::kThreadLocal : Phase::kGlobal,
              std::move(row), old.is_maybe_live_out);
    }
    if (rules_.preset_space >= 0)
      result_.taken.emplace_back(fmt::format("places in memory space {}", rules_.preset_space));
    result_.taken.emplace_back("who shares a place with whom");
    for (const auto& [color, values] : heaps) Pack(color, values);
    std::ranges::stable_sort(made_, {}, &Made::key);
    result_.derived.emplace_back("the order of allocations, and so their numbers");
    return std::nullopt;
  }

  // Tables of tuples have allocations of their own until temporaries are combined; the rest is in
  // the heap of its memory space.
  void SplitTemporaries(OldId id, std::map<int64_t, std::vector<ValueId>>& heaps) {
    const Allocation& old = report().allocations[id];
    std::map<int64_t, Made> tables;  // by offset
    for (const ValueId v : old.values) {
      const Value& value = report().values[v];
      if (!IsTuple(value)) {
        heaps[old.color].push_back(v);
        continue;
      }
      Made& table = tables[value.offset];
      table.allocation.size = std::max(table.allocation.size, sizes_[v.index]);
      table.allocation.color = old.color;
      table.allocation.is_tuple = true;
      table.values.emplace_back(v, 0);
    }
    for (auto& [offset, table] : tables) AddMade(Phase::kGlobal, std::move(table), false);
  }

  // Values at one place of which each begins when the one before it ends have taken it over from
  // each other; otherwise they only met there.
  HeapInput GroupsOf(const std::vector<ValueId>& values) {
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
    std::map<std::pair<OldId, int64_t>, uint32_t> open;  // by place: the group that is there
    std::map<std::pair<uint32_t, int64_t>, std::vector<ValueId>> ends;  // by group and time
    struct State {
      uint32_t group;
      uint32_t interval;
      bool is_freed;
    };
    std::map<ValueId, State> states;
    std::vector<ValueId> by_end = order;
    std::ranges::stable_sort(by_end, {}, [&](ValueId id) { return report().values[id].end; });
    size_t ending = 0;
    const auto free = [&](ValueId id) {
      const auto row = states.find(id);
      if (row == states.end() || std::exchange(row->second.is_freed, true)) return;
      input.groups[row->second.group].intervals[row->second.interval].end = input.end++;
    };
    std::vector<int64_t> group_ends;
    for (const ValueId id : order) {
      const Value& value = report().values[id];
      for (; ending < by_end.size() && report().values[by_end[ending]].end < value.start; ++ending)
        free(by_end[ending]);
      if (sizes_[id.index] == 0) {
        input.empty.push_back(stowplan::ValueId(id.index));
        continue;
      }
      const std::pair place(value.allocation, value.offset);
      const auto row = open.find(place);
      if (row != open.end() && group_ends[row->second] >= value.start) {
        HeapGroup& group = input.groups[row->second];
        // Whoever ends now gave its place away.
        for (const ValueId other : ends[{row->second, value.start}]) free(other);
        ends[{row->second, value.end}].push_back(id);
        states[id] = {row->second, static_cast<uint32_t>(group.intervals.size()), false};
        group.size = std::max(group.size, sizes_[id.index]);
        group.intervals.push_back({input.end++, 0});
        group.values.emplace_back(id.index);
        group_ends[row->second] = std::max(group_ends[row->second], value.end);
        continue;
      }
      const auto group = static_cast<uint32_t>(input.groups.size());
      open[place] = group;
      ends[{group, value.end}].push_back(id);
      states[id] = {group, 0, false};
      group_ends.push_back(value.end);
      input.groups.push_back({.first = stowplan::ValueId(ranks[id.index]),
                              .first_size = sizes_[id.index],
                              .size = sizes_[id.index],
                              .intervals = {{input.end++, 0}},
                              .values = {stowplan::ValueId(id.index)}});
    }
    for (; ending < by_end.size(); ++ending) free(by_end[ending]);
    return input;
  }

  void Pack(int64_t color, const std::vector<ValueId>& values) {
    const HeapInput input = GroupsOf(values);
    std::vector<uint8_t> is_placed(input.groups.size(), 0);
    const bool sweeps = rules_.order == AssignOrder::kEarliestFirst && rules_.Sweeps(color);
    const int64_t alignment = rules_.AlignmentOf(color);
    size_t left = input.groups.size();
    bool is_first = true;
    // A heap that has reached the limit is followed by another.
    do {
      const HeapPlan plan = sweeps ? PackTimeSweep(input, alignment, rules_.heap_limit, is_placed)
                                   : PackBestFit(input, alignment, rules_.heap_limit, is_placed);
      Made heap;
      heap.allocation = {.size = plan.size, .color = color};
      for (size_t g = 0; g < input.groups.size(); ++g) {
        if (is_placed[g] != 0 || plan.offsets[g] == HeapPlan::kUnplaced) continue;
        is_placed[g] = 1;
        --left;
        for (const stowplan::ValueId value : input.groups[g].values)
          heap.values.emplace_back(value.index, plan.offsets[g]);
      }
      if (std::exchange(is_first, false)) {
        for (const stowplan::ValueId value : input.empty) heap.values.emplace_back(value.index, 0);
      }
      AddMade(Phase::kHeap, std::move(heap), false);
    } while (left != 0);
    result_.derived.emplace_back(
        fmt::format("offsets of {} values in the heap of memory space {}", values.size(), color));
  }

  // Numbers the allocations as XLA does, and puts them into the report.
  std::optional<Diagnostics> Rewrite() {
    Assignment assignment;
    assignment.places.resize(report().values.size());
    for (const Made& made : made_) {
      const NewId id = assignment.allocations.Add(made.allocation);
      for (const auto& [value, offset] : made.values) {
        assignment.places[value.index] = {id, offset, sizes_[value.index]};
        // The report's row stands for the value; rows are sorted by number below.
        assignment.allocations[id].values.emplace_back(value.index);
      }
    }
    std::map<ValueId, OldId> old_of;  // by the first value of what is no temporary
    for (const Made& made : made_) {
      if (!made.old.is_none() && !made.values.empty()) old_of[made.values[0].first] = made.old;
    }
    CombineTemporaries(assignment, rules_);
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

  // Keeps of the report's temporaries what is not derived, and tells whose size differs.
  void CompareSizes(Table<AllocationId, Allocation>& allocations) {
    std::map<int64_t, const Allocation*> olds;  // by number
    for (const Allocation& old : report().allocations.rows()) olds.emplace(old.number, &old);
    for (size_t a = 0; a < allocations.size(); ++a) {
      Allocation& made = allocations[AllocationId(a)];
      const auto row = olds.find(made.number);
      if (row == olds.end()) {
        Differs(fmt::format("there is an allocation {}, in the report there is none", made.number));
        continue;
      }
      const Allocation& old = *row->second;
      if (made.size != old.size) {
        Differs(fmt::format("allocation {} takes {} bytes, {} by the report", made.number,
                            made.size, old.size));
      }
      if (made.is_temp() && old.is_temp() && made.color == old.color) {
        made.address = old.address;
        made.page = old.page;
        made.other_colors = old.other_colors;
      }
    }
    if (allocations.size() != report().allocations.size()) {
      Differs(fmt::format("there are {} allocations, {} by the report", allocations.size(),
                          report().allocations.size()));
    }
  }

  // No two values have the same bytes while both are alive. What one leaves at a time, another may
  // take at that time.
  std::optional<Diagnostics> CheckOverlaps() {
    Diagnostics found;
    for (const Allocation& allocation : report().allocations.rows()) {
      if (!allocation.is_thread_local && !IsPreset(allocation)) FindOverlaps(allocation, found);
    }
    if (found.empty()) return std::nullopt;
    if (found.size() > kMaxErrors) found.resize(kMaxErrors);
    return found;
  }

  void FindOverlaps(const Allocation& allocation, Diagnostics& found) const {
    struct Event {
      int64_t time = 0;
      bool is_begin = false;  // at one time, ends come first
      ValueId value;
      auto operator<=>(const Event&) const = default;
    };
    std::vector<Event> events;
    for (const ValueId id : allocation.values) {
      const Value& value = report().values[id];
      if (!value.has_range || value.size == 0 || value.start == value.end) continue;
      events.push_back({value.start, true, id});
      events.push_back({value.end, false, id});
    }
    std::ranges::sort(events);
    std::map<int64_t, ValueId> alive;  // by offset; they are apart
    for (const Event& event : events) {
      const Value& value = report().values[event.value];
      if (!event.is_begin) {
        const auto row = alive.find(value.offset);
        if (row != alive.end() && row->second == event.value) alive.erase(row);
        continue;
      }
      const auto next = alive.lower_bound(value.offset);
      ValueId other;
      if (next != alive.end() && next->first - value.offset < value.size) {
        other = next->second;
      } else if (next != alive.begin()) {
        const Value& before = report().values[std::prev(next)->second];
        if (value.offset - before.offset < before.size) other = std::prev(next)->second;
      }
      if (other.is_none()) {
        alive.emplace(value.offset, event.value);
        continue;
      }
      const std::string message = fmt::format(
          "the report's values {} and {} are alive at the same time, and share bytes of "
          "allocation {}",
          ShortNameOf(report().values[other]), ShortNameOf(value), allocation.number);
      found.push_back(std::move(Refuse(message)[0]));
    }
  }

  void CompareFigures() {
    const int64_t total = TotalBytes(report());
    if (report().said_total && *report().said_total != total) {
      Differs(fmt::format("all allocations take {} bytes, {} by the report", total,
                          *report().said_total));
    }
    result_.derived.emplace_back("the total");
    const LiveRanges& live = *report().live_ranges;
    if (live.has_tree) result_.taken.emplace_back("the stack trace breakdown");
    if (live.is_unbounded || !live.peak_time) return;
    const std::optional<XlaPeak> peak =
        ComputeXlaPeak(report(), ComputePlainSizes(report()), report().dialect.peak_line);
    if (!peak) {
      result_.taken.emplace_back("the peak: not all shapes are known");
      return;
    }
    const auto sum = [](const std::vector<PeakRow>& rows) {
      int64_t bytes = 0;
      for (const PeakRow& row : rows) bytes = SaturatingAdd(bytes, row.bytes);
      return bytes;
    };
    if (peak->time != *live.peak_time || sum(peak->rows) != sum(live.peak)) {
      Differs(fmt::format("the peak is {} bytes at {}, by the report {} at {}", sum(peak->rows),
                          peak->time, sum(live.peak), *live.peak_time));
    }
    result_.derived.emplace_back("the peak");
  }

  const Rules& rules_;
  Replan result_;
  ShapeTexts shapes_;
  std::vector<int64_t> sizes_;  // by value
  std::vector<Made> made_;
  bool is_straight_ = true;
  std::optional<Computations> computations_;
};

}  // namespace

namespace {

// Whether the sizes of a report are those of a target. Values in one place are given what the
// largest of them takes: none takes more, and one takes as much. A shape that has no known size
// says nothing.
bool FitsSizes(const Report& report, const Target& target, ShapeTexts& shapes) {
  struct Fit {
    bool is_exact = false;
    bool is_known = true;
  };
  std::map<std::tuple<AllocationId, int64_t, int64_t>, Fit> places;
  for (const Value& value : report.values.rows()) {
    if (value.allocation.is_none()) continue;
    Fit& fit = places[{value.allocation, value.offset, value.size}];
    const std::optional<hlo::ShapeId> shape = shapes.Parse(value.shape);
    const ByteCount size = shape ? ByteSize(shapes.table(), *shape, target)
                                 : ByteCount(std::unexpected(SizeError::kMalformed));
    if (size && *size > value.size) return false;
    fit.is_known = fit.is_known && size.has_value();
    fit.is_exact = fit.is_exact || (size && *size == value.size);
  }
  return std::ranges::all_of(
      places, [](const auto& row) { return row.second.is_exact || !row.second.is_known; });
}

}  // namespace

std::optional<Target> FindReportTarget(const Report& report) {
  ShapeTexts shapes;
  const Backend backend = GuessBackend(report);
  // Fast memory whose places were chosen beforehand shows as a block of its own.
  const auto has_block = [&](int64_t space) {
    return std::ranges::any_of(report.allocations.rows(), [&](const Allocation& row) {
      return row.color == space && row.is_temp();
    });
  };
  // Of those that fit, the first whose fast memory is as the report has it.
  std::optional<Target> found;
  for (const Target& target : Targets()) {
    const Backend own = BackendOfTarget(target.name);
    if (backend != Backend::kUnknown && own != backend) continue;
    if (!FitsSizes(report, target, shapes)) continue;
    const int64_t space = RulesOf(target).preset_space;
    const bool fits_memory = space >= 0 ? has_block(space) : own != Backend::kTpu || !has_block(1);
    if (fits_memory) return target;
    if (!found) found = target;
  }
  return found;
}

Result<Replan> ReplanReport(Report report, const Rules& rules) {
  const std::string file = report.sources.empty() ? std::string() : report.sources[0]->name();
  const auto lacks = [&](std::string_view part, std::string_view hint) {
    return Fail(file,
                fmt::format("to plan again, a report must have {}, and there is none here", part),
                std::string(hint));
  };
  constexpr std::string_view kFromProgram = "`stowplan assign` plans from the program instead";
  const bool is_apart = report.dialect.separate_files;
  if (!report.has_assignment)
    return lacks("a buffer assignment", "give the -buffer-assignment.txt, too");
  if (!report.has_value_list) {
    return lacks("a value list", is_apart ? "give the -buffer-assignment-values.txt, too; before "
                                            "2026-04 the list is in the same file"
                                          : kFromProgram);
  }
  if (!report.live_ranges && is_apart) {
    return lacks("live ranges", "give the -live-range.txt, too");
  }
  if (!report.live_ranges) {
    return lacks("live ranges",
                 "XLA wrote none before TensorFlow 2.6; `stowplan assign` plans from the program");
  }
  if (report.live_ranges->is_unavailable || report.live_ranges->sequence.empty())
    return lacks("an instruction sequence", kFromProgram);
  return Replanner(std::move(report), rules).Run();
}

}  // namespace stowplan::report
