// SPDX-License-Identifier: Apache-2.0
#include "hlo/handed_on.h"

#include <algorithm>
#include <string_view>

namespace stowplan::hlo {
namespace {

std::vector<HandedOn> DeclaredBy(const Module& module, InstrId id) {
  std::vector<HandedOn> rows;
  const Attribute* attribute = module.FindAttribute(id, AttributeKey::kOutputToOperandAliasing);
  if (attribute == nullptr) return rows;
  std::span<const int64_t> numbers = Module::Rows(module.ints, attribute->rows());
  const auto take = [&](size_t count) {
    const std::span<const int64_t> taken = numbers.first(std::min(count, numbers.size()));
    numbers = numbers.subspan(taken.size());
    return taken;
  };
  while (!numbers.empty()) {
    HandedOn row;
    row.output = take(static_cast<size_t>(take(1)[0]));
    if (numbers.size() < 2) break;
    row.operand = static_cast<size_t>(take(1)[0]);
    row.input = take(static_cast<size_t>(take(1)[0]));
    if (row.operand < module.operands_of(id).size()) rows.push_back(row);
  }
  return rows;
}

bool IsCollective(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAllGather:
    case Opcode::kAllReduce:
    case Opcode::kAllToAll:
    case Opcode::kCollectivePermute:
    case Opcode::kReduceScatter:
      return true;
    default:
      return false;
  }
}

bool BeginsCollective(const Module& module, InstrId root) {
  const Attribute* target = module.FindAttribute(root, AttributeKey::kCustomCallTarget);
  return target != nullptr && module.view(target->text()) == "AsyncCollectiveStart";
}

// What the body returns as a part; none where a tuple inside a tuple has it.
InstrId Returned(const Module& module, InstrId root, std::span<const int64_t> output) {
  if (output.empty()) return root;
  const std::span<const InstrId> elements = module.operands_of(root);
  const auto k = static_cast<size_t>(output[0]);
  if (output.size() > 1 || module.instructions[root].opcode != Opcode::kTuple ||
      k >= elements.size())
    return {};
  return elements[k];
}

}  // namespace

std::vector<HandedOn> FindHandedOn(const Module& module, InstrId id) {
  if (module.instructions[id].opcode != Opcode::kFusion || module.called_by(id).empty()) return {};
  std::vector<HandedOn> rows = DeclaredBy(module, id);
  if (rows.empty()) return rows;
  const InstrId root = module.computations[module.called_by(id)[0]].root;
  if (BeginsCollective(module, root)) return rows;
  const auto is_operand = [&](const HandedOn& row) {
    const InstrId part = Returned(module, root, row.output);
    return !part.is_none() && module.instructions[part].opcode == Opcode::kParameter &&
           row.input.empty() &&
           module.NumberOr(part, AttributeKey::kParameterNumber, -1) ==
               static_cast<int64_t>(row.operand);
  };
  std::vector<uint8_t> is_kept(module.operands_of(id).size(), 0);
  for (const HandedOn& row : rows) {
    if (is_operand(row)) is_kept[row.operand] = 1;
  }
  std::erase_if(rows, [&](const HandedOn& row) {
    if (is_operand(row)) return false;
    const InstrId part = Returned(module, root, row.output);
    return is_kept[row.operand] == 0 || part.is_none() ||
           !IsCollective(module.instructions[part].opcode);
  });
  return rows;
}

}  // namespace stowplan::hlo
