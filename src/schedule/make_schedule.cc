// SPDX-License-Identifier: Apache-2.0
#include "schedule/make_schedule.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "base/checked_math.h"
#include "schedule/orders.h"
#include "target/size.h"

namespace stowplan {
namespace {

using hlo::CompId;
using hlo::Computation;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;

class ScheduleMaker {
 public:
  ScheduleMaker(const Module& module, const Target& target)
      : module_(module), orders_(FindOrders(module, ComputationList::kById)) {
    AddUpShapes(target);
    sizes_.resize(module.instructions.size());
    for (size_t i = 0; i < sizes_.size(); ++i) sizes_[i] = MadeBytes(InstrId(i), target);
  }

  std::vector<InstrId> Make(CompId id, Scheduler scheduler) {
    const Computation& computation = module_.computations[id];
    const auto post_order = Orders::Of(orders_.post_order, computation);
    switch (scheduler) {
      case Scheduler::kPostOrder:
        return {post_order.begin(), post_order.end()};
      case Scheduler::kDepthFirst:
        return DepthFirst(computation, post_order);
      case Scheduler::kList:
        return List(computation, post_order);
    }
    return {};
  }

 private:
  // What an instruction makes, all parts together; what only hands values on makes nothing but its
  // own table.
  [[nodiscard]] int64_t MadeBytes(InstrId id, const Target& target) const {
    const hlo::Instruction& instruction = module_.instructions[id];
    const auto size = [&](hlo::ShapeId shape) {
      return ByteSize(module_.shapes, shape, target).value_or(0);
    };
    switch (instruction.opcode) {
      case Opcode::kBitcast:
      case Opcode::kGetTupleElement:
      case Opcode::kAddDependency:
      case Opcode::kOptBarrier:
      case Opcode::kDomain:
      case Opcode::kCopyDone:
        return 0;
      case Opcode::kTuple:
      case Opcode::kCopy:
        return size(instruction.shape);
      default:
        break;
    }
    return sums_[instruction.shape.index];
  }

  // Of each shape, with all of its parts. Elements are interned before the tuples that hold them.
  void AddUpShapes(const Target& target) {
    sums_.resize(module_.shapes.size());
    for (size_t s = 0; s < sums_.size(); ++s) {
      sums_[s] = ByteSize(module_.shapes, hlo::ShapeId(s), target).value_or(0);
      if (!module_.shapes.is_tuple(hlo::ShapeId(s))) continue;
      for (const hlo::ShapeId element : module_.shapes.elements(hlo::ShapeId(s)))
        sums_[s] = SaturatingAdd(sums_[s], sums_[element.index]);
    }
  }

  [[nodiscard]] std::span<const InstrId> PredecessorsOf(InstrId id) const {
    const hlo::Attribute* attribute =
        module_.FindAttribute(id, hlo::AttributeKey::kControlPredecessors);
    if (attribute == nullptr) return {};
    return Module::Rows(module_.instruction_pool, attribute->rows());
  }

  // Operands with many further users and much memory behind them come first, so that what they hold
  // is used soon.
  std::vector<InstrId> DepthFirst(const Computation& computation,
                                  std::span<const InstrId> post_order) const {
    struct Weight {
      int64_t users = 0;
      int64_t bytes = 0;
    };
    const size_t first = computation.first.index;
    std::vector<Weight> weights(computation.count);
    int64_t all_bytes = 0;
    for (const InstrId id : post_order) {
      Weight& weight = weights[id.index - first];
      weight.users = std::max<int64_t>(static_cast<int64_t>(orders_.users_of(id).size()) - 1, 0);
      weight.bytes = sizes_[id.index];
      all_bytes = SaturatingAdd(all_bytes, weight.bytes);
      std::set<InstrId> seen;
      for (const InstrId operand : module_.operands_of(id)) {
        if (!seen.insert(operand).second) continue;
        weight.users = SaturatingAdd(weight.users, weights[operand.index - first].users);
        weight.bytes = SaturatingAdd(weight.bytes, weights[operand.index - first].bytes);
      }
      weight.users = std::min<int64_t>(weight.users, computation.count);
      weight.bytes = std::min(weight.bytes, all_bytes);
    }
    const auto comes_first = [&](InstrId a, InstrId b) {
      const Weight& x = weights[a.index - first];
      const Weight& y = weights[b.index - first];
      if (x.users != y.users) return x.users > y.users;
      if (x.bytes != y.bytes) return x.bytes > y.bytes;
      return module_.name(a) < module_.name(b);
    };
    enum class Mark : uint8_t { kNew, kOpen, kDone };
    std::vector<Mark> marks(computation.count, Mark::kNew);
    std::vector<InstrId> order;
    std::vector<InstrId> stack;
    std::vector<InstrId> operands;
    const auto visit = [&](InstrId root) {
      stack.push_back(root);
      while (!stack.empty()) {
        const InstrId id = stack.back();
        Mark& mark = marks[id.index - first];
        if (mark != Mark::kNew) {
          stack.pop_back();
          if (std::exchange(mark, Mark::kDone) != Mark::kDone) order.push_back(id);
          continue;
        }
        mark = Mark::kOpen;
        const auto row = module_.operands_of(id);
        operands.assign(row.begin(), row.end());
        std::ranges::stable_sort(operands, comes_first);
        for (const InstrId operand : std::views::reverse(operands)) {
          if (marks[operand.index - first] == Mark::kNew) stack.push_back(operand);
        }
        for (const InstrId other : PredecessorsOf(id)) {
          if (marks[other.index - first] == Mark::kNew) stack.push_back(other);
        }
      }
    };
    // What the result does not need comes first.
    for (const InstrId id : Orders::Of(orders_.listed, computation)) {
      if (id != computation.root && orders_.users_of(id).empty()) visit(id);
    }
    visit(computation.root);
    for (const InstrId id : post_order) visit(id);
    return order;
  }

