// SPDX-License-Identifier: Apache-2.0
#include "check/congruence.h"

#include <algorithm>
#include <unordered_map>

namespace stowplan::check {

using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;

namespace {

uint64_t PairKey(uint32_t a, uint32_t b) { return (uint64_t{a} << 32) | b; }

}  // namespace

const LoopParts& Congruence::Of(InstrId loop) {
  if (!is_solved_) Solve();
  const auto known = loops_.find(loop);
  if (known != loops_.end()) return known->second.parts;
  return loops_.emplace(loop, MakeLoop(loop)).first->second.parts;
}

void Congruence::Solve() {
  is_solved_ = true;
  origins_.assign(trees_.count(), kUnknown);
  FindCallers();
  FindEvents();
  values_.resize(trees_.count());
  for (uint32_t row = 0; row < values_.size(); ++row) values_[row] = row;
  looks_ = 1'000'000;
  for (const auto& [id, loop] : loops_) looks_ += kLooksPerPhi * std::ssize(loop.phis);
  for (const auto& [id, join] : joins_) looks_ += kLooksPerPhi * std::ssize(join.inputs);
  for (bool is_done = false; !is_done && looks_ >= 0;) {
    is_done = true;
    for (const Event& event : events_) {
      switch (event.kind) {
        case Event::Kind::kHead:
          SetHead(loops_.at(event.instruction));
          break;
        case Event::Kind::kBack:
          if (CloseLoop(loops_.at(event.instruction))) is_done = false;
          break;
        case Event::Kind::kJoin:
          Merge(joins_.at(event.instruction));
          break;
      }
      if (looks_ < 0) break;
    }
  }
  if (looks_ < 0) GiveUp();
}

// --- The program's loops and branches ---

void Congruence::FindCallers() {
  callers_.resize(module_.computations.size());
  owners_.resize(module_.instructions.size());
  for (size_t c = 0; c < module_.computations.size(); ++c) {
    const hlo::Computation& computation = module_.computations[CompId(c)];
    for (uint32_t k = 0; k < computation.count; ++k)
      owners_[computation.first.index + k] = CompId(c);
  }
  callers_[module_.entry.index].count = 1;
  for (size_t i = 0; i < module_.instructions.size(); ++i) {
    const InstrId id(i);
    const std::span<const CompId> called = module_.called_by(id);
    const Opcode opcode = module_.instructions[id].opcode;
    // An update and a done name the computation of their start.
    if (opcode == Opcode::kAsyncUpdate || opcode == Opcode::kAsyncDone) continue;
    for (uint32_t k = 0; k < called.size(); ++k) {
      Caller& caller = callers_[called[k].index];
      caller = {.instruction = id, .index = k, .count = caller.count + 1};
    }
  }
}

void Congruence::FindEvents() {
  for (size_t c = 0; c < callers_.size(); ++c) {
    const Caller& caller = callers_[c];
    if (caller.count != 1 || caller.instruction.is_none()) {
      Flatten(CompId(c));
      continue;
    }
    switch (module_.instructions[caller.instruction].opcode) {
      case Opcode::kWhile:
      case Opcode::kConditional:
      case Opcode::kCall:
      case Opcode::kAsyncStart:
      case Opcode::kFusion:
        break;
      default:
        Flatten(CompId(c));
        break;
    }
  }
}

// Each computation that has one caller stands where it is run; all others begin on their own.
void Congruence::Flatten(CompId root) {
  struct Frame {
    CompId computation;
    uint32_t next = 0;                 // instruction
    std::vector<CompId> callees = {};  // of the last one, that are still to be run
    std::optional<Event> after = {};   // when they have
  };
  std::vector<Frame> frames;
  frames.push_back({.computation = root});
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (!frame.callees.empty()) {
      const CompId callee = frame.callees.back();
      frame.callees.pop_back();
      frames.push_back({.computation = callee});
      continue;
    }
    if (frame.after) {
      events_.push_back(*frame.after);
      frame.after.reset();
    }
    const hlo::Computation& computation = module_.computations[frame.computation];
    if (frame.next == computation.count) {
      frames.pop_back();
      continue;
    }
    const InstrId id(size_t{computation.first.index} + frame.next++);
    const Opcode opcode = module_.instructions[id].opcode;
    if (opcode != Opcode::kWhile && opcode != Opcode::kConditional && opcode != Opcode::kCall &&
        opcode != Opcode::kAsyncStart)
      continue;
    const std::span<const CompId> called = module_.called_by(id);
    for (const CompId callee : called) {
      if (RunsOnlyFor(callee, id)) frame.callees.push_back(callee);
    }
    if (opcode == Opcode::kConditional) {
      std::ranges::reverse(frame.callees);
      joins_.emplace(id, MakeJoin(id));
      frame.after = {Event::Kind::kJoin, id};
    } else if (opcode == Opcode::kWhile) {  // the condition, then the body
      loops_.emplace(id, MakeLoop(id));
      if (!RunsOnlyFor(called[0], id)) continue;
      events_.push_back({Event::Kind::kHead, id});
      frame.after = {Event::Kind::kBack, id};
    }
  }
}

