// SPDX-License-Identifier: Apache-2.0
#include "schedule/schedule.h"

#include <fmt/format.h>

#include "schedule/async_chain.h"

namespace stowplan {
namespace {

using hlo::CompId;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;

// The async-done that ends a chain of start, updates and done; none when there is none.
InstrId FindAsyncDone(const Module& module, const Orders& orders, InstrId link) {
  while (true) {
    InstrId next;
    for (const InstrId user : orders.users_of(link)) {
      const Opcode opcode = module.instructions[user].opcode;
      if (opcode == Opcode::kAsyncDone) return user;
      if (opcode == Opcode::kAsyncUpdate) next = user;
    }
    if (next.is_none()) return next;
    link = next;
  }
}

class ScheduleFlattener {
 public:
  ScheduleFlattener(const Module& module, const Orders& orders) : module_(module), orders_(orders) {
    schedule_.times.assign(module.instructions.size(), kNoTime);
    schedule_.spans.resize(module.computations.size());
    schedule_.asyncs.resize(module.computations.size());
  }

  Result<Schedule> Run() {
    if (!Open(module_.entry, {})) return Unscheduled(module_.entry);
    // Calls nest as deep as the input likes, so the stack is ours.
    while (!stack_.empty()) {
      const size_t top = stack_.size() - 1;
      const std::span<const InstrId> order = module_.schedule_of(stack_[top].computation);
      if (stack_[top].next == order.size()) {
        schedule_.spans[stack_[top].computation.index].end = schedule_.end();
        stack_.pop_back();
        continue;
      }
      const InstrId id = order[stack_[top].next];
      const CompId callee = Callee(id, stack_[top].next_callee);
      if (!callee.is_none()) {
        ++stack_[top].next_callee;
        if (!Open(callee, AsyncOf(id))) return Unscheduled(callee);
        continue;
      }
      schedule_.times[id.index] = schedule_.end();
      schedule_.sequence.push_back(id);
      ++stack_[top].next;
      stack_[top].next_callee = 0;
    }
    return std::move(schedule_);
  }

 private:
  struct Frame {
    CompId computation;
    size_t next = 0;
    size_t next_callee = 0;
  };

  // The k-th computation that runs before this instruction.
  [[nodiscard]] CompId Callee(InstrId id, size_t k) const {
    if (k == 0 && IsAsync(id)) {
      // Its operation runs as soon as it has been given everything.
      if (!IsFirstFullyBound(module_, id)) return {};
      return module_.called_by(AsyncStartOf(module_, id))[0];
    }
    const std::span<const CompId> called = module_.called_by(id);
    if (k >= called.size()) return {};
    switch (module_.instructions[id].opcode) {
      case Opcode::kCall:
      case Opcode::kConditional:
        return called[k];
      case Opcode::kWhile:  // called: body, condition
        return called[called.size() - 1 - k];
      default:
        return {};
    }
  }

  // What a computation that `caller` calls runs beside.
  [[nodiscard]] Schedule::Async AsyncOf(InstrId caller) const {
    if (!IsAsync(caller)) return schedule_.asyncs[module_.instructions[caller].parent.index];
    const bool is_done = module_.instructions[caller].opcode == Opcode::kAsyncDone;
    return {AsyncStartOf(module_, caller),
            is_done ? caller : FindAsyncDone(module_, orders_, caller)};
  }
  [[nodiscard]] bool IsAsync(InstrId id) const {
    const Opcode opcode = module_.instructions[id].opcode;
    return opcode == Opcode::kAsyncStart || opcode == Opcode::kAsyncUpdate ||
           opcode == Opcode::kAsyncDone;
  }

  // False when the computation has no schedule.
  bool Open(CompId id, Schedule::Async async) {
    Schedule::Span& span = schedule_.spans[id.index];
    if (span.start != kNoTime) return true;  // it is on the time line already
    if (!module_.computations[id].is_scheduled()) return false;
    span.start = schedule_.end();
    schedule_.asyncs[id.index] = async;
    stack_.push_back({id});
    return true;
  }

  [[nodiscard]] std::unexpected<Diagnostics> Unscheduled(CompId id) const {
    return Fail(module_.source ? module_.source->name() : std::string(),
                fmt::format("computation {} has no schedule", module_.name(id)),
                "memory is planned for an order of execution: is_scheduled=true");
  }

  const Module& module_;
  const Orders& orders_;
  Schedule schedule_;
  std::vector<Frame> stack_;
};

}  // namespace

Result<Schedule> Flatten(const Module& module, const Orders& orders) {
  return ScheduleFlattener(module, orders).Run();
}

}  // namespace stowplan
