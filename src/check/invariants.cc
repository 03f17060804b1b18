// SPDX-License-Identifier: Apache-2.0
#include "check/invariants.h"

namespace stowplan::check {
namespace {

using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;

// Calls inside of calls that are looked through.
constexpr int kMaxDepth = 100;

}  // namespace

const std::vector<Source>& Invariants::SourcesOf(InstrId id) {
  const auto [row, is_new] = sources_.try_emplace(id);
  if (is_new) FindSources(module_, trees_, id, row->second);
  return row->second;
}

const std::vector<uint32_t>& Invariants::Of(InstrId loop) {
  if (const auto known = loops_.find(loop); known != loops_.end()) return known->second;
  const CompId body = module_.called_by(loop)[0];
  const InstrId root = module_.computations[body].root;
  const uint32_t count = trees_.count(module_.instructions[loop].shape);
  std::vector<uint32_t> made_of(count, kChanged);
  std::vector<uint32_t> origins(count);
  for (uint32_t part = 0; part < count; ++part) origins[part] = trees_.top(root) + part;
  if (module_.parameters_of(body).size() == 1 &&
      trees_.count(module_.instructions[root].shape) == count) {
    const uint32_t parameter = trees_.top(module_.parameters_of(body)[0]);
    for (uint32_t part = 0; part < count; ++part) {
      const uint32_t from = OriginOf(trees_.top(root) + part, 0);
      origins[part] = from;
      if (IsParameter(from)) made_of[part] = from - parameter;
    }
  }
  origins_[loop] = std::move(origins);
  return loops_.emplace(loop, std::move(made_of)).first->second;
}

bool Invariants::IsParameter(uint32_t row) const {
  return module_.instructions[trees_.instruction(row)].opcode == Opcode::kParameter;
}

std::optional<uint32_t> Invariants::ParameterOf(uint32_t row, int depth) {
  const uint32_t origin = OriginOf(row, depth);
  return IsParameter(origin) ? std::optional(origin) : std::nullopt;
}

uint32_t Invariants::OriginOf(uint32_t row, int depth) {
  if (depth > kMaxDepth) return row;
  while (true) {
    const InstrId id = trees_.instruction(row);
    const uint32_t part = row - trees_.top(id);
    const std::span<const InstrId> operands = module_.operands_of(id);
    // From what a called computation returns to the argument that it got.
    const auto through = [&](CompId callee,
                             std::span<const InstrId> arguments) -> std::optional<uint32_t> {
      const auto inside =
          ParameterOf(trees_.top(module_.computations[callee].root) + part, depth + 1);
      if (!inside) return std::nullopt;
      const InstrId parameter = trees_.instruction(*inside);
      const auto number =
          static_cast<size_t>(module_.NumberOr(parameter, hlo::AttributeKey::kParameterNumber, 0));
      if (number >= arguments.size()) return std::nullopt;
      return trees_.top(arguments[number]) + (*inside - trees_.top(parameter));
    };
    std::optional<uint32_t> next;
    switch (module_.instructions[id].opcode) {
      case Opcode::kParameter:
        return row;
      case Opcode::kWhile:
        if (Of(id)[part] == part) next = trees_.top(operands[0]) + part;
        break;
      case Opcode::kCall:
        next = through(module_.called_by(id)[0], operands);
        break;
      case Opcode::kConditional:
        for (size_t k = 0; k < module_.called_by(id).size(); ++k) {
          const auto from = through(module_.called_by(id)[k], operands.subspan(k + 1, 1));
          if (!from) return row;
          // Each branch has an operand of its own: what they are must be the same.
          const auto parameter = ParameterOf(*from, depth + 1);
          if (!parameter || (next && *next != *parameter)) return row;
          next = parameter;
        }
        break;
      case Opcode::kCopy:
        if (part == 0 && KeepsBytes(module_, module_.instructions[operands[0]].shape,
                                    module_.instructions[id].shape))
          next = trees_.top(operands[0]);
        if (!next && part != 0) next = trees_.top(operands[0]) + part;
        break;
      default: {
        const Source& source = SourcesOf(id)[part];
        if (source.kind == Source::Kind::kOperand)
          next = trees_.top(operands[source.operand]) + source.part;
        break;
      }
    }
    if (!next) return row;
    row = *next;
  }
}

}  // namespace stowplan::check
