// SPDX-License-Identifier: Apache-2.0
#include "mutate/mutations.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace stowplan::mutate {
namespace {

using hlo::CompId;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;
using report::AllocationId;
using report::Report;
using report::Value;
using report::ValueId;
using Undo = std::optional<std::function<void()>>;

// Values that have a place and some size.
std::vector<ValueId> Placed(const Report& report, bool wants_constants) {
  std::vector<ValueId> values;
  for (size_t v = 0; v < report.values.size(); ++v) {
    const Value& value = report.values[ValueId(v)];
    if (value.allocation.is_none() || value.size == 0) continue;
    const report::Allocation& allocation = report.allocations[value.allocation];
    if (allocation.is_thread_local || allocation.is_constant != wants_constants) continue;
    values.push_back(ValueId(v));
  }
  return values;
}

// Where values begin and end is where things happen; sometimes somewhere else.
int64_t PickOffset(Chance& chance, const Report& report, const report::Allocation& allocation,
                   int64_t size) {
  if (!allocation.values.empty() && chance.Pick(4) != 0) {
    const Value& other = report.values[allocation.values[chance.Pick(allocation.values.size())]];
    return chance.Pick(3) != 0 ? other.offset : other.offset + other.size;
  }
  const int64_t room = std::max<int64_t>(1, (allocation.size - size) / 64 + 1);
  return static_cast<int64_t>(chance.Pick(static_cast<size_t>(room))) * 64;
}

Undo Move(Chance& chance, Report& report) {
  const std::vector<ValueId> values = Placed(report, false);
  if (values.empty()) return std::nullopt;
  Value& value = report.values[values[chance.Pick(values.size())]];
  const report::Allocation& allocation = report.allocations[value.allocation];
  const int64_t old = value.offset;
  value.offset = PickOffset(chance, report, allocation, value.size);
  if (value.offset == old) return std::nullopt;
  return [&value, old] { value.offset = old; };
}

Undo MoveTogether(Chance& chance, Report& report) {
  const std::vector<ValueId> values = Placed(report, false);
  if (values.empty()) return std::nullopt;
  const Value first = report.values[values[chance.Pick(values.size())]];
  const int64_t to = PickOffset(chance, report, report.allocations[first.allocation], first.size);
  if (to == first.offset) return std::nullopt;
  std::vector<Value*> moved;
  for (const ValueId id : report.allocations[first.allocation].values) {
    Value& value = report.values[id];
    if (value.offset == first.offset) moved.push_back(&value);
  }
  for (Value* value : moved) value->offset = to;
  return [moved, old = first.offset] {
    for (Value* value : moved) value->offset = old;
  };
}

Undo Shrink(Chance& chance, Report& report) {
  if (report.allocations.empty()) return std::nullopt;
  report::Allocation& allocation =
      report.allocations[AllocationId(chance.Pick(report.allocations.size()))];
  if (allocation.size == 0) return std::nullopt;
  const int64_t old = allocation.size;
  const int64_t steps[] = {1, 8, 64, old / 2 + 1, old};
  allocation.size = std::max<int64_t>(0, old - steps[chance.Pick(std::size(steps))]);
  return [&allocation, old] { allocation.size = old; };
}

Undo Swap(Chance& chance, Report& report) {
  const std::vector<ValueId> values = Placed(report, false);
  if (values.empty()) return std::nullopt;
  Value& a = report.values[values[chance.Pick(values.size())]];
  std::vector<ValueId> others;
  const bool anywhere = chance.Pick(3) == 0;
  for (const ValueId id : values) {
    if (&report.values[id] != &a && (anywhere || report.values[id].allocation == a.allocation))
      others.push_back(id);
  }
  if (others.empty()) return std::nullopt;
  Value& b = report.values[others[chance.Pick(others.size())]];
  const auto swap = [&a, &b] {
    std::swap(a.offset, b.offset);
    std::swap(a.allocation, b.allocation);
  };
  swap();
  return swap;
}

Undo Shorten(Chance& chance, Report& report) {
  std::vector<ValueId> values;
  for (size_t v = 0; v < report.values.size(); ++v) {
    const Value& value = report.values[ValueId(v)];
    if (value.has_range && value.start < value.end) values.push_back(ValueId(v));
  }
  if (values.empty()) return std::nullopt;
  Value& value = report.values[values[chance.Pick(values.size())]];
  const int64_t old = value.end;
  --value.end;
  return [&value, old] { value.end = old; };
}

Undo DropAlias(Chance& chance, Module& module) {
  std::vector<hlo::InputOutputAlias>& aliases = module.header.aliases;
  if (aliases.empty()) return std::nullopt;
  const std::vector<hlo::InputOutputAlias> old = aliases;
  aliases.erase(aliases.begin() + static_cast<std::ptrdiff_t>(chance.Pick(aliases.size())));
  return [&aliases, old] { aliases = old; };
}

Undo AddAlias(Chance& chance, Module& module) {
  const std::span<const InstrId> parameters = module.parameters_of(module.entry);
  const hlo::ShapeId result = module.instructions[module.computations[module.entry].root].shape;
  if (parameters.empty()) return std::nullopt;
  hlo::InputOutputAlias alias;
  alias.parameter = static_cast<int64_t>(chance.Pick(parameters.size()));
  const hlo::ShapeId shape =
      module.instructions[parameters[static_cast<size_t>(alias.parameter)]].shape;
  const auto pick = [&](hlo::ShapeId tuple, hlo::ShapeIndex& index) {
    if (!module.shapes.is_tuple(tuple)) return true;
    const size_t count = module.shapes.elements(tuple).size();
    if (count == 0) return false;
    index.push_back(static_cast<int64_t>(chance.Pick(count)));
    return !module.shapes.is_tuple(module.shapes.elements(tuple)[static_cast<size_t>(index[0])]);
  };
  if (!pick(shape, alias.parameter_index) || !pick(result, alias.output_index)) return std::nullopt;
  std::vector<hlo::InputOutputAlias>& aliases = module.header.aliases;
  if (std::ranges::find(aliases, alias) != aliases.end()) return std::nullopt;
  aliases.push_back(alias);
  return [&aliases] { aliases.pop_back(); };
}

Undo Reorder(Chance& chance, Module& module) {
  const CompId id(chance.Pick(module.computations.size()));
  const Range schedule = module.computations[id].schedule;
  if (schedule.count < 2) return std::nullopt;
  const size_t at = schedule.begin + chance.Pick(schedule.count - 1);
  InstrId& a = module.instruction_pool[at];
  InstrId& b = module.instruction_pool[at + 1];
  const auto is_parameter = [&](InstrId i) {
    return module.instructions[i].opcode == Opcode::kParameter;
  };
  if (is_parameter(a) || is_parameter(b)) return std::nullopt;
  std::swap(a, b);
  return [&a, &b] { std::swap(a, b); };
}

Undo NoCopy(Chance& chance, Module& module, Report& report) {
  std::vector<ValueId> copies;
  std::map<std::string_view, InstrId> names;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstrId id(i);
    const hlo::Instruction& row = module.instructions[id];
    if (row.opcode == Opcode::kCopy && !module.shapes.is_tuple(row.shape) &&
        module.instructions[module.operands_of(id)[0]].shape == row.shape)
      names.emplace(module.name(id), id);
  }
  for (const ValueId id : Placed(report, false)) {
    if (names.contains(report.values[id].instruction)) copies.push_back(id);
  }
  if (copies.empty()) return std::nullopt;
  Value& value = report.values[copies[chance.Pick(copies.size())]];
  hlo::Instruction& copy = module.instructions[names.at(value.instruction)];
  const AllocationId old = value.allocation;
  value.allocation = {};
  copy.opcode = Opcode::kBitcast;
  return [&value, &copy, old] {
    value.allocation = old;
    copy.opcode = Opcode::kCopy;
  };
}

