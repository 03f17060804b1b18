// SPDX-License-Identifier: Apache-2.0
#include "fit/loop_draft.h"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace stowplan::fit {
namespace {

using hlo::Attribute;
using hlo::AttributeKey;
using hlo::CompId;
using hlo::Draft;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;
using hlo::ShapeId;

bool IsUsable(const Module& module, const Inner& inner) {
  return inner.fusion.is_none() || IsPlainFusion(module, inner.fusion);
}

// What makes an array of one number: a broadcast, perhaps in a fusion, perhaps copied.
bool FindInit(const Module& module, InstrId id, StackPattern& pattern) {
  while (module.instructions[id].opcode == Opcode::kCopy) id = module.operands_of(id)[0];
  pattern.init = id;
  pattern.broadcast = id;
  if (module.instructions[id].opcode == Opcode::kFusion) {
    if (!IsPlainFusion(module, id)) return false;
    pattern.broadcast = module.computations[module.called_by(id)[0]].root;
  }
  return module.instructions[pattern.broadcast].opcode == Opcode::kBroadcast &&
         module.shapes.dims(module.instructions[module.operands_of(pattern.broadcast)[0]].shape)
             .empty();
}

InstrId FindBitcast(const Module& module) {
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    if (module.instructions[InstrId(i)].opcode == Opcode::kBitcast) return InstrId(i);
  }
  return {};
}

InstrId CopyInShape(Draft& draft, InstrId original, CompId parent, ShapeId shape,
                    std::vector<InstrId> operands) {
  const InstrId row = draft.AddCopyOf(original, parent, std::move(operands));
  draft.row(row).head.shape = shape;
  return row;
}

size_t NumberOf(const Module& module, InstrId parameter) {
  return static_cast<size_t>(module.NumberOr(parameter, AttributeKey::kParameterNumber, 0));
}

// The starts of a slice or update of another rank: the first, and zeros.
std::vector<InstrId> StartsFor(std::vector<InstrId> starts, size_t rank) {
  const InstrId zero = starts[1];
  starts.resize(1);
  starts.resize(rank, zero);
  return starts;
}

// An element that a loop does not have any more.
bool IsGone(const Draft::Row& row) {
  return row.head.opcode == Opcode::kGetTupleElement &&
         std::ranges::any_of(row.attributes, [](const Attribute& attribute) {
           return attribute.key == AttributeKey::kIndex && attribute.number() < 0;
         });
}

// What the root of a computation needs, as it was given.
std::set<InstrId> NeededBefore(const Module& module, InstrId root) {
  std::set<InstrId> needed = {root};
  std::vector<InstrId> open = {root};
  while (!open.empty()) {
    const InstrId id = open.back();
    open.pop_back();
    for (const InstrId operand : module.operands_of(id)) {
      if (needed.insert(operand).second) open.push_back(operand);
    }
  }
  return needed;
}

}  // namespace

void SetNumber(Draft::Row& row, AttributeKey key, int64_t number) {
  for (Attribute& attribute : row.attributes) {
    if (attribute.key == key) attribute = Attribute::OfNumber(key, number);
  }
}

void Forget(Draft::Row& row, AttributeKey key) {
  std::erase_if(row.attributes, [&](const Attribute& attribute) { return attribute.key == key; });
}

bool IsPlainFusion(const Module& module, InstrId fusion) {
  const Attribute* kind = module.FindAttribute(fusion, AttributeKey::kKind);
  if (kind == nullptr) return false;
  const std::string_view name = module.view(kind->text());
  return name == "kLoop" || name == "kInput" || name == "kOutput";
}

InstrId FusionCopy::Inside(InstrId id) const {
  return after[static_cast<size_t>(std::ranges::find(before, id) - before.begin())];
}

FusionCopy CopyFusion(Draft& draft, InstrId fusion, CompId parent, std::vector<InstrId> operands) {
  FusionCopy copy;
  const CompId callee = draft.CalledBy(fusion)[0];
  copy.before = draft.part(callee).rows;
  copy.row = draft.AddCopyOf(fusion, parent, std::move(operands));
  draft.Separate(copy.row);
  copy.part = draft.CalledBy(copy.row)[0];
  copy.after = draft.part(copy.part).rows;
  return copy;
}

void SetRoot(Draft& draft, const FusionCopy& copy, InstrId root) {
  draft.part(copy.part).root = root;
  Draft::Row& row = draft.row(copy.row);
  row.head.shape = draft.row(root).head.shape;
  Forget(row, AttributeKey::kBackendConfig);
  Forget(row, AttributeKey::kOutputToOperandAliasing);
}

