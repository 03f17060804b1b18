// SPDX-License-Identifier: Apache-2.0
#include "stowplan/hlo/attribute.h"

#include <array>

#include "base/name_map.h"

namespace stowplan::hlo {
namespace {

constexpr std::array<std::string_view, kAttributeKeyCount> kKeyNames = {
#define STOWPLAN_ATTRIBUTE(name, text, kind) text,
#include "stowplan/hlo/attribute.def"
#undef STOWPLAN_ATTRIBUTE
};
constexpr std::array<ValueKind, kAttributeKeyCount> kKinds = {
#define STOWPLAN_ATTRIBUTE(name, text, kind) ValueKind::k##kind,
#include "stowplan/hlo/attribute.def"
#undef STOWPLAN_ATTRIBUTE
};
constexpr auto kMappedNames = [] {
  auto names = kKeyNames;
  names[static_cast<size_t>(AttributeKey::kPermuteSliceSizes)] = {};
  return names;
}();
constexpr NameMap<kAttributeKeyCount> kKeyByName(kMappedNames);

}  // namespace

std::string_view Name(AttributeKey key) { return kKeyNames[static_cast<size_t>(key)]; }
ValueKind KindOf(AttributeKey key) { return kKinds[static_cast<size_t>(key)]; }

std::optional<AttributeKey> FindAttributeKey(std::string_view name) {
  const int found = kKeyByName.Find(name);
  if (found < 0) return std::nullopt;
  return static_cast<AttributeKey>(found);
}

}  // namespace stowplan::hlo
