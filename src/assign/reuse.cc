// SPDX-License-Identifier: Apache-2.0
// Buffers that move into an allocation that exists: an operand's, or one that the program's result
// will lie in later.
#include <algorithm>
#include <set>
#include <tuple>

#include "assign/assigner.h"

namespace stowplan {

using hlo::InstrId;
using hlo::Opcode;

bool Assigner::ReuseOperand(BufferId id) {
  const ValueFlow& flow = analysis_.flow;
  std::vector<std::tuple<AllocationId, int64_t, int64_t>> slices;
  for (const ValueId value : analysis_.buffers.values_of(id)) {
    const PositionId born = flow.values[value].position;
    if (!flow.positions.is_top(born)) continue;
    for (const InstrId operand : module_.operands_of(flow.positions.instruction(born))) {
      slices.clear();
      for (const ValueId other : flow.at(flow.positions.top(operand))) {
        const Place& place = assignment_.places[other.index];
        if (!place.allocation.is_none())
          slices.emplace_back(place.allocation, place.offset, place.size);
      }
      std::ranges::sort(slices);
      for (const auto& slice : slices) {
        if (TryAssign(std::get<0>(slice), id)) return true;
      }
    }
  }
  return false;
}

bool Assigner::ReuseResult(BufferId id) {
  const int64_t color = ColorOf(id);
  if (Sweeps(color)) return false;
  const auto row = reusable_.find(color);
  if (row == reusable_.end()) return false;
  // The smallest first.
  for (size_t k = row->second.size(); k-- != 0;) {
    if (TryAssign(row->second[k], id)) return true;
  }
  return false;
}

bool Assigner::TryAssign(AllocationId id, BufferId buffer) {
  const Allocation& allocation = assignment_.allocations[id];
  const bool is_live_out = analysis_.buffers.is_live_out[buffer.index] != 0;
  if (allocation.color != ColorOf(buffer) || SizeOf(buffer) > allocation.size) return false;
  if (allocation.is_constant || (allocation.parameter && !allocation.is_aliased_parameter))
    return false;
  if (allocation.is_thread_local || allocation.is_tuple) return false;
  if (is_live_out && allocation.size != SizeOf(buffer)) return false;
  for (const ValueId value : analysis_.buffers.values_of(buffer)) {
    if (Interferes(id, value) || CopiesFrom(id, value)) return false;
  }
  Put(buffer, id);
  std::ranges::sort(assignment_.allocations[id].values);
  return true;
}

bool Assigner::Interferes(AllocationId id, ValueId value) {
  const LiveRange& range = analysis_.live.of(value);
  const std::vector<Tenant>& tenants = tenants_[id.index];
  auto tenant = std::ranges::lower_bound(tenants, range.start, {},
                                         [](const Tenant& t) { return t.range.end; });
  for (; tenant != tenants.end() && tenant->range.start <= range.end; ++tenant) {
    if (range.end == tenant->range.start) {
      if (!share_.CanShareAsOperand(tenant->value, value)) return true;
    } else if (tenant->range.end == range.start) {
      if (!share_.CanShareAsOperand(value, tenant->value)) return true;
    } else {
      return true;
    }
  }
  return false;
}

// A copy never lies where its source does.
bool Assigner::CopiesFrom(AllocationId id, ValueId value) const {
  const ValueFlow& flow = analysis_.flow;
  const InstrId instruction = flow.instruction(value);
  if (module_.instructions[instruction].opcode != Opcode::kCopy) return false;
  for (const InstrId operand : module_.operands_of(instruction)) {
    for (uint32_t k = 0; k < flow.positions.count(operand); ++k) {
      for (const ValueId source : flow.at(flow.positions.At(operand, k))) {
        if (assignment_.places[source.index].allocation == id) return true;
      }
    }
  }
  return false;
}

}  // namespace stowplan
