// SPDX-License-Identifier: Apache-2.0
// What follows from a report without planning: sizes and live ranges.
#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <tuple>
#include <unordered_set>

#include <fmt/format.h>

#include "assign/combine.h"
#include "base/checked_math.h"
#include "report/replanner.h"
#include "target/size.h"

namespace stowplan::report {
namespace {

// Whether an instruction has a computation of its own whose instructions are on the time line.
bool HasComputation(std::string_view opcode) {
  if (opcode == "while" || opcode == "conditional" || opcode == "call") return true;
  // `fusion-start` is an async-start, written short; these are instructions by themselves.
  return opcode.ends_with("-start") && opcode != "copy-start" && opcode != "all-gather-start" &&
         opcode != "all-reduce-start" && opcode != "collective-permute-start";
}

}  // namespace

std::optional<Diagnostics> Replanner::DeriveSizes() {
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
      .emplace_back(is_complete ? "sizes, from the shapes" : "sizes of shapes that are not known");
  return CheckSum();
}

bool Replanner::IsStraight() const {
  for (const Value& value : report().values.rows()) {
    if (!value.has_range) continue;
    const std::string_view opcode = OpcodeOf(value.instruction_text);
    if (opcode.empty() || HasComputation(opcode)) return false;
    if (opcode == "parameter" &&
        (value.allocation.is_none() || !report().allocations[value.allocation].parameter))
      return false;
  }
  return !HasAsyncComputations() && !HasCalls();
}

// XLA writes `all-reduce-start(...)` also for an async-start whose computation is an all-reduce.
// Such a one does not make its own output: that was born in the computation.
bool Replanner::HasAsyncComputations() const {
  std::unordered_set<std::string_view> starts;
  for (const Value& value : report().values.rows()) {
    const std::string_view opcode = OpcodeOf(value.instruction_text);
    if (opcode.ends_with("-start") && opcode != "copy-start") starts.insert(value.instruction);
  }
  for (const Value& value : report().values.rows()) {
    for (const Position& position : report().positions_of(value)) {
      const std::span<const int64_t> index = report().numbers(position.index);
      if (!index.empty() && index[0] == 1 && position.instruction != value.instruction &&
          starts.contains(position.instruction))
        return true;
    }
  }
  return false;
}

// A call bears no value. It shows where it reads an array that is not seen at it, while another is.
bool Replanner::HasCalls() const {
  std::set<std::string_view> bears;
  std::set<std::string_view> shows;
  for (const Value& value : report().values.rows()) {
    bears.insert(value.instruction);
    for (const Position& position : report().positions_of(value))
      shows.insert(position.instruction);
  }
  for (const Value& value : report().values.rows()) {
    if (!value.has_range || value.index.is_shown) continue;
    for (const Use& use : report().uses_of(value)) {
      // The done of an asynchronous copy reads a part of a tuple.
      if (use.index.is_shown || bears.contains(use.instruction) || !shows.contains(use.instruction))
        continue;
      if (std::ranges::none_of(report().positions_of(value), [&](const Position& position) {
            return position.instruction == use.instruction;
          }))
        return true;
    }
  }
  return false;
}

// Other than copies, which never have a computation.
bool Replanner::HasAsyncOperations() const {
  return std::ranges::any_of(report().values.rows(), [](const Value& value) {
    const std::string_view opcode = OpcodeOf(value.instruction_text);
    return !opcode.starts_with("copy-") &&
           (opcode.ends_with("-start") || opcode.ends_with("-update") || opcode.ends_with("-done"));
  });
}

std::optional<Diagnostics> Replanner::DeriveRanges() {
  const auto take = [&] {
    result_.taken.emplace_back(
        "live ranges: the report does not say which instructions are in which computation");
  };
  is_straight_ = IsStraight();
  if (!is_straight_) {
    take();
    return std::nullopt;
  }
  const std::vector<std::optional<LiveTime>> derived = RangesByUses();
  const auto is_as_said = [&](size_t v) {
    const Value& value = report().values[ValueId(v)];
    return !value.has_range ||
           (derived[v] && derived[v]->start == value.start && derived[v]->end == value.end);
  };
  // An asynchronous operation may have a computation of its own, and nothing need show it.
  if (HasAsyncOperations()) {
    for (size_t v = 0; v < derived.size(); ++v) is_straight_ = is_straight_ && is_as_said(v);
    if (!is_straight_) {
      take();
      return std::nullopt;
    }
  }
  for (size_t v = 0; v < derived.size(); ++v) {
    if (is_as_said(v)) continue;
    Value& value = report().values[ValueId(v)];
    if (!derived[v])
      return Refuse(fmt::format("{} is made by no instruction of the sequence", NameOf(value)));
    Differs(fmt::format("{} is alive {}-{} by its uses, {}-{} by the report", NameOf(value),
                        derived[v]->start, derived[v]->end, value.start, value.end));
    value.start = derived[v]->start;
    value.end = derived[v]->end;
  }
  result_.derived.emplace_back("live ranges, from the sequence, positions and uses");
  return std::nullopt;
}

std::vector<std::optional<Replanner::LiveTime>> Replanner::RangesByUses() const {
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
  std::vector<std::optional<LiveTime>> derived(report().values.size());
  for (size_t v = 0; v < report().values.size(); ++v) {
    const Value& value = report().values[ValueId(v)];
    if (!value.has_range) continue;
    const bool is_parameter = OpcodeOf(value.instruction_text) == "parameter";
    const int64_t start = is_parameter ? 0 : time(value.instruction, false);
    if (start < 0) continue;
    int64_t last = start;
    for (const Position& position : report().positions_of(value))
      last = std::max(last, time(position.instruction, true));
    for (const Use& use : report().uses_of(value))
      last = std::max(last, time(use.instruction, false));
    if (is_parameter && !report().allocations[value.allocation].is_maybe_live_out) last = end;
    derived[v] = {start, last};
  }
  return derived;
}

std::string_view Replanner::FindRoot(
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

}  // namespace stowplan::report
