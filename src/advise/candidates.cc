// SPDX-License-Identifier: Apache-2.0
#include "advise/candidates.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "advise/words.h"
#include "base/stable_sort.h"
#include "report/peak.h"

namespace stowplan::advise {
namespace {

using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;

// Whether it may run at a different time unnoticed: it computes, and does nothing else.
bool IsPure(Opcode opcode) {
  switch (opcode) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
    case Opcode::kUnknown:
    case Opcode::kCustomCall:
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
    case Opcode::kSend:
    case Opcode::kSendDone:
    case Opcode::kRecv:
    case Opcode::kRecvDone:
    case Opcode::kAfterAll:
    case Opcode::kAddDependency:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:
    case Opcode::kCopyStart:
    case Opcode::kCopyDone:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kAllReduceDone:
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kAllGatherDone:
    case Opcode::kAllToAll:
    case Opcode::kReduceScatter:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kCollectivePermuteDone:
    case Opcode::kRng:
    case Opcode::kRngGetAndUpdateState:
    case Opcode::kRngBitGenerator:
    case Opcode::kDomain:
    case Opcode::kOptBarrier:
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kCall:
      return false;
    default:
      return true;
  }
}

// About as quick to compute as to read.
bool IsCheap(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kBitcastConvert:
    case Opcode::kBroadcast:
    case Opcode::kCeil:
    case Opcode::kClamp:
    case Opcode::kCompare:
    case Opcode::kConcatenate:
    case Opcode::kConvert:
    case Opcode::kDivide:
    case Opcode::kDynamicSlice:
    case Opcode::kExp:
    case Opcode::kFloor:
    case Opcode::kIota:
    case Opcode::kLog:
    case Opcode::kLogistic:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kNegate:
    case Opcode::kNot:
    case Opcode::kOr:
    case Opcode::kPad:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kRsqrt:
    case Opcode::kSelect:
    case Opcode::kSign:
    case Opcode::kSlice:
    case Opcode::kSqrt:
    case Opcode::kSubtract:
    case Opcode::kTanh:
    case Opcode::kTranspose:
    case Opcode::kXor:
      return true;
    default:
      return false;
  }
}

bool IsCheap(const Module& module, InstrId id) {
  const Opcode opcode = module.instructions[id].opcode;
  if (opcode != Opcode::kFusion) return IsCheap(opcode);
  for (const hlo::CompId callee : module.called_by(id)) {
    const hlo::Computation& body = module.computations[callee];
    for (uint32_t k = 0; k < body.count; ++k) {
      const Opcode inside = module.instructions[InstrId(size_t{body.first.index} + k)].opcode;
      if (inside != Opcode::kParameter && inside != Opcode::kConstant &&
          inside != Opcode::kBitcast && inside != Opcode::kCopy && !IsCheap(inside))
        return false;
    }
  }
  return true;
}

class Finder {
 public:
  Finder(const Module& module, const Plan& plan, int64_t space, const OwnCode& own)
      : module_(module), plan_(plan), space_(space), own_(own) {
    FindFollowers();
  }

  void Look(int64_t time) {
    for (size_t v = 0; v < plan_.tried.made.assignment.places.size(); ++v) {
      const Place& place = plan_.tried.made.assignment.places[v];
      const LiveRange& range = plan_.tried.analysis.live.ranges[v];
      if (place.allocation.is_none() || plan_.tried.made.assignment.colors[v] != space_) continue;
      if (!range.exists() || range.start > time || range.end < time) continue;
      const Allocation& allocation = plan_.tried.made.assignment.allocations[place.allocation];
      if (allocation.is_constant || allocation.is_thread_local) continue;
      LookAt(ValueId(v), place.size, time);
    }
  }

