// SPDX-License-Identifier: Apache-2.0
// Buffers that are contexts of the SparseCore; contexts.h says what these are.
#include "assign/contexts.h"

#include <algorithm>
#include <map>
#include <ranges>
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

// Contexts share a stack whatever their live ranges are, unless something else has moved into it
// for that time. Then they get another. The newest stack is tried first.
void Assigner::AssignContext(BufferId id) {
  const std::span<const ValueId> values = analysis_.buffers.values_of(id);
  const auto fits = [&](AllocationId stack) {
    return std::ranges::none_of(values, [&](ValueId value) {
      const LiveRange& range = analysis_.live.of(value);
      return range.exists() && tenancies_.at(stack).AnyTouching(range, [&](const auto& tenant) {
        return MayNotMeet(value, tenant);
      });
    });
  };
  const auto newest_first = std::views::reverse(stacks_);
  AllocationId stack;
  if (const auto free = std::ranges::find_if(newest_first, fits); free != newest_first.end()) {
    stack = *free;
    Allocation& allocation = assignment_.allocations[stack];
    allocation.size = std::max(allocation.size, SizeOf(id));
    Put(id, stack);
  } else {
    stack = NewAllocation(id);
    stacks_.push_back(stack);
    tenancies_.emplace(stack, Tenancy(analysis_.schedule.end()));
  }
  for (const ValueId value : values) {
    if (analysis_.live.of(value).exists()) stack_times_[stack].Add(analysis_.live.of(value));
  }
}

bool Assigner::ReuseStack(BufferId id) {
  if (stacks_.empty() || ColorOf(id) != 0) return false;
  for (const ValueId value : analysis_.buffers.values_of(id)) {
    if (!analysis_.live.of(value).exists()) return false;
  }
  return std::ranges::any_of(std::views::reverse(stacks_),
                             [&](AllocationId stack) { return TryAssign(stack, id); });
}

}  // namespace stowplan
