// SPDX-License-Identifier: Apache-2.0
// Opcodes: their names and their own attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "stowplan/hlo/attribute.h"

namespace stowplan::hlo {

enum class Opcode : uint16_t {
#define STOWPLAN_OPCODE(name, text, keys) k##name,
#include "stowplan/hlo/opcode.def"
#undef STOWPLAN_OPCODE
};
inline constexpr int kOpcodeCount = static_cast<int>(Opcode::kTupleSelect) + 1;

// The name in HLO text; empty for kUnknown (Module::opcode_name knows the name of an unknown one).
std::string_view Name(Opcode opcode);
std::optional<Opcode> FindOpcode(std::string_view name);

// The attributes that XLA prints for this opcode, in its order.
std::span<const AttributeKey> OwnAttributes(Opcode opcode);

// The position of `key` among the attributes of an instruction with this opcode: own attributes
// first (in the opcode's order), then own attributes of other opcodes, then those that any
// instruction may have, then unknown ones.
int PrintRank(Opcode opcode, AttributeKey key);

}  // namespace stowplan::hlo
