// SPDX-License-Identifier: Apache-2.0
#include "repack/slots.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "repack/changed.h"

namespace stowplan::repack {
namespace {

using executable::Slice;

Slice PlaceOf(const report::Report& report, const report::Value& value) {
  return {report.allocations[value.allocation].number, value.offset, value.size};
}

bool Meets(const Slice& a, const Slice& b) {
  return a.allocation == b.allocation && a.offset < b.offset + b.size &&
         b.offset < a.offset + a.size;
}

bool Covers(const Slice& place, const Slice& slice) {
  return place.allocation == slice.allocation && place.offset <= slice.offset &&
         slice.offset + slice.size <= place.offset + place.size;
}

}  // namespace

std::optional<std::string> FindOtherPlace(const report::Report& report,
                                          const executable::Assignment& assignment) {
  if (report.allocations.size() != assignment.allocations.size()) {
    return fmt::format("{} allocations instead of {}", assignment.allocations.size(),
                       report.allocations.size());
  }
  for (const report::Allocation& allocation : report.allocations.rows()) {
    const auto index = static_cast<size_t>(allocation.number);
    if (index >= assignment.allocations.size() ||
        assignment.allocations[index].size != allocation.size) {
      return fmt::format("allocation {} is not of {} bytes", allocation.number, allocation.size);
    }
  }
  size_t count = 0;
  for (const report::Value& value : report.values.rows()) {
    if (value.allocation.is_none()) continue;
    ++count;
    const auto place = assignment.places.find(value.number);
    if (place == assignment.places.end() || place->second != PlaceOf(report, value))
      return fmt::format("`{}` lies elsewhere", value.instruction);
  }
  if (count != assignment.places.size()) return "it has other values";
  return std::nullopt;
}

SlotResolver::SlotResolver(const PlannedModule& planned) : report_(*planned.report) {
  for (uint32_t row = 0; row < report_.values.size(); ++row) {
    const report::Value& value = report_.values[report::ValueId(row)];
    if (value.allocation.is_none()) continue;
    for (const report::Use& use : report_.uses_of(value)) read_[use.instruction].push_back(row);
  }
  const hlo::Module& module = *planned.module;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const hlo::InstrId id(i);
    read_[module.name(id)];
    if (module.instructions[id].opcode == hlo::Opcode::kTuple) tuples_.insert(module.name(id));
  }
  FindMadeInside(module);
}

// A kernel that a whole computation was compiled into declares everything as read that is read in
// it, also what it made itself. What lay there before does not matter, unless an operand did.
void SlotResolver::FindMadeInside(const hlo::Module& module) {
  std::unordered_map<std::string_view, std::vector<uint32_t>> rows;  // by instruction
  for (uint32_t row = 0; row < report_.values.size(); ++row) {
    const report::Value& value = report_.values[report::ValueId(row)];
    if (!value.allocation.is_none()) rows[value.instruction].push_back(row);
  }
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const hlo::InstrId id(i);
    if (module.instructions[id].opcode != hlo::Opcode::kCall) continue;
    const std::span<const hlo::CompId> called = module.called_by(id);
    for (const hlo::CompId inner : WithCallees(module, {called.begin(), called.end()})) {
      for (const hlo::InstrId made : module.schedule_of(inner)) {
        if (module.instructions[made].opcode == hlo::Opcode::kConstant) continue;
        const auto found = rows.find(module.name(made));
        if (found == rows.end()) continue;
        std::vector<uint32_t>& inside = made_inside_[module.name(id)];
        inside.insert(inside.end(), found->second.begin(), found->second.end());
      }
    }
  }
}

bool SlotResolver::IsMadeInside(const executable::Thunk& thunk, const Slice& slice) const {
  if (thunk.sequences.count != 0) return false;
  const auto inside = made_inside_.find(thunk.name);
  return inside != made_inside_.end() && std::ranges::any_of(inside->second, [&](uint32_t row) {
           return Covers(PlaceOf(report_, report_.values[report::ValueId(row)]), slice);
         });
}

std::vector<bool> SlotResolver::FindReads(const executable::Program& program) const {
  std::unordered_set<std::string_view> running;
  for (const executable::Thunk& thunk : program.thunks) running.insert(thunk.name);
  // A tuple's table of pointers that no thunk fills holds nothing that anyone could rely on.
  const auto is_empty_table = [&](const report::Value& value) {
    return tuples_.contains(value.instruction) && !running.contains(value.instruction);
  };
  std::unordered_map<std::string_view, std::vector<Slice>> begun;
  std::vector<bool> out(program.slots.size());
  for (const executable::Thunk& thunk : program.thunks) {
    const auto instruction = read_.find(thunk.name);
    const bool is_known = instruction != read_.end();
    std::vector<Slice> held = begun[thunk.name];
    if (is_known) {
      for (const uint32_t row : instruction->second) {
        const report::Value& value = report_.values[report::ValueId(row)];
        if (!is_empty_table(value)) held.push_back(PlaceOf(report_, value));
      }
    }
    // What has a slot of its own is read there, also if it lies inside of a larger one.
    const auto is_read_elsewhere = [&](const Slice& place, const Slice& slice) {
      return place != slice &&
             std::ranges::any_of(program.slots_of(thunk), [&](const executable::Slot& slot) {
               return slot.slice == place && slot.access != executable::Access::kWrite;
             });
    };
    for (uint32_t i = thunk.slots.begin; i < thunk.slots.begin + thunk.slots.count; ++i) {
      const executable::Slot& slot = program.slots[i];
      const bool is_sure =
          (slot.access == executable::Access::kRead && !IsMadeInside(thunk, slot.slice)) ||
          slot.access == executable::Access::kUpdate;
      const bool is_possible = slot.access != executable::Access::kWrite && !is_sure;
      out[i] =
          is_sure || (is_possible && (!is_known || std::ranges::any_of(held, [&](const Slice& s) {
                        return Meets(s, slot.slice) && !is_read_elsewhere(s, slot.slice);
                      })));
      if (IsWritten(slot.access)) begun[thunk.name].push_back(slot.slice);
    }
  }
  return out;
}

}  // namespace stowplan::repack