Undo Color(Chance& chance, Report& report) {
  std::vector<AllocationId> rows;
  for (size_t a = 0; a < report.allocations.size(); ++a) {
    if (!report.allocations[AllocationId(a)].is_thread_local) rows.push_back(AllocationId(a));
  }
  if (rows.empty()) return std::nullopt;
  report::Allocation& allocation = report.allocations[rows[chance.Pick(rows.size())]];
  const int64_t old = allocation.color;
  allocation.color = old == 0 ? 1 : 0;
  return [&allocation, old] { allocation.color = old; };
}

Undo Constants(Chance& chance, Report& report) {
  const std::vector<ValueId> values = Placed(report, true);
  if (values.size() < 2) return std::nullopt;
  Value& a = report.values[values[chance.Pick(values.size())]];
  const Value& b = report.values[values[chance.Pick(values.size())]];
  if (&a == &b || a.allocation == b.allocation || report.allocations[b.allocation].size < a.size)
    return std::nullopt;
  const AllocationId old = a.allocation;
  a.allocation = b.allocation;
  return [&a, old] { a.allocation = old; };
}

}  // namespace

std::string_view Name(Kind kind) {
  switch (kind) {
    case Kind::kMove:
      return "move a value";
    case Kind::kMoveTogether:
      return "move a place";
    case Kind::kShrink:
      return "shrink an allocation";
    case Kind::kSwap:
      return "swap two values";
    case Kind::kShorten:
      return "shorten a range";
    case Kind::kDropAlias:
      return "drop a donation";
    case Kind::kAddAlias:
      return "add an alias";
    case Kind::kReorder:
      return "reorder";
    case Kind::kNoCopy:
      return "copy to bitcast";
    case Kind::kColor:
      return "change a color";
    case Kind::kConstants:
      return "overlap constants";
  }
  return {};
}

