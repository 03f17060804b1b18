// SPDX-License-Identifier: Apache-2.0
#include "schedule/orders.h"

#include <algorithm>
#include <limits>
#include <ranges>
#include <utility>

#include "base/stable_sort.h"
#include "schedule/made_order.h"

namespace stowplan {
namespace {

using hlo::CompId;
using hlo::Computation;
using hlo::InstrId;
using hlo::Module;

std::vector<CompId> ListComputations(const Module& module, ComputationList kind) {
  std::vector<CompId> list;
  list.reserve(module.computations.size());
  for (size_t i = 0; i < module.computations.size(); ++i) list.emplace_back(i);
  if (module.format != hlo::Format::kProto) return list;
  if (kind == ComputationList::kById) {
    StableSort(list, {}, [&](CompId id) { return module.computations[id].proto_id; });
    return list;
  }
  std::vector<uint8_t> is_async(module.computations.size(), 0);
  for (const hlo::Instruction& instruction : module.instructions.rows()) {
    if (instruction.opcode != hlo::Opcode::kAsyncStart) continue;
    // Only slices are split off so late, to be prefetched into fast memory.
    for (const CompId callee : Module::Rows(module.called, instruction.called)) {
      const InstrId root = module.computations[callee].root;
      if (module.instructions[root].opcode == hlo::Opcode::kSlice) is_async[callee.index] = 1;
    }
  }
  StableSort(list, {}, [&](CompId id) {
    return is_async[id.index] == 0 ? std::numeric_limits<int64_t>::min()
                                   : module.computations[id].proto_id;
  });
  return list;
}

void FindUsers(const Module& module, Orders& orders) {
  const size_t count = module.instructions.size();
  orders.read_begins.assign(count + 1, 0);
  for (const InstrId operand : module.operands) ++orders.read_begins[operand.index + 1];
  for (size_t i = 0; i < count; ++i) orders.read_begins[i + 1] += orders.read_begins[i];
  orders.reads.resize(orders.read_begins[count]);
  std::vector<uint32_t> next(orders.read_begins.begin(), orders.read_begins.end() - 1);
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const std::span<const InstrId> schedule = module.schedule_of(CompId(c));
    const std::span<const InstrId> list = Orders::Of(orders.listed, module.computations[CompId(c)]);
    for (const InstrId user : schedule.empty() ? list : schedule) {
      const std::span<const InstrId> operands = module.operands_of(user);
      for (size_t k = 0; k < operands.size(); ++k)
        orders.reads[next[operands[k].index]++] = {user, static_cast<uint32_t>(k)};
    }
  }
  orders.user_begins.assign(count + 1, 0);
  for (size_t i = 0; i < count; ++i) {
    InstrId last;
    for (const Orders::Read& read : orders.reads_of(InstrId(i))) {
      if (std::exchange(last, read.user) != read.user) orders.users.push_back(read.user);
    }
    orders.user_begins[i + 1] = static_cast<uint32_t>(orders.users.size());
  }
}

// Depth first from the instructions without users; operands before their users, the first operand
// first, control predecessors before operands.
void FindPostOrder(const Module& module, Orders& orders) {
  enum class Mark : uint8_t { kNew, kOpen, kDone };
  std::vector<Mark> marks(module.instructions.size(), Mark::kNew);
  std::vector<InstrId> stack;
  const auto push = [&](InstrId id) {
    if (marks[id.index] != Mark::kDone) stack.push_back(id);
  };
  for (const Computation& computation : module.computations.rows()) {
    size_t next = computation.first.index;
    for (const InstrId root : Orders::Of(orders.listed, computation)) {
      if (!orders.users_of(root).empty()) continue;
      push(root);
      while (!stack.empty()) {
        const InstrId id = stack.back();
        if (marks[id.index] != Mark::kNew) {
          stack.pop_back();
          if (std::exchange(marks[id.index], Mark::kDone) != Mark::kDone)
            orders.post_order[next++] = id;
          continue;
        }
        marks[id.index] = Mark::kOpen;
        for (const InstrId operand : std::views::reverse(module.operands_of(id))) push(operand);
        if (const hlo::Attribute* predecessors =
                module.FindAttribute(id, hlo::AttributeKey::kControlPredecessors)) {
          for (const InstrId other : Module::Rows(module.instruction_pool, predecessors->rows()))
            push(other);
        }
      }
    }
  }
}

}  // namespace

Orders FindOrders(const Module& module, ComputationList list_kind,
                  ComputationPostOrder post_order) {
  Orders orders;
  if (module.format == hlo::Format::kText && post_order == ComputationPostOrder::kLowestFirst) {
    orders.computations = OrderOfMaking(module);
    orders.numbered = CalleesFirst(module, orders.computations);
  } else {
    orders.computations = ListComputations(module, list_kind);
    for (size_t c = 0; c < module.computations.size(); ++c) orders.numbered.emplace_back(c);
  }
  orders.listed.reserve(module.instructions.size());
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const std::vector<InstrId> list = module.listed(CompId(c));
    orders.listed.insert(orders.listed.end(), list.begin(), list.end());
  }
  FindUsers(module, orders);
  orders.post_order.resize(module.instructions.size());
  if (module.format == hlo::Format::kProto) {
    std::ranges::generate(orders.post_order, [i = size_t{0}]() mutable { return InstrId(i++); });
  } else {
    FindPostOrder(module, orders);
  }
  return orders;
}

}  // namespace stowplan
