// SPDX-License-Identifier: Apache-2.0
#include "explain/why.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace stowplan::explain {
namespace {

using hlo::InstrId;
using hlo::Opcode;
using report::ValueId;

bool Overlaps(const report::Value& a, const report::Value& b) {
  return a.allocation == b.allocation && a.offset < b.offset + b.size &&
         b.offset < a.offset + a.size;
}

// What is looked up for every value.
struct Index {
  std::vector<InstrId> callers;   // by computation: who runs it; empty without a program
  std::vector<ValueId> by_place;  // values with a place, by allocation, offset and size
};

auto PlaceOf(const report::Value& value) {
  return std::tuple(value.allocation.index, value.offset, value.size);
}

Index MakeIndex(const Picture& picture) {
  Index index;
  if (picture.module != nullptr) {
    const hlo::Module& module = *picture.module;
    index.callers.resize(module.computations.size());
    for (size_t i = 0; i < module.instructions.size(); ++i) {
      for (const hlo::CompId called : module.called_by(InstrId(i))) {
        if (index.callers[called.index].is_none()) index.callers[called.index] = InstrId(i);
      }
    }
  }
  const report::Report& report = *picture.report;
  for (size_t i = 0; i < report.values.size(); ++i) {
    if (!report.values[ValueId(i)].allocation.is_none()) index.by_place.emplace_back(i);
  }
  std::ranges::stable_sort(index.by_place, {},
                           [&](ValueId id) { return PlaceOf(report.values[id]); });
  return index;
}

class WhyFinder {
 public:
  WhyFinder(const Picture& picture, const Analysis* analysis, const Index& index, ValueId id)
      : picture_(picture),
        report_(*picture.report),
        analysis_(analysis),
        index_(index),
        value_(picture.report->values[id]) {
    why_.value = id;
  }

  Why Run(bool with_neighbours) && {
    if (!value_.allocation.is_none()) {
      const report::Allocation& allocation = report_.allocations[value_.allocation];
      why_.parameter = allocation.parameter;
      why_.is_donated = allocation.parameter && allocation.is_maybe_live_out;
    }
    AddUses();
    AddPositions();
    if (!value_.allocation.is_none()) AddSharers();
    if (with_neighbours && !value_.allocation.is_none()) FindNeighbours();
    FindHolder();
    return std::move(why_);
  }

 private:
  [[nodiscard]] const Op& OwnOp() const { return picture_.op_of(why_.value); }

  [[nodiscard]] InstrId CallerOf(const Op& op) const {
    if (op.instruction.is_none()) return {};
    return index_.callers[picture_.module->instructions[op.instruction].parent.index];
  }

  void AddUses() {
    for (const report::Use& use : report_.uses_of(value_)) {
      const OpId op = picture_.FindOp(use.instruction);
      why_.uses.push_back({.name = use.instruction,
                           .op = op,
                           .operand = use.operand,
                           .time = op.is_none() ? -1 : picture_.ops[op].time});
    }
    std::ranges::stable_sort(why_.uses, {},
                             [](const UseAt& use) { return std::pair(use.time < 0, use.time); });
  }

  [[nodiscard]] AliasRule RuleAt(const report::Position& position) const {
    const OpId id = picture_.FindOp(position.instruction);
    if (id.is_none()) return AliasRule::kHandedOn;
    const Op& op = picture_.ops[id];
    switch (op.opcode) {
      case Opcode::kTuple:
      case Opcode::kGetTupleElement:
        return AliasRule::kTuple;
      case Opcode::kBitcast:
        return AliasRule::kBitcast;
      case Opcode::kWhile:
        return AliasRule::kLoop;
      case Opcode::kConditional:
      case Opcode::kCall:
        return AliasRule::kResult;
      case Opcode::kParameter: {
        const InstrId caller = CallerOf(op);
        const bool is_loop =
            !caller.is_none() && picture_.module->instructions[caller].opcode == Opcode::kWhile;
        return is_loop ? AliasRule::kLoop : AliasRule::kArgument;
      }
      default:
        break;
    }
    const std::string_view opcode = hlo::Name(op.opcode);
    return opcode.ends_with("-start") || opcode.ends_with("-update") || opcode.ends_with("-done")
               ? AliasRule::kAsync
               : AliasRule::kHandedOn;
  }