Congruence::Loop Congruence::MakeLoop(InstrId id) {
  const CompId body = module_.called_by(id)[0];
  const uint32_t top = trees_.top(id);
  const uint32_t count = trees_.count(module_.instructions[id].shape);
  const uint32_t initial = trees_.top(module_.operands_of(id)[0]);
  Loop loop;
  loop.instruction = id;
  loop.top = trees_.top(module_.parameters_of(body)[0]);
  loop.parts.changes.assign(count, 0);
  loop.parts.classes.assign(count, 0);
  if (!RunsOnlyFor(body, id)) {
    FindByOrigins(id, loop.parts);
    return loop;
  }
  for (uint32_t part = 0; part < count; ++part) {
    if (module_.shapes.is_tuple(trees_.shape(top + part))) continue;
    loop.phis.push_back({part, OriginOf(initial + part), OriginOf(RootRow(body) + part)});
  }
  loop.initial.resize(loop.phis.size());
  return loop;
}

void Congruence::FindByOrigins(InstrId id, LoopParts& parts) {
  const CompId body = module_.called_by(id)[0];
  const uint32_t parameter = trees_.top(module_.parameters_of(body)[0]);
  for (uint32_t part = 0; part < parts.changes.size(); ++part) {
    if (module_.shapes.is_tuple(trees_.shape(trees_.top(id) + part))) continue;
    const uint32_t back = OriginOf(RootRow(body) + part);
    parts.changes[part] = back == parameter + part ? 0 : 1;
    parts.classes[part] = back;
  }
}

Congruence::Join Congruence::MakeJoin(InstrId id) {
  const std::span<const CompId> branches = module_.called_by(id);
  Join join = {.top = trees_.top(id),
               .parts = {},
               .inputs = {},
               .is_apart = {},
               .branches = branches.size()};
  for (uint32_t part = 0; part < trees_.count(module_.instructions[id].shape); ++part) {
    if (module_.shapes.is_tuple(trees_.shape(join.top + part))) continue;
    join.parts.push_back(part);
    join.is_apart.push_back(0);
    for (size_t k = 0; k < branches.size(); ++k) {
      const uint32_t root = RootRow(branches[k]) + part;
      uint32_t origin = OriginOf(root);
      if (!RunsOnlyFor(branches[k], id)) {
        // What others run, too: an argument, or something that is new each time.
        const uint32_t parameter = trees_.top(module_.parameters_of(branches[k])[0]);
        const InstrId operand = module_.operands_of(id)[k + 1];
        const uint32_t count = trees_.count(module_.instructions[operand].shape);
        if (origin >= parameter && origin - parameter < count) {
          origin = OriginOf(trees_.top(operand) + (origin - parameter));
        } else {
          join.is_apart.back() = 1;
        }
      }
      join.inputs.push_back(origin);
    }
  }
  return join;
}

// --- Where rows come from ---

const std::vector<Source>& Congruence::SourcesOf(InstrId id) {
  const auto [row, is_new] = sources_.try_emplace(id);
  if (is_new) FindSources(module_, trees_, id, row->second);
  return row->second;
}

uint32_t Congruence::OriginOf(uint32_t row) {
  needed_.push_back(row);
  while (!needed_.empty()) {
    const uint32_t next = needed_.back();
    if (origins_[next] != kUnknown) {
      needed_.pop_back();
    } else if (const std::optional<uint32_t> origin = TryOriginOf(next)) {
      origins_[next] = *origin;
    }  // otherwise what it needs stands above it now
  }
  return origins_[row];
}

std::optional<uint32_t> Congruence::Known(uint32_t row) {
  if (origins_[row] != kUnknown) return origins_[row];
  needed_.push_back(row);
  return std::nullopt;
}

