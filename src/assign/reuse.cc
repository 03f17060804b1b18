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
  if (Sweeps(color)) return ReuseStack(id);
  const auto pool = reusable_.find(color);
  if (pool == reusable_.end()) return false;
  // Each value of the buffer must find a gap; the first one is asked for. The last allocation made
  // is the smallest.
  const LiveRange& range = analysis_.live.of(analysis_.buffers.values_of(id)[0]);
  return pool->second.TryLastFirst(
      range, [&](AllocationId allocation) { return TryAssign(allocation, id); });
}

void Assigner::AllowReuse(AllocationId allocation, BufferId id) {
  tenancies_.emplace(allocation, Tenancy(analysis_.schedule.end()));
  AddTenants(allocation, id);
  reusable_[ColorOf(id)].Add(allocation, tenancies_.at(allocation));
}

void Assigner::AddTenants(AllocationId allocation, BufferId id) {
  Tenancy& tenancy = tenancies_.at(allocation);
  for (const ValueId value : analysis_.buffers.values_of(id)) {
    if (analysis_.live.of(value).exists()) tenancy.Add({analysis_.live.of(value), value});
  }
}

bool Assigner::TryAssign(AllocationId id, BufferId buffer) {
  const Allocation& allocation = assignment_.allocations[id];
  const bool is_live_out = analysis_.buffers.is_live_out[buffer.index] != 0;
  if (allocation.color != ColorOf(buffer) || SizeOf(buffer) > allocation.size) return false;
  if (allocation.is_constant || (allocation.parameter && !allocation.is_aliased_parameter))
    return false;
  // What is left are donated parameters and parts of the result.
  if (allocation.is_thread_local || allocation.is_tuple || !tenancies_.contains(id)) return false;
  if (is_live_out && allocation.size != SizeOf(buffer)) return false;
  for (const ValueId value : analysis_.buffers.values_of(buffer)) {
    if (Interferes(id, value) || CopiesFrom(id, value)) return false;
  }
  Put(buffer, id);
  AddTenants(id, buffer);
  reusable_[allocation.color].Update(id, tenancies_.at(id));
  return true;
}

bool Assigner::MayNotMeet(ValueId value, const Tenancy::Tenant& tenant) {
  const LiveRange& range = analysis_.live.of(value);
  if (range.end == tenant.range.start) return !share_.CanShareAsOperand(tenant.value, value);
  if (tenant.range.end == range.start) return !share_.CanShareAsOperand(value, tenant.value);
  return true;
}

bool Assigner::Interferes(AllocationId id, ValueId value) {
  const LiveRange& range = analysis_.live.of(value);
  // Nobody but an async operation reads a context, so nothing takes its place over.
  if (const auto times = stack_times_.find(id);
      times != stack_times_.end() && times->second.Touches(range))
    return true;
  return tenancies_.at(id).AnyTouching(
      range, [&](const Tenancy::Tenant& tenant) { return MayNotMeet(value, tenant); });
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