void Prune(Draft& draft, InstrId fusion, CompId part) {
  const std::vector<InstrId> needed = draft.NeededIn(part);
  const std::vector<InstrId> parameters = draft.part(part).parameters;
  std::vector<InstrId> operands;
  for (size_t p = 0; p < parameters.size(); ++p) {
    if (std::ranges::find(needed, parameters[p]) == needed.end()) continue;
    SetNumber(draft.row(parameters[p]), AttributeKey::kParameterNumber, std::ssize(operands));
    operands.push_back(draft.row(fusion).operands[p]);
  }
  if (operands.size() != parameters.size())
    Forget(draft.row(fusion), AttributeKey::kFrontendAttributes);
  draft.row(fusion).operands = std::move(operands);
  draft.KeepOnly(part, needed);
}

void DropUnneeded(Draft& draft, const Module& module, CompId computation,
                  std::span<const uint8_t> effects) {
  const hlo::Computation& old = module.computations[computation];
  const std::set<InstrId> was_needed = NeededBefore(module, old.root);
  std::set<InstrId> kept;
  std::vector<InstrId> open;
  const auto keep = [&](InstrId id) {
    if (kept.insert(id).second) open.push_back(id);
  };
  keep(draft.part(computation).root);
  for (uint32_t k = 0; k < old.count; ++k) {
    const InstrId id(size_t{old.first.index} + k);
    if (module.instructions[id].opcode == Opcode::kParameter || effects[id.index] != 0 ||
        (!was_needed.contains(id) && !IsGone(draft.row(id))))
      keep(id);
  }
  while (!open.empty()) {
    const InstrId id = open.back();
    open.pop_back();
    for (const InstrId operand : draft.row(id).operands) keep(operand);
  }
  draft.KeepOnly(computation, {kept.begin(), kept.end()});
}

std::optional<StackPattern> FindPattern(const Module& module, const LoopPair& pair,
                                        hlo::ElementType type) {
  StackPattern pattern;
  pattern.bitcast = FindBitcast(module);
  const auto init = module.operands_of(module.operands_of(pair.forward)[0]);
  const auto has_init = std::ranges::any_of(pair.stacks, [&](const Stack& stack) {
    return module.shapes[module.instructions[stack.update.id].shape].type == type &&
           FindInit(module, init[static_cast<size_t>(stack.written)], pattern);
  });
  if (!has_init || pattern.bitcast.is_none()) return std::nullopt;
  for (const Stack& stack : pair.stacks) {
    const auto dims = module.shapes.dims(module.instructions[stack.update.id].shape);
    const auto slice = std::ranges::find_if(
        stack.slices, [&](const Inner& inner) { return IsUsable(module, inner); });
    if (stack.dimension != 0 || dims.size() < 2 || !IsUsable(module, stack.update) ||
        slice == stack.slices.end())
      continue;
    pattern.update = stack.update;
    pattern.slice = *slice;
    pattern.trips = dims[0];
    return pattern;
  }
  return std::nullopt;
}

ShapeId StackedShape(hlo::ShapeTable& shapes, ShapeId value, int64_t count) {
  const hlo::Shape shape = shapes[value];
  if (!hlo::IsArray(shape.type) || shape.is_dynamic || shape.layout.is_none()) return {};
  const hlo::Layout& layout = shapes.layout(shape.layout);
  hlo::Layout plain;
  plain.minor_to_major = layout.minor_to_major;
  if (!(layout == plain)) return {};
  std::vector<int64_t> dims = {count};
  for (const int64_t size : shapes.dims(value)) dims.push_back(size);
  for (int64_t& dimension : plain.minor_to_major) ++dimension;
  plain.minor_to_major.push_back(0);
  return shapes.AddArray(shape.type, dims, {}, shapes.AddLayout(plain));
}

InstrId AddInit(Draft& draft, const Module& module, const StackPattern& pattern, ShapeId value) {
  const ShapeId shape = StackedShape(draft.shapes(), value, pattern.trips);
  const CompId parent = module.instructions[pattern.init].parent;
  const auto operands = module.operands_of(pattern.init);
  if (pattern.init == pattern.broadcast)
    return CopyInShape(draft, pattern.init, parent, shape, {operands.begin(), operands.end()});
  const FusionCopy copy =
      CopyFusion(draft, pattern.init, parent, {operands.begin(), operands.end()});
  const InstrId root = copy.Inside(pattern.broadcast);
  draft.row(root).head.shape = shape;
  SetRoot(draft, copy, root);
  return copy.row;
}

