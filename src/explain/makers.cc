// SPDX-License-Identifier: Apache-2.0
#include "explain/makers.h"

#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "report/summary.h"

namespace stowplan::explain {

using hlo::AttributeKey;
using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;

namespace {

// Longer ways are no program's.
constexpr int kMostSteps = 128;

bool IsChangeOfForm(Opcode opcode) {
  return opcode == Opcode::kBitcast || opcode == Opcode::kReshape || opcode == Opcode::kCopy ||
         opcode == Opcode::kBroadcast || opcode == Opcode::kTranspose;
}

}  // namespace

Makers::Makers(const hlo::Module& module)
    : module_(module),
      callers_(module.computations.size()),
      readers_(module.instructions.size()),
      elements_(module.computations.size()) {
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    for (const CompId called : module.called_by(InstrId(i))) {
      if (callers_[called.index].is_none()) callers_[called.index] = InstrId(i);
    }
    for (const InstrId operand : module.operands_of(InstrId(i))) ++readers_[operand.index];
  }
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    if (module.instructions[InstrId(i)].opcode == Opcode::kWhile) FindElements(InstrId(i));
  }
}

void Makers::FindElements(InstrId loop) {
  if (module_.called_by(loop).empty()) return;
  const CompId id = module_.called_by(loop)[0];
  const hlo::Computation& body = module_.computations[id];
  if (body.root.is_none() || module_.parameters_of(id).size() != 1 || !elements_[id.index].empty())
    return;
  const InstrId parameter = module_.parameters_of(id)[0];
  const hlo::ShapeId shape = module_.instructions[parameter].shape;
  std::vector<Element>& elements = elements_[id.index];
  elements.resize(module_.shapes.elements(shape).size());
  const auto element_of = [&](InstrId get) -> int64_t {
    const std::span<const InstrId> operands = module_.operands_of(get);
    const bool is_get = module_.instructions[get].opcode == Opcode::kGetTupleElement &&
                        !operands.empty() && operands[0] == parameter;
    const int64_t number = is_get ? module_.NumberOr(get, AttributeKey::kIndex, -1) : -1;
    return number < static_cast<int64_t>(elements.size()) ? number : -1;
  };
  for (uint32_t i = 0; i < body.count; ++i) {
    const InstrId get(body.first.index + i);
    if (const int64_t number = element_of(get); number >= 0)
      elements[static_cast<size_t>(number)].reads += readers_[get.index];
  }
  if (module_.instructions[body.root].opcode != Opcode::kTuple) return;
  const std::span<const InstrId> next = module_.operands_of(body.root);
  for (size_t k = 0; k < std::min(next.size(), elements.size()); ++k)
    elements[k].is_unchanged = element_of(next[k]) == static_cast<int64_t>(k);
}

const Makers::Element* Makers::ElementOf(InstrId parameter, int64_t number) const {
  const std::vector<Element>& elements = elements_[module_.instructions[parameter].parent.index];
  return number >= 0 && static_cast<size_t>(number) < elements.size()
             ? &elements[static_cast<size_t>(number)]
             : nullptr;
}

Maker Makers::Of(InstrId id, std::span<const int64_t> index) const {
  Part part = {id, {index.begin(), index.end()}};
  Maker maker;
  const hlo::Metadata* first = nullptr;  // for what leads nowhere
  for (int step = 0; step < kMostSteps; ++step) {
    if (std::optional<Part> behind = Behind(part, maker)) {
      if (first == nullptr) first = report::MetadataOf(module_, part.id);
      part = *std::move(behind);
      continue;
    }
    // What a loop stacks is often given a dimension more, in the words of the loop.
    const bool is_form = maker.slices != 0 && IsSameInOtherForm(part.id);
    if (const hlo::Metadata* words = report::MetadataOf(module_, part.id);
        words != nullptr && !is_form) {
      maker.words = words;
      return maker;
    }
    std::optional<Part> operand = Operand(part);
    if (!operand) break;
    part = *std::move(operand);
  }
  maker.words = first;
  return maker;
}

const hlo::Metadata* Makers::WordsOf(InstrId id) const {
  if (const hlo::Metadata* words = report::MetadataOf(module_, id)) return words;
  return Of(id, {}).words;
}

