// SPDX-License-Identifier: Apache-2.0
// Element types of arrays, with the numbers that protos use.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stowplan::hlo {

enum class ElementType : uint8_t {
#define STOWPLAN_ELEMENT_TYPE(name, text, number, bits) k##name = (number),
#include "stowplan/hlo/element_type.def"
#undef STOWPLAN_ELEMENT_TYPE
};

// The name in HLO text: "f32", "tuple", ...; "invalid" for numbers that are not a type.
std::string_view Name(ElementType type);
// Names as in text, and the alias opaque_type.
std::optional<ElementType> FindElementType(std::string_view name);
// By the number in protos; nothing if Stowplan does not know it.
std::optional<ElementType> FindElementType(int64_t number);

// Bits of one element in memory without packing hints; 0 for types that are not numeric (tuple,
// token, opaque, buffer).
int BitWidth(ElementType type);

// Whether this is the type of an array: anything but tuple, opaque, token and buffer.
bool IsArray(ElementType type);

}  // namespace stowplan::hlo