namespace {

Undo Change(Kind kind, Chance& chance, Module& module, Report& report) {
  switch (kind) {
    case Kind::kMove:
      return Move(chance, report);
    case Kind::kMoveTogether:
      return MoveTogether(chance, report);
    case Kind::kShrink:
      return Shrink(chance, report);
    case Kind::kSwap:
      return Swap(chance, report);
    case Kind::kShorten:
      return Shorten(chance, report);
    case Kind::kDropAlias:
      return DropAlias(chance, module);
    case Kind::kAddAlias:
      return AddAlias(chance, module);
    case Kind::kReorder:
      return Reorder(chance, module);
    case Kind::kNoCopy:
      return NoCopy(chance, module, report);
    case Kind::kColor:
      return Color(chance, report);
    case Kind::kConstants:
      return Constants(chance, report);
  }
  return std::nullopt;
}

// Values by name and place.
std::vector<std::string> PlacesOf(const Report& report) {
  std::vector<std::string> places;
  for (const Value& value : report.values.rows()) {
    std::string text(value.instruction);
    for (const int64_t k : report.numbers(value.index)) text += "." + std::to_string(k);
    text += " in " + std::to_string(static_cast<int32_t>(value.allocation.index)) + " at " +
            std::to_string(value.offset) + " of " + std::to_string(value.size);
    places.push_back(std::move(text));
  }
  return places;
}

}  // namespace

Undo Mutate(Kind kind, Chance& chance, Module& module, Report& report, std::string& words) {
  const std::vector<std::string> before =
      std::getenv("STOWPLAN_SHOW") == nullptr ? std::vector<std::string>() : PlacesOf(report);
  Undo undo = Change(kind, chance, module, report);
  words.clear();
  if (before.empty()) return undo;
  const std::vector<std::string> after = PlacesOf(report);
  for (size_t v = 0; v < after.size(); ++v) {
    if (before[v] != after[v]) words += "  " + before[v] + " -> " + after[v] + "\n";
  }
  return undo;
}

}  // namespace stowplan::mutate