std::optional<Makers::Part> Makers::Behind(const Part& part, Maker& maker) const {
  const std::span<const InstrId> operands = module_.operands_of(part.id);
  switch (module_.instructions[part.id].opcode) {
    case Opcode::kGetTupleElement: {
      if (operands.empty()) return std::nullopt;
      Part behind = {operands[0], part.index};
      behind.index.insert(behind.index.begin(), module_.NumberOr(part.id, AttributeKey::kIndex, 0));
      return behind;
    }
    case Opcode::kTuple: {
      if (part.index.empty() || part.index[0] < 0 ||
          static_cast<size_t>(part.index[0]) >= operands.size())
        return std::nullopt;
      return Part{operands[static_cast<size_t>(part.index[0])],
                  {part.index.begin() + 1, part.index.end()}};
    }
    case Opcode::kOptBarrier:
      if (operands.size() != 1) return std::nullopt;
      return Part{operands[0], part.index};
    case Opcode::kWhile: {
      if (part.index.empty() || operands.empty() || module_.called_by(part.id).empty())
        return std::nullopt;
      const CompId body = module_.called_by(part.id)[0];
      if (module_.parameters_of(body).empty() || module_.computations[body].root.is_none())
        return std::nullopt;
      const Element* element = ElementOf(module_.parameters_of(body)[0], part.index[0]);
      if (element != nullptr && element->is_unchanged) return Part{operands[0], part.index};
      return Part{module_.computations[body].root, part.index};
    }
    case Opcode::kCall: {
      if (module_.called_by(part.id).empty()) return std::nullopt;
      const InstrId root = module_.computations[module_.called_by(part.id)[0]].root;
      if (root.is_none()) return std::nullopt;
      return Part{root, part.index};
    }
    case Opcode::kConditional:
      return BehindBranches(part);
    case Opcode::kParameter:
      return BehindParameter(part);
    case Opcode::kFusion:
      return BehindFusion(part, maker);
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kDynamicSlice:
      return BehindSlice(part.id, maker);
    default:
      return std::nullopt;
  }
}

std::optional<Makers::Part> Makers::BehindParameter(const Part& part) const {
  const InstrId caller = callers_[module_.instructions[part.id].parent.index];
  if (caller.is_none()) return std::nullopt;
  const std::span<const InstrId> operands = module_.operands_of(caller);
  const int64_t number = module_.NumberOr(part.id, AttributeKey::kParameterNumber, 0);
  const auto operand = [&](int64_t row) -> std::optional<Part> {
    if (row < 0 || static_cast<size_t>(row) >= operands.size()) return std::nullopt;
    return Part{operands[static_cast<size_t>(row)], part.index};
  };
  switch (module_.instructions[caller].opcode) {
    case Opcode::kWhile: {
      if (part.index.empty()) return std::nullopt;
      const Element* element = ElementOf(part.id, part.index[0]);
      // What the trip before has left.
      if (element != nullptr && !element->is_unchanged) return Part{caller, part.index};
      return operand(0);
    }
    case Opcode::kFusion:
    case Opcode::kCall:
    case Opcode::kAsyncStart:
      return operand(number);
    case Opcode::kConditional: {
      const std::span<const CompId> branches = module_.called_by(caller);
      const auto row = std::ranges::find(branches, module_.instructions[part.id].parent);
      return operand(row - branches.begin() + 1);
    }
    default:
      // A reducer's arguments are elements of what is reduced.
      return Part{caller, {}};
  }
}

// The first branch that computes something; a branch may return a constant, or what it was given.
std::optional<Makers::Part> Makers::BehindBranches(const Part& part) const {
  for (const CompId branch : module_.called_by(part.id)) {
    Part made = {module_.computations[branch].root, part.index};
    Maker ignored;
    for (int step = 0; step < kMostSteps && !made.id.is_none(); ++step) {
      const Opcode opcode = module_.instructions[made.id].opcode;
      if (opcode == Opcode::kConditional || opcode == Opcode::kParameter ||
          opcode == Opcode::kConstant || opcode == Opcode::kBroadcast)
        break;
      std::optional<Part> behind = Behind(made, ignored);
      if (!behind)
        return report::MetadataOf(module_, made.id) == nullptr ? std::nullopt : std::optional(made);
      made = *std::move(behind);
    }
  }
  return std::nullopt;
}

std::optional<Makers::Part> Makers::BehindFusion(const Part& part, Maker& maker) const {
  if (module_.called_by(part.id).empty()) return std::nullopt;
  InstrId root = module_.computations[module_.called_by(part.id)[0]].root;
  if (root.is_none()) return std::nullopt;
  if (module_.instructions[root].opcode == Opcode::kTuple) {
    const std::span<const InstrId> parts = module_.operands_of(root);
    if (part.index.empty() || part.index[0] < 0 ||
        static_cast<size_t>(part.index[0]) >= parts.size())
      return std::nullopt;
    root = parts[static_cast<size_t>(part.index[0])];
    // An element has words of its own, which the fusion's are not.
    if (!IsChangeOfForm(module_.instructions[root].opcode)) return Part{root, {}};
  }
  InstrId inner = root;
  for (int step = 0; step < kMostSteps && IsSameInOtherForm(inner); ++step)
    inner = module_.operands_of(inner)[0];
  if (std::optional<Part> behind = BehindSlice(inner, maker)) return behind;
  return part.index.empty() ? std::nullopt : std::optional<Part>({root, {}});
}