InstrId AddUpdate(Draft& draft, const Module& module, const StackPattern& pattern, InstrId element,
                  InstrId row) {
  const ShapeId value = draft.row(row).head.shape;
  const ShapeId slice = StackedShape(draft.shapes(), value, 1);
  const ShapeId whole = StackedShape(draft.shapes(), value, pattern.trips);
  const size_t rank = draft.shapes().dims(whole).size();
  const CompId body = draft.row(row).head.parent;
  const auto old = module.operands_of(pattern.update.id);
  const auto operands_for = [&](InstrId array, InstrId update, std::vector<InstrId> starts) {
    std::vector<InstrId> operands = StartsFor(std::move(starts), rank);
    operands.insert(operands.begin(), {array, update});
    return operands;
  };
  if (pattern.update.fusion.is_none()) {
    const InstrId update = CopyInShape(draft, pattern.bitcast, body, slice, {row});
    return CopyInShape(draft, pattern.update.id, body, whole,
                       operands_for(element, update, {old.begin() + 2, old.end()}));
  }
  const auto read = module.operands_of(ReadBy(module, pattern.update));
  std::vector<InstrId> outside(read.begin(), read.end());
  outside[NumberOf(module, old[0])] = element;
  outside.push_back(row);
  const FusionCopy copy = CopyFusion(draft, pattern.update.fusion, body, std::move(outside));
  const InstrId array = copy.Inside(old[0]);
  draft.row(array).head.shape = whole;
  const InstrId parameter = CopyInShape(draft, array, copy.part, value, {});
  draft.part(copy.part).parameters.push_back(parameter);
  const InstrId update = CopyInShape(draft, pattern.bitcast, copy.part, slice, {parameter});
  const InstrId root = copy.Inside(pattern.update.id);
  std::vector<InstrId> starts(draft.row(root).operands.begin() + 2, draft.row(root).operands.end());
  draft.row(root).operands = operands_for(array, update, std::move(starts));
  draft.row(root).head.shape = whole;
  SetRoot(draft, copy, root);
  Prune(draft, copy.row, copy.part);
  return copy.row;
}

InstrId AddSlice(Draft& draft, const Module& module, const StackPattern& pattern, InstrId element,
                 ShapeId value) {
  const ShapeId slice = StackedShape(draft.shapes(), value, 1);
  const ShapeId whole = StackedShape(draft.shapes(), value, pattern.trips);
  const auto dims = draft.shapes().dims(slice);
  const CompId body = module.instructions[pattern.slice.call].parent;
  const auto change = [&](InstrId row, InstrId array) {
    Draft::Row& changed = draft.row(row);
    std::vector<InstrId> starts(changed.operands.begin() + 1, changed.operands.end());
    changed.operands = StartsFor(std::move(starts), dims.size());
    changed.operands.insert(changed.operands.begin(), array);
    changed.head.shape = slice;
    const Range sizes = draft.AddInts({dims.begin(), dims.end()});
    for (Attribute& attribute : changed.attributes) {
      if (attribute.key == AttributeKey::kDynamicSliceSizes)
        attribute = Attribute::OfRows(attribute.key, sizes);
    }
  };
  InstrId row;
  if (pattern.slice.fusion.is_none()) {
    const auto operands = module.operands_of(pattern.slice.id);
    row = draft.AddCopyOf(pattern.slice.id, body, {operands.begin(), operands.end()});
    change(row, element);
  } else {
    const auto read = module.operands_of(ReadBy(module, pattern.slice));
    std::vector<InstrId> outside(read.begin(), read.end());
    const InstrId old = module.operands_of(pattern.slice.id)[0];
    outside[NumberOf(module, old)] = element;
    const FusionCopy copy = CopyFusion(draft, pattern.slice.fusion, body, std::move(outside));
    draft.row(copy.Inside(old)).head.shape = whole;
    const InstrId root = copy.Inside(pattern.slice.id);
    change(root, copy.Inside(old));
    SetRoot(draft, copy, root);
    Prune(draft, copy.row, copy.part);
    row = copy.row;
  }
  return CopyInShape(draft, pattern.bitcast, body, value, {row});
}

}  // namespace stowplan::fit