  [[nodiscard]] std::vector<InstrId> DistinctOperands(InstrId id) const {
    const std::span<const InstrId> operands = module_.operands_of(id);
    std::vector<InstrId> distinct(operands.begin(), operands.end());
    std::ranges::sort(distinct);
    distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
    return distinct;
  }

  // At each step the instruction that leaves the least memory in use, by what it makes and what it
  // is the last to read.
  std::vector<InstrId> List(const Computation& computation,
                            std::span<const InstrId> post_order) const {
    const size_t first = computation.first.index;
    std::vector<uint32_t> waits(computation.count, 0);   // operands and predecessors to come
    std::vector<uint32_t> unread(computation.count, 0);  // users to come
    std::vector<uint32_t> places(computation.count, 0);  // in the post-order
    std::vector<std::vector<InstrId>> followers(computation.count);  // by control edges
    for (size_t k = 0; k < post_order.size(); ++k) {
      const InstrId id = post_order[k];
      places[id.index - first] = static_cast<uint32_t>(k);
      unread[id.index - first] = static_cast<uint32_t>(orders_.users_of(id).size());
      for (const InstrId user : orders_.users_of(id)) ++waits[user.index - first];
      for (const InstrId other : PredecessorsOf(id)) {
        ++waits[id.index - first];
        followers[other.index - first].push_back(id);
      }
    }
    const auto gain = [&](InstrId id) {
      int64_t freed = -sizes_[id.index];
      for (const InstrId operand : DistinctOperands(id)) {
        // Parameters are the caller's; they are not freed.
        if (unread[operand.index - first] == 1 &&
            module_.instructions[operand].opcode != Opcode::kParameter)
          freed = SaturatingAdd(freed, sizes_[operand.index]);
      }
      return freed;
    };
    // Largest gain first; of equals, the one that comes first in post-order. A gain only grows, so
    // an old entry is never above a new one of the same instruction.
    using Entry = std::tuple<int64_t, int64_t, InstrId>;
    std::priority_queue<Entry> ready;
    std::vector<uint8_t> is_done(computation.count, 0);
    const auto push = [&](InstrId id) {
      ready.emplace(gain(id), -static_cast<int64_t>(places[id.index - first]), id);
    };
    for (const InstrId id : post_order) {
      if (waits[id.index - first] == 0) push(id);
    }
    std::vector<InstrId> order;
    while (!ready.empty()) {
      const InstrId id = std::get<2>(ready.top());
      ready.pop();
      if (std::exchange(is_done[id.index - first], 1) != 0) continue;
      order.push_back(id);
      for (const InstrId user : orders_.users_of(id)) {
        if (--waits[user.index - first] == 0) push(user);
      }
      for (const InstrId follower : followers[id.index - first]) {
        if (--waits[follower.index - first] == 0) push(follower);
      }
      for (const InstrId operand : DistinctOperands(id)) {
        uint32_t& left = unread[operand.index - first];
        left -= left == 0 ? 0 : 1;
        if (left != 1) continue;
        // Its last reader frees it now.
        for (const InstrId user : orders_.users_of(operand)) {
          if (is_done[user.index - first] == 0 && waits[user.index - first] == 0) push(user);
        }
      }
    }
    return order;
  }

  const Module& module_;
  Orders orders_;
  std::vector<int64_t> sums_;   // by shape
  std::vector<int64_t> sizes_;  // by instruction
};

std::vector<uint8_t> FindFused(const Module& module) {
  std::vector<uint8_t> is_fused(module.computations.size(), 0);
  for (const hlo::Instruction& instruction : module.instructions.rows()) {
    if (instruction.opcode != Opcode::kFusion) continue;
    for (const CompId callee : Module::Rows(module.called, instruction.called))
      is_fused[callee.index] = 1;
  }
  return is_fused;
}

}  // namespace

std::string_view Name(Scheduler scheduler) {
  switch (scheduler) {
    case Scheduler::kPostOrder:
      return "post-order";
    case Scheduler::kDepthFirst:
      return "depth-first";
    case Scheduler::kList:
      return "list";
  }
  return {};
}

std::optional<Scheduler> FindScheduler(std::string_view name) {
  for (const Scheduler scheduler : kSchedulers) {
    if (Name(scheduler) == name) return scheduler;
  }
  return std::nullopt;
}

bool IsScheduled(const Module& module) { return module.computations[module.entry].is_scheduled(); }

Module WithSchedule(const Module& module, Scheduler scheduler, const Target& target) {
  ScheduleMaker maker(module, target);
  const std::vector<uint8_t> is_fused = FindFused(module);
  Module scheduled = module;
  scheduled.header.is_scheduled = true;
  for (size_t c = 0; c < module.computations.size(); ++c) {
    if (is_fused[c] != 0) continue;
    const std::vector<InstrId> order = maker.Make(CompId(c), scheduler);
    std::vector<InstrId>& pool = scheduled.instruction_pool;
    scheduled.computations[CompId(c)].schedule = {static_cast<uint32_t>(pool.size()),
                                                  static_cast<uint32_t>(order.size())};
    pool.insert(pool.end(), order.begin(), order.end());
  }
  return scheduled;
}

}  // namespace stowplan
