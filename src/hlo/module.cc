// SPDX-License-Identifier: Apache-2.0
#include "stowplan/hlo/module.h"

#include <algorithm>

namespace stowplan::hlo {

std::string_view Module::opcode_name(InstrId id) const {
  const Opcode opcode = instructions[id].opcode;
  if (opcode != Opcode::kUnknown) return Name(opcode);
  const auto row =
      std::ranges::lower_bound(unknown_opcodes, id, {}, &std::pair<InstrId, Text>::first);
  return row != unknown_opcodes.end() && row->first == id ? view(row->second) : std::string_view();
}

const Attribute* Module::FindAttribute(InstrId id, AttributeKey key) const {
  for (const Attribute& attribute : attributes_of(id)) {
    if (attribute.key == key) return &attribute;
  }
  return nullptr;
}

int64_t Module::NumberOr(InstrId id, AttributeKey key, int64_t otherwise) const {
  const Attribute* attribute = FindAttribute(id, key);
  return attribute == nullptr ? otherwise : attribute->number();
}

std::vector<InstrId> Module::listed(CompId id) const {
  const Computation& computation = computations[id];
  std::vector<InstrId> list;
  list.reserve(computation.count);
  for (uint32_t i = 0; i < computation.count; ++i)
    list.emplace_back(computation.first.index + size_t{i});
  if (!proto_ids.empty()) {
    std::ranges::stable_sort(list, {}, [&](InstrId instr) { return proto_ids[instr.index]; });
  }
  return list;
}

}  // namespace stowplan::hlo
