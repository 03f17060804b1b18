// SPDX-License-Identifier: Apache-2.0
#include "stowplan/report/replan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "assign/combine.h"
#include "assign/heap.h"
#include "report/shapes.h"
#include "stowplan/report/summary.h"
#include "stowplan/target/size.h"

namespace stowplan::report {
namespace {

using OldId = AllocationId;
using NewId = stowplan::AllocationId;

// The opcode in `%x = f32[2]{0} add(%a, %b)`.
std::string_view OpcodeOf(std::string_view text) {
  size_t at = text.find(" = ");
  if (at == std::string_view::npos) return {};
  // Behind the shape: the first blank outside of brackets.
  int depth = 0;
  for (at += 3; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ' ' && depth == 0) break;
  }
  const size_t end = text.find('(', at);
  return end == std::string_view::npos ? std::string_view() : text.substr(at + 1, end - at - 1);
}

class Replanner {
 public:
  Replanner(Report report, const Rules& rules) : rules_(rules) {
    result_.report = std::move(report);
  }

  Result<Replan> Run() && {
    DeriveSizes();
    DeriveRanges();
    RebuildAllocations();
    Rewrite();
    return std::move(result_);
  }

 private:
  Report& report() { return result_.report; }
  [[nodiscard]] const Report& report() const { return result_.report; }

  void Differs(const std::string& message) {
    Diagnostic difference;
    difference.severity = Severity::kNote;
    if (!report().sources.empty()) difference.file = report().sources[0]->name();
    difference.message = message;
    result_.differences.push_back(std::move(difference));
  }
  static std::string NameOf(const Value& value) {
    return fmt::format("value {} ({})", value.number, value.instruction);
  }

  // A value takes what its shape takes on the target; all values in one place take what the
  // largest does.
  void DeriveSizes() {
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
  }

  // Whether all instructions of the time line are of one computation: what others do is told in
  // none of the report's lines.
  [[nodiscard]] bool IsStraight() const {
    for (const Value& value : report().values.rows()) {
      if (!value.has_range) continue;
      const std::string_view opcode = OpcodeOf(value.instruction_text);
      if (opcode.empty() || opcode == "while" || opcode == "conditional" || opcode == "call" ||
          opcode.starts_with("async-"))
        return false;
      if (opcode == "parameter" &&
          (value.allocation.is_none() || !report().allocations[value.allocation].parameter))
        return false;
    }
    return true;
  }

