// SPDX-License-Identifier: Apache-2.0
#include "stowplan/hlo/opcode.h"

#include <array>
#include <iterator>

#include "base/name_map.h"

namespace stowplan::hlo {
namespace {

constexpr std::array<std::string_view, kOpcodeCount> kOpcodeNames = {
#define STOWPLAN_OPCODE(name, text, keys) text,
#include "stowplan/hlo/opcode.def"
#undef STOWPLAN_OPCODE
};
constexpr NameMap<kOpcodeCount> kOpcodeByName(kOpcodeNames);

// All own attributes one after the other; kUnknown ends an opcode's list.
constexpr AttributeKey kKeys[] = {
#define STOWPLAN_OPCODE(name, text, keys) keys AttributeKey::kUnknown,
#include "stowplan/hlo/opcode.def"
#undef STOWPLAN_OPCODE
};

struct Lists {
  std::array<uint16_t, kOpcodeCount + 1> begin{};
  // Rank + 1 of each key among the opcode's own attributes, 0 when it is not one of them.
  std::array<std::array<uint8_t, kAttributeKeyCount>, kOpcodeCount> rank{};
};
constexpr Lists kLists = [] {
  Lists lists;
  size_t opcode = 0;
  uint8_t rank = 0;
  for (size_t i = 0; i < std::size(kKeys); ++i) {
    if (kKeys[i] == AttributeKey::kUnknown) {
      lists.begin[++opcode] = static_cast<uint16_t>(i + 1);
      rank = 0;
    } else {
      lists.rank[opcode][static_cast<size_t>(kKeys[i])] = ++rank;
    }
  }
  return lists;
}();

}  // namespace

std::string_view Name(Opcode opcode) { return kOpcodeNames[static_cast<size_t>(opcode)]; }

std::optional<Opcode> FindOpcode(std::string_view name) {
  const int found = kOpcodeByName.Find(name);
  if (found < 0) return std::nullopt;
  return static_cast<Opcode>(found);
}

std::span<const AttributeKey> OwnAttributes(Opcode opcode) {
  const auto i = static_cast<size_t>(opcode);
  const size_t begin = kLists.begin[i];
  return {kKeys + begin, kLists.begin[i + 1] - begin - 1U};
}

int PrintRank(Opcode opcode, AttributeKey key) {
  const int own = kLists.rank[static_cast<size_t>(opcode)][static_cast<size_t>(key)];
  return own != 0 ? own : 0x100 + static_cast<int>(key);
}

}  // namespace stowplan::hlo
