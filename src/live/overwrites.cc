// SPDX-License-Identifier: Apache-2.0
#include "live/overwrites.h"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "hlo/handed_on.h"

namespace stowplan {
namespace {

using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;

// Whether an instruction looks at the bytes of its operand, and not only says where they are.
bool ReadsBytes(Opcode opcode) {
  switch (opcode) {
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kCall:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
    case Opcode::kOptBarrier:
    case Opcode::kAddDependency:
    case Opcode::kDomain:
    case Opcode::kAfterAll:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:
      return false;
    default:
      return true;
  }
}

class OverwriteFinder {
 public:
  OverwriteFinder(const hlo::Module& module, const CallGraph& calls, const Schedule& schedule,
                  const ValueFlow& flow)
      : module_(module), calls_(calls), schedule_(schedule), flow_(flow) {
    for (size_t k = 0; k < module.instructions.size(); ++k) {
      const InstrId id(k);
      for (const hlo::HandedOn& part : hlo::FindHandedOn(module, id)) {
        const uint32_t offset =
            flow.positions.Find(module.shapes, module.instructions[id].shape, part.output);
        if (offset != Positions::kNowhere) kept_.insert(flow.positions.At(id, offset));
      }
    }
  }

  // Whether its instruction leaves the bytes as they are.
  [[nodiscard]] bool IsHandedOn(ValueId id) const {
    return !kept_.empty() && kept_.contains(flow_.values[id].position);
  }

  // When the value is written.
  [[nodiscard]] int64_t BirthOf(ValueId id) const {
    const InstrId instruction = flow_.instruction(id);
    const hlo::Instruction& row = module_.instructions[instruction];
    return row.opcode == Opcode::kParameter ? schedule_.spans[row.parent.index].start
                                            : schedule_.time(instruction);
  }

  // A moment at which the value must still be there. What a computation returns is read at its end,
  // and only what happens in it can spoil that.
  struct Need {
    int64_t time = kNoTime;
    int64_t since = 0;
    InstrId reader;
  };
  void CollectNeeds(ValueId id, std::vector<Need>& out) const {
    for (const Use& use : flow_.uses_of(id)) {
      if (ReadsBytes(module_.instructions[use.user].opcode))
        out.push_back({schedule_.time(use.user), 0, use.user});
    }
    for (const PositionId position : flow_.positions_of(id)) {
      const InstrId instruction = flow_.positions.instruction(position);
      const CompId computation = module_.instructions[instruction].parent;
      const Schedule::Span span = schedule_.spans[computation.index];
      if (module_.computations[computation].root == instruction)
        out.push_back({span.end, span.start, instruction});
    }
  }

  // Whether only one of the two instructions runs: they are in different branches.
  [[nodiscard]] bool AreExclusive(InstrId a, InstrId b) const {
    const auto branches_of = [&](InstrId id) {
      std::vector<std::pair<InstrId, CompId>>
          branches;  // conditionals around it, and where in them
      CompId computation = module_.instructions[id].parent;
      while (!calls_.callers_of(computation).empty()) {
        const InstrId caller = calls_.callers_of(computation)[0];
        if (module_.instructions[caller].opcode == Opcode::kConditional)
          branches.emplace_back(caller, computation);
        computation = module_.instructions[caller].parent;
      }
      return branches;
    };
    for (const auto& [conditional, branch] : branches_of(a)) {
      for (const auto& [other, other_branch] : branches_of(b)) {
        if (conditional == other && branch != other_branch) return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool HasBytes(ValueId id) const {
    const hlo::ElementType type = module_.shapes[flow_.shape(id)].type;
    return type != hlo::ElementType::kToken && type != hlo::ElementType::kTuple;
  }

 private:
  const hlo::Module& module_;
  const CallGraph& calls_;
  const Schedule& schedule_;
  const ValueFlow& flow_;
  std::set<PositionId> kept_;  // parts of results that are operands, in their places
};

}  // namespace

Diagnostics FindOverwrites(const hlo::Module& module, const CallGraph& calls,
                           const Schedule& schedule, const ValueFlow& flow,
                           const BufferSet& buffers) {
  const OverwriteFinder finder(module, calls, schedule, flow);
  struct Row {
    int64_t birth;
    ValueId id;
  };
  std::vector<Row> rows;
  std::vector<OverwriteFinder::Need> needs;
  Diagnostics found;
  const auto complain = [&](ValueId value, ValueId other, InstrId reader) {
    found.push_back(
        {.severity = Severity::kWarning,
         .file = module.source ? module.source->name() : std::string(),
         .message = fmt::format("{} must share a place with {}, which is written while {} still "
                                "needs it",
                                module.name(flow.instruction(value)),
                                module.name(flow.instruction(other)), module.name(reader)),
         .hint = "unless XLA made this module, a copy is missing"});
  };
  // The first trouble of the value at row k.
  const auto look_at = [&](size_t k) {
    const auto [birth, id] = rows[k];
    needs.clear();
    finder.CollectNeeds(id, needs);
    for (const OverwriteFinder::Need& need : needs) {
      for (size_t other = k + 1; other < rows.size(); ++other) {
        const auto [other_birth, other_id] = rows[other];
        const bool is_late = other_birth >= need.time && other_birth != birth;
        if (is_late) break;
        if (other_birth < need.since || finder.IsHandedOn(other_id) ||
            finder.AreExclusive(need.reader, flow.instruction(other_id)))
          continue;
        complain(id, other_id, need.reader);
        return true;
      }
    }
    return false;
  };
  for (size_t b = 0; b < buffers.size() && found.size() < kMaxErrors; ++b) {
    const std::span<const ValueId> values = buffers.values_of(BufferId(b));
    if (values.size() < 2) continue;
    rows.clear();
    for (const ValueId id : values) {
      const int64_t birth = finder.BirthOf(id);
      if (birth != kNoTime && finder.HasBytes(id)) rows.push_back({birth, id});
    }
    std::ranges::sort(rows, [](const Row& x, const Row& y) {
      return x.birth != y.birth ? x.birth < y.birth : x.id < y.id;
    });
    for (size_t k = 0; k + 1 < rows.size(); ++k) {
      if (look_at(k)) break;
    }
  }
  return found;
}

}  // namespace stowplan