std::optional<Makers::Part> Makers::BehindSlice(InstrId id, Maker& maker) const {
  const Opcode opcode = module_.instructions[id].opcode;
  if (opcode == Opcode::kDynamicUpdateSlice && IsStacked(id)) {
    const InstrId update = module_.operands_of(id)[1];
    if (maker.slices == 0) maker.slices = SlicesIn(id, update);
    return Part{update, {}};
  }
  if (opcode == Opcode::kDynamicSlice && IsUnstacked(id))
    return Part{module_.operands_of(id)[0], {}};
  return std::nullopt;
}

// Whether a loop fills an array, slice by slice, and does nothing else with it.
bool Makers::IsStacked(InstrId update) const {
  const std::span<const InstrId> operands = module_.operands_of(update);
  if (operands.size() < 2 || SlicesIn(update, operands[1]) == 0 || IsReadTwice(update))
    return false;
  const Element* element = StateBehind(operands[0], true);
  return element != nullptr && !element->is_unchanged && element->reads == 1;
}

bool Makers::IsReadTwice(InstrId id) const {
  const CompId parent = module_.instructions[id].parent;
  const InstrId caller = callers_[parent.index];
  // The root of a fusion is read by those that read the fusion.
  const bool is_whole = module_.computations[parent].root == id && !caller.is_none() &&
                        module_.instructions[caller].opcode == Opcode::kFusion;
  return readers_[id.index] > 1 || (is_whole && readers_[caller.index] > 1);
}

// Whether a loop reads a slice of an array that it does not change.
bool Makers::IsUnstacked(InstrId slice) const {
  const std::span<const InstrId> operands = module_.operands_of(slice);
  if (operands.empty() || SlicesIn(operands[0], slice) == 0) return false;
  const Element* element = StateBehind(operands[0], false);
  return element != nullptr && element->is_unchanged;
}

const Makers::Element* Makers::StateBehind(InstrId id, bool is_only_reader) const {
  for (int step = 0; step < kMostSteps; ++step) {
    if (is_only_reader && readers_[id.index] != 1) return nullptr;
    const hlo::Instruction& instruction = module_.instructions[id];
    std::span<const InstrId> operands = module_.operands_of(id);
    size_t row = 0;
    if (instruction.opcode == Opcode::kParameter) {
      const InstrId caller = callers_[instruction.parent.index];
      if (caller.is_none() || module_.instructions[caller].opcode != Opcode::kFusion)
        return nullptr;
      operands = module_.operands_of(caller);
      row = static_cast<size_t>(module_.NumberOr(id, AttributeKey::kParameterNumber, 0));
    } else if (instruction.opcode == Opcode::kGetTupleElement) {
      if (operands.empty() || module_.instructions[operands[0]].opcode != Opcode::kParameter)
        return nullptr;
      return ElementOf(operands[0], module_.NumberOr(id, AttributeKey::kIndex, -1));
    } else if (!IsChangeOfForm(instruction.opcode) &&
               !(is_only_reader && instruction.opcode == Opcode::kDynamicUpdateSlice)) {
      return nullptr;
    }
    if (row >= operands.size()) return nullptr;
    id = operands[row];
  }
  return nullptr;
}

bool Makers::IsSameInOtherForm(InstrId id) const {
  if (!IsChangeOfForm(module_.instructions[id].opcode) || module_.operands_of(id).empty())
    return false;
  const auto count = [&](InstrId array) {
    return CheckedProduct(module_.shapes.dims(module_.instructions[array].shape));
  };
  return count(id) == count(module_.operands_of(id)[0]);
}

int64_t Makers::SlicesIn(InstrId a, InstrId b) const {
  const std::span<const int64_t> whole = module_.shapes.dims(module_.instructions[a].shape);
  const std::span<const int64_t> part = module_.shapes.dims(module_.instructions[b].shape);
  if (whole.size() != part.size()) return 0;
  int64_t slices = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    if (whole[i] == part[i]) continue;
    if (part[i] != 1 || slices != 0) return 0;
    slices = whole[i];
  }
  return slices;
}

std::optional<Makers::Part> Makers::Operand(const Part& part) const {
  const std::span<const InstrId> operands = module_.operands_of(part.id);
  if (operands.empty()) return std::nullopt;
  switch (module_.instructions[part.id].opcode) {
    case Opcode::kCopy:
    case Opcode::kCopyStart:
    case Opcode::kCopyDone:
    case Opcode::kBitcast:
    case Opcode::kConvert:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kBroadcast:
    case Opcode::kSlice:
    case Opcode::kPad:
    case Opcode::kConcatenate:
    case Opcode::kCustomCall:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:
      return Part{operands[0], {}};
    default:
      return std::nullopt;
  }
}

}  // namespace stowplan::explain