  void AddPositions() {
    const std::span<const report::Position> positions = report_.positions_of(value_);
    for (size_t i = 1; i < positions.size(); ++i) {
      std::string where(positions[i].instruction);
      if (positions[i].index.is_shown || positions[i].index.numbers.count != 0) {
        where += '{';
        for (const int64_t n : report_.numbers(positions[i].index)) {
          if (where.back() != '{') where += ',';
          where += std::to_string(n);
        }
        where += '}';
      }
      why_.aliases.push_back(
          {.value = {}, .where = std::move(where), .rule = RuleAt(positions[i])});
    }
  }

  // The program's value, and the report's for each of the program's in the same buffer.
  [[nodiscard]] stowplan::ValueId ProgramValue(ValueId id) const {
    const Op& op = picture_.op_of(id);
    if (analysis_ == nullptr || op.instruction.is_none()) return {};
    const Positions& positions = analysis_->flow.positions;
    const uint32_t offset =
        positions.Find(picture_.module->shapes, picture_.module->instructions[op.instruction].shape,
                       report_.numbers(report_.values[id].index));
    if (offset == Positions::kNowhere) return {};
    const PositionId position = positions.At(op.instruction, offset);
    for (const stowplan::ValueId value : analysis_->flow.at(position)) {
      if (analysis_->flow.values[value].position == position) return value;
    }
    return {};
  }

  // Whether `to` is computed by an instruction that must write into the part where `from` is.
  [[nodiscard]] bool IsInPlace(ValueId from, ValueId to) const {
    const InstrId user = picture_.op_of(to).instruction;
    if (user.is_none()) return false;
    const std::span<const InPlacePair> pairs = analysis_->pairs.of(user);
    return std::ranges::any_of(report_.uses_of(report_.values[from]), [&](const report::Use& use) {
      return use.instruction == picture_.op_of(to).name &&
             std::ranges::any_of(pairs, [&](const InPlacePair& pair) {
               return static_cast<int64_t>(pair.operand) == use.operand;
             });
    });
  }
  [[nodiscard]] bool Reads(ValueId user, ValueId value) const {
    return std::ranges::any_of(report_.uses_of(report_.values[value]), [&](const report::Use& use) {
      return use.instruction == picture_.op_of(user).name;
    });
  }

  [[nodiscard]] bool IsOfLoop(ValueId id) const {
    const Op& op = picture_.op_of(id);
    if (op.opcode == Opcode::kWhile || report_.values[id].is_phi) return true;
    return picture_.fact(id).kind == Kind::kLoopState;
  }

  void AddSharer(ValueId other, bool must) {
    std::optional<AliasRule> rule;
    if (must && analysis_ != nullptr &&
        (IsInPlace(other, why_.value) || IsInPlace(why_.value, other))) {
      rule = AliasRule::kInPlace;
    } else if (IsOfLoop(other) && IsOfLoop(why_.value)) {
      rule = AliasRule::kLoop;
    } else if (why_.is_donated) {
      rule = AliasRule::kDonated;
    } else if (must) {
      rule = AliasRule::kResult;
    } else if (Reads(other, why_.value) || Reads(why_.value, other)) {
      rule = AliasRule::kReusedPlace;
    }
    if (rule)
      why_.aliases.push_back({.value = other, .where = ValueName(report_, other), .rule = *rule});
  }

  // Other values in the same place that have to do with this one.
  void AddSharers() {
    const stowplan::ValueId own = ProgramValue(why_.value);
    const auto place = [&](ValueId id) { return PlaceOf(report_.values[id]); };
    for (const ValueId other :
         std::ranges::equal_range(index_.by_place, PlaceOf(value_), {}, place)) {
      if (other == why_.value) continue;
      const stowplan::ValueId theirs = ProgramValue(other);
      const bool must = !own.is_none() && !theirs.is_none() &&
                        analysis_->buffers.of(own) == analysis_->buffers.of(theirs);
      AddSharer(other, must);
    }
  }

  void FindNeighbours() {
    if (!value_.has_range) return;
    const auto better = [&](ValueId& best, ValueId other, auto is_better) {
      if (best.is_none() || is_better(report_.values[other], report_.values[best])) best = other;
    };
    using report::Value;
    for (size_t i = 0; i < report_.values.size(); ++i) {
      const ValueId id(i);
      const Value& other = report_.values[id];
      if (id == why_.value || other.allocation != value_.allocation || !other.has_range ||
          other.size == 0)
        continue;
      const bool is_together = other.start <= value_.end && value_.start <= other.end;
      if (is_together && other.offset + other.size <= value_.offset) {
        better(why_.below, id, [](const Value& a, const Value& b) {
          return a.offset + a.size > b.offset + b.size;
        });
      } else if (is_together && other.offset >= value_.offset + value_.size) {
        better(why_.above, id, [](const Value& a, const Value& b) { return a.offset < b.offset; });
      } else if (!is_together && Overlaps(other, value_)) {
        if (other.end < value_.start) {
          better(why_.before, id, [](const Value& a, const Value& b) { return a.end > b.end; });
        } else {
          better(why_.after, id, [](const Value& a, const Value& b) { return a.start < b.start; });
        }
      }
    }
  }

