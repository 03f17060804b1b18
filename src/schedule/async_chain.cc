// SPDX-License-Identifier: Apache-2.0
#include "schedule/async_chain.h"

#include <ranges>
#include <span>

namespace stowplan {
namespace {

using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;
using hlo::ShapeId;

// The link before; none at the start.
InstrId Previous(const Module& module, InstrId link) {
  const Opcode opcode = module.instructions[link].opcode;
  if (opcode != Opcode::kAsyncUpdate && opcode != Opcode::kAsyncDone) return {};
  const std::span<const InstrId> operands = module.operands_of(link);
  if (operands.empty()) return {};
  const Opcode before = module.instructions[operands[0]].opcode;
  if (before != Opcode::kAsyncStart && before != Opcode::kAsyncUpdate) return {};
  return operands[0];
}

// Whether the link's result is there: until then an empty tuple stands for it.
bool HasResult(const Module& module, InstrId link, ShapeId result) {
  const ShapeId shape = module.instructions[link].shape;
  if (module.instructions[link].opcode == Opcode::kAsyncDone) return true;
  if (!module.shapes.is_tuple(shape) || module.shapes.elements(shape).size() < 2) return true;
  const ShapeId given = module.shapes.elements(shape)[1];
  const auto is_empty = [&](ShapeId id) {
    return module.shapes.is_tuple(id) && module.shapes.elements(id).empty();
  };
  return !is_empty(given) || is_empty(result);
}

bool IsFullyBound(const Module& module, InstrId link, hlo::CompId callee) {
  const InstrId root = module.computations[callee].root;
  return BoundOperands(module, link).size() >= module.parameters_of(callee).size() &&
         HasResult(module, link, module.instructions[root].shape);
}

}  // namespace

InstrId AsyncStartOf(const Module& module, InstrId link) {
  while (module.instructions[link].opcode != Opcode::kAsyncStart) {
    link = Previous(module, link);
    if (link.is_none()) return {};
  }
  return link;
}

std::vector<InstrId> BoundOperands(const Module& module, InstrId link) {
  std::vector<InstrId> links;
  for (; !link.is_none(); link = Previous(module, link)) links.push_back(link);
  std::vector<InstrId> bound;
  for (const InstrId id : links | std::views::reverse) {
    std::span<const InstrId> operands = module.operands_of(id);
    if (module.instructions[id].opcode != Opcode::kAsyncStart && !operands.empty())
      operands = operands.subspan(1);
    bound.insert(bound.end(), operands.begin(), operands.end());
  }
  return bound;
}

bool IsFirstFullyBound(const Module& module, InstrId link) {
  const InstrId start = AsyncStartOf(module, link);
  if (start.is_none() || module.called_by(start).empty()) return false;
  const hlo::CompId callee = module.called_by(start)[0];
  if (!IsFullyBound(module, link, callee)) return false;
  const InstrId before = Previous(module, link);
  return before.is_none() || !IsFullyBound(module, before, callee);
}

}  // namespace stowplan