std::optional<uint32_t> Congruence::OriginOfParameter(uint32_t row, InstrId id, uint32_t part) {
  const Caller& caller = callers_[owners_[id.index].index];
  if (caller.count != 1 || caller.instruction.is_none()) return row;
  const InstrId by = caller.instruction;
  const std::span<const InstrId> arguments = module_.operands_of(by);
  size_t number = static_cast<size_t>(module_.NumberOr(id, hlo::AttributeKey::kParameterNumber, 0));
  switch (module_.instructions[by].opcode) {
    case Opcode::kWhile: {
      if (caller.index == 0) return row;  // a phi
      const CompId body = module_.called_by(by)[0];
      if (!RunsOnlyFor(body, by)) return row;
      return trees_.top(module_.parameters_of(body)[0]) + part;
    }
    case Opcode::kConditional:
      number = size_t{caller.index} + 1;
      break;
    case Opcode::kCall:
    case Opcode::kAsyncStart:
      break;
    default:
      return row;
  }
  if (number >= arguments.size() ||
      part >= trees_.count(module_.instructions[arguments[number]].shape))
    return row;
  return Known(trees_.top(arguments[number]) + part);
}

std::optional<uint32_t> Congruence::OriginOfWhile(uint32_t row, InstrId id, uint32_t part) {
  const CompId body = module_.called_by(id)[0];
  const uint32_t parameter = trees_.top(module_.parameters_of(body)[0]) + part;
  if (RunsOnlyFor(body, id)) return parameter;  // the phi: behind the loop it is the last one
  const std::optional<uint32_t> back = Known(RootRow(body) + part);
  if (!back) return std::nullopt;
  if (*back != parameter) return row;
  return Known(trees_.top(module_.operands_of(id)[0]) + part);
}

std::optional<uint32_t> Congruence::Through(uint32_t row, uint32_t part, CompId callee,
                                            std::span<const InstrId> arguments) {
  const std::optional<uint32_t> inside = Known(RootRow(callee) + part);
  if (!inside) return std::nullopt;
  const InstrId parameter = trees_.instruction(*inside);
  if (module_.instructions[parameter].opcode != Opcode::kParameter ||
      owners_[parameter.index] != callee)
    return row;
  const auto number =
      static_cast<size_t>(module_.NumberOr(parameter, hlo::AttributeKey::kParameterNumber, 0));
  if (number >= arguments.size()) return row;
  return Known(trees_.top(arguments[number]) + (*inside - trees_.top(parameter)));
}

std::optional<uint32_t> Congruence::OriginOfCall(uint32_t row, uint32_t part, InstrId caller,
                                                 std::span<const InstrId> arguments) {
  const CompId callee = module_.called_by(caller)[0];
  if (RunsOnlyFor(callee, caller)) return Known(RootRow(callee) + part);
  return Through(row, part, callee, arguments);
}

// Equal literals are equal bytes; see Contents::OfConstant.
uint32_t Congruence::OriginOfConstant(uint32_t row, InstrId id) {
  const hlo::Attribute* literal = module_.FindAttribute(id, hlo::AttributeKey::kLiteral);
  const hlo::ShapeId shape = module_.instructions[id].shape;
  if (literal == nullptr || module_.shapes.is_tuple(shape)) return row;
  const std::string_view text = module_.view(literal->text());
  if (text.find("...") != std::string_view::npos) return row;
  return constants_.try_emplace({shape, text}, row).first->second;
}

std::optional<uint32_t> Congruence::TryOriginOf(uint32_t row) {
  const InstrId id = trees_.instruction(row);
  const uint32_t part = row - trees_.top(id);
  const std::span<const InstrId> operands = module_.operands_of(id);
  const Opcode opcode = module_.instructions[id].opcode;
  switch (opcode) {
    case Opcode::kParameter:
      return OriginOfParameter(row, id, part);
    case Opcode::kConstant:
      return OriginOfConstant(row, id);
    case Opcode::kWhile:
      return OriginOfWhile(row, id, part);
    case Opcode::kCall:
      return OriginOfCall(row, part, id, operands);
    case Opcode::kConditional:
      return row;  // a phi
    case Opcode::kCopy:
    case Opcode::kCopyStart:
      if (part != (opcode == Opcode::kCopy ? 0 : 1)) break;
      if (!KeepsBytes(module_, module_.instructions[operands[0]].shape, trees_.shape(row)))
        return row;
      return Known(trees_.top(operands[0]));
    default:
      break;
  }
  const Source& source = SourcesOf(id)[part];
  switch (source.kind) {
    case Source::Kind::kNew:
      return row;
    case Source::Kind::kOperand:
      return Known(trees_.top(operands[source.operand]) + source.part);
    case Source::Kind::kCallee:
      break;
  }
  InstrId start = id;
  while (module_.instructions[start].opcode == Opcode::kAsyncUpdate &&
         !module_.operands_of(start).empty())
    start = module_.operands_of(start)[0];
  if (module_.called_by(start).empty()) return row;
  return OriginOfCall(row, source.part, start, module_.operands_of(start));
}

