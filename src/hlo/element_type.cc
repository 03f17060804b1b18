// SPDX-License-Identifier: Apache-2.0
#include "stowplan/hlo/element_type.h"

#include <array>

#include "base/name_map.h"

namespace stowplan::hlo {
namespace {

struct Row {
  std::string_view name;
  int bits;
};

constexpr std::array kRows = {
#define STOWPLAN_ELEMENT_TYPE(name, text, number, bits) Row{text, bits},
#include "stowplan/hlo/element_type.def"
#undef STOWPLAN_ELEMENT_TYPE
};

constexpr auto kTypeNames = [] {
  std::array<std::string_view, kRows.size()> names;
  for (size_t i = 1; i < names.size(); ++i) names[i] = kRows[i].name;
  return names;
}();
constexpr NameMap<kRows.size()> kTypeByName(kTypeNames);

}  // namespace

std::string_view Name(ElementType type) { return kRows[static_cast<size_t>(type)].name; }

std::optional<ElementType> FindElementType(std::string_view name) {
  if (name == "opaque_type") return ElementType::kOpaque;
  const int found = kTypeByName.Find(name);
  if (found < 0) return std::nullopt;
  return static_cast<ElementType>(found);
}

std::optional<ElementType> FindElementType(int64_t number) {
  if (number <= 0 || number >= static_cast<int64_t>(kRows.size())) return std::nullopt;
  return static_cast<ElementType>(number);
}

int BitWidth(ElementType type) { return kRows[static_cast<size_t>(type)].bits; }

bool IsArray(ElementType type) { return BitWidth(type) != 0; }

}  // namespace stowplan::hlo
