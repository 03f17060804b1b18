// SPDX-License-Identifier: Apache-2.0
// Buffers that are contexts of the SparseCore; contexts.h says what these are.
#include "assign/contexts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "assign/assigner.h"

namespace stowplan {
namespace {

constexpr size_t kContexts = 2;
constexpr int64_t kSparseCoreSpaces[] = {8, 10, 11, 12};

}  // namespace

bool IsSparseCoreSpace(int64_t color) {
  return std::ranges::find(kSparseCoreSpaces, color) != std::end(kSparseCoreSpaces);
}

bool IsContext(const hlo::Module& module, const ValueFlow& flow, ValueId id) {
  const hlo::InstrId instruction = flow.instruction(id);
  const hlo::Instruction& row = module.instructions[instruction];
  if (row.opcode != hlo::Opcode::kAsyncStart && row.opcode != hlo::Opcode::kAsyncUpdate)
    return false;
  const std::span<const hlo::ShapeId> parts = module.shapes.elements(row.shape);
  if (parts.size() <= kContexts || !module.shapes.is_tuple(parts[kContexts])) return false;
  return flow.positions.offset(flow.values[id].position) >
         flow.positions.ChildOffset(row.shape, kContexts);
}

bool Assigner::IsContextBuffer(BufferId id) const {
  if (!rules_.has_sparse_core || (SizeOf(id) == 0 && ColorOf(id) == 0)) return false;
  if (ColorOf(id) != 0 && !IsSparseCoreSpace(ColorOf(id))) return false;
  return std::ranges::any_of(analysis_.buffers.values_of(id), [&](ValueId value) {
    return IsContext(module_, analysis_.flow, value);
  });
}

// A block for each memory, with all contexts at its beginning. They come before all but the fast
// memory's.
void Assigner::PlaceContexts() {
  std::map<int64_t, std::vector<BufferId>> contexts;  // by color
  for (size_t b = 0; b < analysis_.buffers.size(); ++b) {
    const BufferId id(b);
    if (is_done_[b] == 0 && IsContextBuffer(id) && ColorOf(id) != 0)
      contexts[ColorOf(id)].push_back(id);
  }
  struct Row {
    int64_t size = 0;
    int64_t color = 0;
  };
  std::vector<Row> rows;
  for (const auto& [color, buffers] : contexts) {
    Row row = {.color = color};
    for (const BufferId id : buffers) row.size = std::max(row.size, SizeOf(id));
    rows.push_back(row);
  }
  std::ranges::sort(rows, {}, [](const Row& row) { return std::tuple(-row.size, row.color); });
  for (const Row& row : rows) {
    const AllocationId allocation =
        assignment_.allocations.Add({.size = row.size, .color = row.color, .is_preset = true});
    for (const BufferId id : contexts[row.color]) Put(id, allocation);
  }
}

// The oldest stack that is free while the context lives. Where there is none, contexts share the
// oldest that nothing but contexts is in at those times: programs run one after the other, whatever
// their live ranges say. There, the gaps of a buffer count as free.
AllocationId Assigner::FindStack(BufferId context) {
  const auto has_tenant = [&](AllocationId stack, const LiveRange& range, ValueId value) {
    return tenancies_.at(stack).AnyTouching(
        range, [&](const Tenancy::Tenant& tenant) { return MayNotMeet(value, tenant); });
  };
  const auto meets_none = [&](auto is_met) {
    return std::ranges::none_of(analysis_.buffers.values_of(context), [&](ValueId value) {
      const LiveRange& range = analysis_.live.of(value);
      return range.exists() && is_met(range, value);
    });
  };
  const auto can_share = [&](AllocationId stack) {
    return meets_none(
        [&](const LiveRange& range, ValueId value) { return has_tenant(stack, range, value); });
  };
  const auto is_free = [&](AllocationId stack) {
    return meets_none([&](const LiveRange& range, ValueId value) {
      return range.start < stack_ends_[stack] || stack_times_[stack].Touches(range) ||
             has_tenant(stack, range, value);
    });
  };
  auto found = std::ranges::find_if(stacks_, is_free);
  if (found == stacks_.end()) found = std::ranges::find_if(stacks_, can_share);
  return found == stacks_.end() ? AllocationId() : *found;
}

void Assigner::AssignContext(BufferId id) {
  AllocationId stack = FindStack(id);
  if (stack.is_none()) {
    stack = NewAllocation(id);
    stacks_.push_back(stack);
    tenancies_.emplace(stack, Tenancy(analysis_.schedule.end()));
  } else {
    Allocation& allocation = assignment_.allocations[stack];
    allocation.size = std::max(allocation.size, SizeOf(id));
    Put(id, stack);
  }
  for (const ValueId value : analysis_.buffers.values_of(id)) {
    if (analysis_.live.of(value).exists()) stack_times_[stack].Add(analysis_.live.of(value));
  }
}

// The oldest stack that is free. Buffers come in the order in which they begin, and hold a stack to
// their last moment, as in the sweep: their gaps are not for others.
bool Assigner::ReuseStack(BufferId id) {
  if (stacks_.empty() || ColorOf(id) != 0) return false;
  int64_t start = std::numeric_limits<int64_t>::max();
  int64_t end = 0;
  for (const ValueId value : analysis_.buffers.values_of(id)) {
    const LiveRange& range = analysis_.live.of(value);
    if (!range.exists()) return false;
    start = std::min(start, range.start);
    end = std::max(end, range.end);
  }
  const auto stack = std::ranges::find_if(stacks_, [&](AllocationId candidate) {
    return stack_ends_[candidate] <= start && TryAssign(candidate, id);
  });
  if (stack == stacks_.end()) return false;
  stack_ends_[*stack] = end;
  return true;
}

}  // namespace stowplan
