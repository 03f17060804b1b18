// SPDX-License-Identifier: Apache-2.0
#include "check/invariants.h"

namespace stowplan::check {

using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;

const std::vector<Source>& Invariants::SourcesOf(InstrId id) {
  const auto [row, is_new] = sources_.try_emplace(id);
  if (is_new) FindSources(module_, trees_, id, row->second);
  return row->second;
}

const std::vector<uint32_t>& Invariants::Of(InstrId loop) {
  if (const auto known = loops_.find(loop); known != loops_.end()) return known->second;
  const CompId body = module_.called_by(loop)[0];
  const uint32_t root = trees_.top(module_.computations[body].root);
  const uint32_t parameter = trees_.top(module_.parameters_of(body)[0]);
  const uint32_t count = trees_.count(module_.instructions[loop].shape);
  std::vector<uint32_t> made_of(count, kChanged);
  std::vector<uint32_t> origins(count);
  for (uint32_t part = 0; part < count; ++part) {
    origins[part] = OriginOf(root + part);
    if (IsParameter(origins[part])) made_of[part] = origins[part] - parameter;
  }
  origins_[loop] = std::move(origins);
  return loops_.emplace(loop, std::move(made_of)).first->second;
}

bool Invariants::IsParameter(uint32_t row) const {
  return module_.instructions[trees_.instruction(row)].opcode == Opcode::kParameter;
}

uint32_t Invariants::OriginOf(uint32_t row) {
  if (known_.empty()) known_.assign(trees_.count(), kUnknown);
  needed_.push_back(row);
  while (!needed_.empty()) {
    const uint32_t next = needed_.back();
    if (known_[next] != kUnknown) {
      needed_.pop_back();
    } else if (const std::optional<uint32_t> origin = TryOriginOf(next)) {
      known_[next] = *origin;
    }  // otherwise what it needs stands above it now
  }
  return known_[row];
}

std::optional<uint32_t> Invariants::Known(uint32_t row) {
  if (known_[row] != kUnknown) return known_[row];
  needed_.push_back(row);
  return std::nullopt;
}

std::optional<uint32_t> Invariants::Through(uint32_t row, uint32_t part, CompId callee,
                                            std::span<const InstrId> arguments) {
  const std::optional<uint32_t> inside =
      Known(trees_.top(module_.computations[callee].root) + part);
  if (!inside) return std::nullopt;
  if (!IsParameter(*inside)) return row;
  const InstrId parameter = trees_.instruction(*inside);
  const auto number =
      static_cast<size_t>(module_.NumberOr(parameter, hlo::AttributeKey::kParameterNumber, 0));
  if (number >= arguments.size()) return row;
  return Known(trees_.top(arguments[number]) + (*inside - trees_.top(parameter)));
}

// Each branch has an operand of its own: what they are must be the same.
std::optional<uint32_t> Invariants::ThroughConditional(uint32_t row, InstrId id, uint32_t part) {
  const std::span<const CompId> branches = module_.called_by(id);
  std::optional<uint32_t> same;
  bool is_waiting = false;
  for (size_t k = 0; k < branches.size(); ++k) {
    const std::optional<uint32_t> from =
        Through(row, part, branches[k], module_.operands_of(id).subspan(k + 1, 1));
    is_waiting |= !from;
    if (!from || is_waiting) continue;
    if (*from == row || !IsParameter(*from) || (same && *same != *from)) return row;
    same = from;
  }
  return is_waiting ? std::nullopt : same;
}

std::optional<uint32_t> Invariants::TryOriginOf(uint32_t row) {
  const InstrId id = trees_.instruction(row);
  const uint32_t part = row - trees_.top(id);
  const std::span<const InstrId> operands = module_.operands_of(id);
  switch (module_.instructions[id].opcode) {
    case Opcode::kParameter:
      return row;
    case Opcode::kWhile: {
      const CompId body = module_.called_by(id)[0];
      const std::optional<uint32_t> inside =
          Known(trees_.top(module_.computations[body].root) + part);
      if (!inside) return std::nullopt;
      if (*inside != trees_.top(module_.parameters_of(body)[0]) + part) return row;
      return Known(trees_.top(operands[0]) + part);
    }
    case Opcode::kCall:
      return Through(row, part, module_.called_by(id)[0], operands);
    case Opcode::kConditional:
      return ThroughConditional(row, id, part);
    case Opcode::kCopy:
      if (part != 0) return Known(trees_.top(operands[0]) + part);
      if (!KeepsBytes(module_, module_.instructions[operands[0]].shape,
                      module_.instructions[id].shape))
        return row;
      return Known(trees_.top(operands[0]));
    default: {
      const Source& source = SourcesOf(id)[part];
      if (source.kind != Source::Kind::kOperand) return row;
      return Known(trees_.top(operands[source.operand]) + source.part);
    }
  }
}

}  // namespace stowplan::check