  void FindHolder() {
    if (!value_.has_range || !report_.live_ranges || !value_.has_uses) return;
    const report::LiveRanges& ranges = *report_.live_ranges;
    const bool is_to_the_end = value_.end >= ranges.end;
    const bool is_entry_parameter = why_.parameter && OwnOp().opcode == Opcode::kParameter;
    if (is_to_the_end) {
      why_.holder = is_entry_parameter && !why_.is_donated ? Holder::kParameter : Holder::kLiveOut;
      return;
    }
    if (static_cast<size_t>(value_.end) < ranges.sequence.size() && value_.end >= 0)
      why_.held_by = picture_.FindOp(ranges.sequence[static_cast<size_t>(value_.end)]);
    int64_t last = -1;
    for (const UseAt& use : why_.uses) last = std::max(last, use.time);
    if (last == value_.end) {
      why_.holder = Holder::kLastUse;
    } else if (last > value_.end) {
      why_.holder = Holder::kSuccessor;
      FindSuccessor();
    } else if (last < 0 && value_.end <= value_.start) {
      why_.holder = Holder::kNobody;
    } else if (picture_.fact(why_.value).kind == Kind::kLoopState || IsOfLoop(why_.value)) {
      why_.holder = Holder::kLoop;
    } else {
      why_.holder = Holder::kCaller;
    }
  }

  void FindSuccessor() {
    for (const Alias& alias : why_.aliases) {
      if (alias.value.is_none()) continue;
      const report::Value& other = report_.values[alias.value];
      if (!other.has_range || other.start < value_.end) continue;
      if (why_.next_value.is_none() || other.start < report_.values[why_.next_value].start)
        why_.next_value = alias.value;
    }
  }

  const Picture& picture_;
  const report::Report& report_;
  const Analysis* analysis_;
  const Index& index_;
  const report::Value& value_;
  Why why_;
};

}  // namespace

std::string_view Describe(AliasRule rule) {
  switch (rule) {
    case AliasRule::kTuple:
      return "an element of a tuple";
    case AliasRule::kBitcast:
      return "the same bytes with a different shape";
    case AliasRule::kLoop:
      return "loop state stays in one place";
    case AliasRule::kArgument:
      return "the argument of a call";
    case AliasRule::kResult:
      return "the result of a call or branch";
    case AliasRule::kInPlace:
      return "written in place, into its operand";
    case AliasRule::kDonated:
      return "an output in a donated parameter";
    case AliasRule::kAsync:
      return "the start and end of one operation";
    case AliasRule::kReusedPlace:
      return "computed where its operand dies";
    case AliasRule::kHandedOn:
      break;
  }
  return "passed on unchanged";
}

std::string_view Describe(Holder holder) {
  switch (holder) {
    case Holder::kLastUse:
      return "the instruction that reads it last";
    case Holder::kLiveOut:
      return "it is part of the result";
    case Holder::kParameter:
      return "it belongs to the caller";
    case Holder::kLoop:
      return "it is carried until the loop ends";
    case Holder::kCaller:
      return "the instruction that runs its computation";
    case Holder::kSuccessor:
      return "nothing: the next value of its buffer takes its place";
    case Holder::kNobody:
      return "nothing reads it";
    case Holder::kUnknown:
      break;
  }
  return "not known";
}

Why WhyAlive(const Picture& picture, const Analysis* analysis, report::ValueId id) {
  const Index index = MakeIndex(picture);
  return WhyFinder(picture, analysis, index, id).Run(true);
}

std::vector<Why> WhysAlive(const Picture& picture, const Analysis* analysis) {
  const Index index = MakeIndex(picture);
  std::vector<Why> whys;
  whys.reserve(picture.report->values.size());
  for (size_t i = 0; i < picture.report->values.size(); ++i)
    whys.push_back(WhyFinder(picture, analysis, index, ValueId(i)).Run(false));
  return whys;
}

}  // namespace stowplan::explain