// --- What phis are worth ---

void Congruence::SetHead(Loop& loop) {
  std::unordered_map<uint64_t, uint32_t> classes;
  looks_ -= std::ssize(loop.phis) + 1;
  for (size_t k = 0; k < loop.phis.size(); ++k) {
    const uint32_t part = loop.phis[k].part;
    const uint32_t row = loop.top + part;
    loop.initial[k] = values_[loop.phis[k].first];
    values_[row] = loop.initial[k];
    if (loop.parts.changes[part] != 0)
      values_[row] = classes.try_emplace(PairKey(loop.parts.classes[part], loop.initial[k]), row)
                         .first->second;
  }
}

bool Congruence::CloseLoop(Loop& loop) {
  bool has_changed = false;
  // Parts that are handed to each other need no other look at the body.
  while (looks_ >= 0 && Refine(loop)) has_changed = true;
  return has_changed;
}

// What is assumed holds more than what is true, and is taken back only where it leads to
// differences; so what is true is never taken back.
bool Congruence::Refine(Loop& loop) {
  bool has_changed = false;
  looks_ -= std::ssize(loop.phis) + 1;
  // Those that were equal at the head must be equal after the body.
  std::unordered_map<uint32_t, uint32_t> backs;  // by value at the head: of the first one
  std::unordered_map<uint64_t, uint32_t> classes;
  for (const Loop::Phi& phi : loop.phis) {
    const uint32_t head = values_[loop.top + phi.part];
    const uint32_t back = values_[phi.back];
    uint8_t& changes = loop.parts.changes[phi.part];
    bool is_kept = true;
    if (changes == 0) {
      is_kept = head == back;
    } else {
      is_kept = backs.try_emplace(head, back).first->second == back;
    }
    if (is_kept) continue;
    has_changed = true;
    changes = 1;
    const auto [known, is_new] =
        classes.try_emplace(PairKey(loop.parts.classes[phi.part], back), loop.class_count);
    if (is_new) ++loop.class_count;
    loop.parts.classes[phi.part] = known->second;
  }
  if (!has_changed) return false;
  std::unordered_map<uint64_t, uint32_t> leaders;
  for (size_t k = 0; k < loop.phis.size(); ++k) {
    const uint32_t part = loop.phis[k].part;
    if (loop.parts.changes[part] == 0) continue;
    values_[loop.top + part] =
        leaders.try_emplace(PairKey(loop.parts.classes[part], loop.initial[k]), loop.top + part)
            .first->second;
  }
  return true;
}

void Congruence::Merge(const Join& join) {
  looks_ -= std::ssize(join.inputs) + 1;
  std::map<std::vector<uint32_t>, uint32_t> equal;
  for (size_t k = 0; k < join.parts.size(); ++k) {
    std::vector<uint32_t> inputs;
    inputs.reserve(join.branches);
    for (size_t b = 0; b < join.branches; ++b)
      inputs.push_back(values_[join.inputs[k * join.branches + b]]);
    const uint32_t row = join.top + join.parts[k];
    const bool is_one = std::ranges::count(inputs, inputs[0]) == std::ssize(inputs);
    values_[row] = is_one && join.is_apart[k] == 0
                       ? inputs[0]
                       : equal.try_emplace(std::move(inputs), row).first->second;
  }
}

void Congruence::GiveUp() {
  is_exact_ = false;
  for (auto& [id, loop] : loops_) {
    for (const Loop::Phi& phi : loop.phis) {
      loop.parts.changes[phi.part] = phi.back == loop.top + phi.part ? 0 : 1;
      loop.parts.classes[phi.part] = phi.part;
    }
  }
}

}  // namespace stowplan::check