  void DeriveRanges() {
    if (!IsStraight()) {
      result_.taken.emplace_back(
          "live ranges: the report does not tell which instructions are in which computation");
      return;
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

  // Allocations as they were before temporaries were combined, in the order of their making.
  struct Made {
    stowplan::Allocation allocation;
    OldId old;                                        // none for what temporaries were in
    std::vector<std::pair<ValueId, int64_t>> values;  // and offsets
    // Where it stands in the order.
    std::tuple<int, int64_t, int64_t, bool, int64_t> key;
  };
  enum Phase : int { kPreset, kGlobal, kHeap, kThreadLocal };

  void AddMade(Phase phase, Made made, bool is_live_out) {
    int64_t start = std::numeric_limits<int64_t>::max();
    int64_t number = std::numeric_limits<int64_t>::max();
    for (const auto& [id, offset] : made.values) {
      const Value& value = report().values[id];
      if (value.has_range) start = std::min(start, value.start);
      // The value that the allocation was made for is as large as it.
      if (value.size == made.allocation.size) number = std::min(number, value.number);
    }
    const bool sweeps = rules_.order == AssignOrder::kEarliestFirst;
    const int64_t size = -made.allocation.size;
    if (phase == kThreadLocal && sweeps && rules_.thread_locals_by_number) {
      made.key = {phase, 0, 0, false, number};
    } else if (phase == kHeap) {
      made.key = {phase, made.allocation.color, 0, false, 0};
    } else {
      made.key = {phase, sweeps ? start : 0, size, !is_live_out, number};
    }
    made_.push_back(std::move(made));
  }

  void RebuildAllocations() {
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
      if (old.is_temp() && old.color != rules_.preset_space) {
        SplitTemporaries(id, heaps);
        continue;
      }
      Made row = {.allocation = made, .old = id};
      int64_t largest = 0;
      for (const ValueId value : old.values) {
        row.values.emplace_back(value, report().values[value].offset);
        largest = std::max(largest, sizes_[value.index]);
      }
      if (old.is_temp()) {
        AddMade(kPreset, std::move(row), false);
        continue;
      }
      row.allocation.size = largest;
      // Constants of computations inside of instructions are not on the time line.
      const bool is_inside =
          old.is_constant && !old.values.empty() && !report().values[old.values[0]].has_range;
      AddMade(old.is_thread_local || is_inside ? kThreadLocal : kGlobal, std::move(row),
              old.is_maybe_live_out);
    }
    if (rules_.preset_space >= 0)
      result_.taken.emplace_back(fmt::format("places in memory space {}", rules_.preset_space));
    result_.taken.emplace_back("who shares a place with whom");
    for (const auto& [color, values] : heaps) Pack(color, values);
    std::ranges::stable_sort(made_, {}, &Made::key);
    result_.derived.emplace_back("the order of allocations, and so their numbers");
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
    for (auto& [offset, table] : tables) AddMade(kGlobal, std::move(table), false);
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
    std::map<std::pair<OldId, int64_t>, uint32_t> open;  // by place: the group that is there
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
        for (const stowplan::ValueId other : group.values) {
          if (report().values[ValueId(other.index)].end == value.start) free(ValueId(other.index));
        }
        states[id] = {row->second, static_cast<uint32_t>(group.intervals.size()), false};
        group.size = std::max(group.size, sizes_[id.index]);
        group.intervals.push_back({input.end++, 0});
        group.values.emplace_back(id.index);
        group_ends[row->second] = std::max(group_ends[row->second], value.end);
        continue;
      }
      const auto group = static_cast<uint32_t>(input.groups.size());
      open[place] = group;
      states[id] = {group, 0, false};
      group_ends.push_back(value.end);
      input.groups.push_back({.first = stowplan::ValueId(static_cast<size_t>(value.number)),
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
    const std::vector<uint8_t> is_placed(input.groups.size(), 0);
    const bool sweeps = rules_.order == AssignOrder::kEarliestFirst && rules_.Sweeps(color);
    const int64_t alignment = rules_.AlignmentOf(color);
    const HeapPlan plan = sweeps ? PackTimeSweep(input, alignment, rules_.heap_limit, is_placed)
                                 : PackBestFit(input, alignment, rules_.heap_limit, is_placed);
    Made heap;
    heap.allocation = {.size = plan.size, .color = color};
    for (size_t g = 0; g < input.groups.size(); ++g) {
      for (const stowplan::ValueId value : input.groups[g].values)
        heap.values.emplace_back(value.index, plan.offsets[g]);
    }
    for (const stowplan::ValueId value : input.empty) heap.values.emplace_back(value.index, 0);
    AddMade(kHeap, std::move(heap), false);
    result_.derived.emplace_back(
        fmt::format("offsets of {} values in the heap of memory space {}", values.size(), color));
  }

  // Numbers the allocations as XLA does, and puts them into the report.
  void Rewrite() {
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
    report().allocations = std::move(allocations);
    result_.derived.emplace_back("totals, the usage report and the peak");
  }

  const Rules& rules_;
  Replan result_;
  ShapeTexts shapes_;
  std::vector<int64_t> sizes_;  // by value
  std::vector<Made> made_;
};

}  // namespace

std::optional<Target> FindReportTarget(const Report& report) {
  ShapeTexts shapes;
  std::optional<Target> best;
  size_t fewest = report.values.size() + 1;
  const Backend backend = GuessBackend(report);
  // Fast memory whose places were chosen beforehand shows as a block of its own.
  const auto has_block = [&](int64_t space) {
    return space < 0 ||
           std::ranges::any_of(
               report.allocations.rows(),
               [&](const Allocation& row) { return row.color == space && row.is_temp(); });
  };
  for (const Target& target : Targets()) {
    if (backend != Backend::kUnknown && BackendOfTarget(target.name) != backend) continue;
    size_t wrong = has_block(RulesOf(target).preset_space) ? 0 : 1;
    if (RulesOf(target).preset_space < 0 && BackendOfTarget(target.name) == Backend::kTpu &&
        has_block(1))
      ++wrong;
    for (const Value& value : report.values.rows()) {
      if (value.allocation.is_none()) continue;
      const std::optional<hlo::ShapeId> shape = shapes.Parse(value.shape);
      // In a shared place a value may be given more than it needs, never less.
      const ByteCount size = shape ? ByteSize(shapes.table(), *shape, target)
                                   : ByteCount(std::unexpected(SizeError::kMalformed));
      if (!size || *size != value.size) ++wrong;
    }
    if (wrong < fewest) {
      fewest = wrong;
      best = target;
    }
  }
  return best;
}

Result<Replan> ReplanReport(Report report, const Rules& rules) {
  const std::string file = report.sources.empty() ? std::string() : report.sources[0]->name();
  if (!report.has_assignment || !report.has_value_list || !report.live_ranges ||
      report.live_ranges->sequence.empty()) {
    return Fail(file, "an assignment is made again from all parts of a report",
                "give the -values.txt and the -live-range.txt, too");
  }
  return Replanner(std::move(report), rules).Run();
}

}  // namespace stowplan::report