  void LookForCopies() {
    const ValueFlow& flow = plan_.tried.analysis.flow;
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      const InstrId id(i);
      if (module_.instructions[id].opcode != Opcode::kCopy) continue;
      if (module_.instructions[id].shape != module_.instructions[module_.operands_of(id)[0]].shape)
        continue;
      const std::span<const ValueId> values = flow.at(flow.positions.top(id));
      if (values.size() != 1 || flow.is_live_out(values[0])) continue;
      const Place& place = plan_.tried.made.assignment.places[values[0].index];
      if (place.allocation.is_none() ||
          plan_.tried.made.assignment.colors[values[0].index] != space_ ||
          plan_.tried.made.assignment.allocations[place.allocation].is_thread_local)
        continue;
      Add(EditKind::kDropCopy, id, {}, place.size);
    }
  }

  std::vector<Candidate> Best(size_t limit) && {
    AddGroups();
    StableSort(found_, std::ranges::greater(), &Candidate::bytes);
    std::map<EditKind, size_t> counts;
    std::erase_if(found_, [&](const Candidate& candidate) {
      return ++counts[candidate.edits[0].kind] > limit;
    });
    return std::move(found_);
  }

 private:
  // Who reads an instruction or must come after it, by row.
  void FindFollowers() {
    followers_.resize(module_.instructions.size());
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      for (const InstrId user : plan_.tried.analysis.orders.users_of(InstrId(i)))
        followers_[i].push_back(user);
      if (const hlo::Attribute* before =
              module_.FindAttribute(InstrId(i), hlo::AttributeKey::kControlPredecessors)) {
        for (const InstrId other : Module::Rows(module_.instruction_pool, before->rows()))
          followers_[other.index].emplace_back(i);
      }
    }
  }

  // jax.checkpoint works on lines, not on values.
  void AddGroups() {
    std::map<std::string, Candidate> by_source;
    for (const Candidate& candidate : found_) {
      const Edit& edit = candidate.edits[0];
      if (edit.kind != EditKind::kRematerialize) continue;
      const std::string& source = sources_[edit.instruction];
      if (source.empty()) continue;
      Candidate& group = by_source[source];
      group.edits.push_back(edit);
      group.bytes += candidate.bytes;
    }
    for (auto& [source, group] : by_source) {
      if (group.edits.size() > 1) found_.push_back(std::move(group));
    }
  }

  [[nodiscard]] int64_t Time(InstrId id) const { return plan_.tried.analysis.schedule.time(id); }

  void LookAt(ValueId value, int64_t bytes, int64_t time) {
    const InstrId id = plan_.tried.analysis.flow.instruction(value);
    const hlo::Instruction& row = module_.instructions[id];
    if (Time(id) == kNoTime) return;
    LookForLastUse(value, bytes, time);
    if (Time(id) >= time || !IsPure(row.opcode)) return;
    if (plan_.tried.analysis.flow.positions.count(id) != 1) return;
    InstrId next;
    bool is_read_before = false;
    for (const InstrId user : followers_[id.index]) {
      if (Time(user) <= time) {
        is_read_before = true;
      } else if (next.is_none() || Time(user) < Time(next)) {
        next = user;
      }
    }
    if (next.is_none()) return;
    if (!is_read_before) {
      Add(EditKind::kMoveLater, id, next, bytes);
    } else if (IsCheap(module_, id)) {
      Add(EditKind::kRematerialize, id, next, bytes);
    }
  }

  // A single reader keeps the value alive beyond this moment, and could have run earlier.
  void LookForLastUse(ValueId value, int64_t bytes, int64_t time) {
    InstrId reader;
    for (const Use& use : plan_.tried.analysis.flow.uses_of(value)) {
      if (Time(use.user) <= time || use.user == reader) continue;
      if (!reader.is_none()) return;
      reader = use.user;
    }
    if (reader.is_none() || !IsPure(module_.instructions[reader].opcode)) return;
    InstrId last;
    const auto look = [&](InstrId id) {
      if (last.is_none() || Time(id) > Time(last)) last = id;
    };
    for (const InstrId operand : module_.operands_of(reader)) look(operand);
    if (const hlo::Attribute* before =
            module_.FindAttribute(reader, hlo::AttributeKey::kControlPredecessors)) {
      for (const InstrId other : Module::Rows(module_.instruction_pool, before->rows()))
        look(other);
    }
    if (last.is_none() || Time(last) >= time) return;
    Add(EditKind::kMoveEarlier, reader, last, bytes);
  }

  void Add(EditKind kind, InstrId id, InstrId anchor, int64_t bytes) {
    if (!seen_.insert({kind, id}).second) return;
    Candidate candidate;
    Edit edit{.kind = kind,
              .computation = std::string(module_.name(module_.instructions[id].parent)),
              .instruction = std::string(module_.name(id))};
    if (!anchor.is_none()) edit.anchor = module_.name(anchor);
    if (kind == EditKind::kRematerialize) sources_[edit.instruction] = SourceOf(module_, id, own_);
    candidate.edits.push_back(std::move(edit));
    candidate.bytes = bytes;
    found_.push_back(std::move(candidate));
  }

  const Module& module_;
  const Plan& plan_;
  int64_t space_;
  const OwnCode& own_;
  std::vector<std::vector<InstrId>> followers_;
  std::set<std::pair<EditKind, InstrId>> seen_;
  std::map<std::string, std::string> sources_;  // of what can be recomputed, by name
  std::vector<Candidate> found_;
};

}  // namespace

std::vector<int64_t> FullMoments(const Plan& plan, int64_t space) {
  std::vector<int64_t> moments;
  const Result<report::TruePeak> peak = report::ComputeTruePeak(plan.tried.made.report);
  if (!peak) return moments;
  for (const report::SpacePeak& one : peak->spaces) {
    if (one.color == space) moments.push_back(one.peak.time);
  }
  int64_t largest = 0;
  size_t row = peak->allocations.size();
  for (size_t i = 0; i < peak->allocations.size(); ++i) {
    const report::Allocation& allocation =
        plan.tried.made.report.allocations[report::AllocationId(i)];
    if (!allocation.is_temp() || allocation.color != space || allocation.size <= largest) continue;
    largest = allocation.size;
    row = i;
  }
  if (row != peak->allocations.size()) moments.push_back(peak->allocations[row].time);
  return moments;
}

std::vector<Candidate> FindCandidates(const Module& module, const Plan& plan, int64_t space,
                                      size_t limit, const OwnCode& own) {
  Finder finder(module, plan, space, own);
  for (const int64_t time : FullMoments(plan, space)) finder.Look(time);
  finder.LookForCopies();
  return std::move(finder).Best(limit);
}

}  // namespace stowplan::advise
