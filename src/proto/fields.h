// SPDX-License-Identifier: Apache-2.0
// Field numbers of XLA's protos, one enum for each message (ShapeField, LayoutField, ...), and a
// small schema: what a field is called and holds. The readers switch over the enums; the schema
// names the place of an error and distinguishes unused fields from unknown ones. Both are generated
// from fields.def.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace stowplan::proto {

#define STOWPLAN_MESSAGE(message, text) enum class message##Field : uint32_t {
#define STOWPLAN_FIELD(field, number, text, type, child) k##field = (number),
#define STOWPLAN_END \
  }                  \
  ;
#include "proto/fields.def"
#undef STOWPLAN_MESSAGE
#undef STOWPLAN_FIELD
#undef STOWPLAN_END

enum class MessageKind : uint8_t {
  kNone,
#define STOWPLAN_MESSAGE(message, text) k##message,
#define STOWPLAN_FIELD(field, number, text, type, child)
#define STOWPLAN_END
#include "proto/fields.def"
#undef STOWPLAN_MESSAGE
#undef STOWPLAN_FIELD
#undef STOWPLAN_END
};

enum class FieldType : uint8_t {
  kVarint,
  kVarints,
  kFixed32,
  kFixed32s,
  kFixed64,
  kFixed64s,
  kBytes,
  kBytesList,
  kMessage,
  kMessages,
};

struct FieldSchema {
  uint32_t number = 0;
  std::string_view name;
  FieldType type = FieldType::kBytes;
  MessageKind child = MessageKind::kNone;  // of kMessage and kMessages

  // Whether the field occurs once for each element. Lists of numbers are usually one field.
  [[nodiscard]] constexpr bool is_list() const {
    return type == FieldType::kBytesList || type == FieldType::kMessages;
  }
  // Whether the field may come with this wire type. Repeated numbers come packed or one by one.
  [[nodiscard]] constexpr bool Allows(uint32_t wire_type) const {
    switch (type) {
      case FieldType::kVarint:
        return wire_type == 0;
      case FieldType::kFixed64:
        return wire_type == 1;
      case FieldType::kFixed32:
        return wire_type == 5;
      case FieldType::kVarints:
        return wire_type == 0 || wire_type == 2;
      case FieldType::kFixed64s:
        return wire_type == 1 || wire_type == 2;
      case FieldType::kFixed32s:
        return wire_type == 5 || wire_type == 2;
      default:
        return wire_type == 2;
    }
  }
};

// The message's name in XLA's .proto files.
std::string_view Name(MessageKind kind);
// By ascending number.
std::span<const FieldSchema> Fields(MessageKind kind);
// nullptr when the message has no field with this key (number and wire type), as far as Stowplan
// knows.
const FieldSchema* FindField(MessageKind kind, uint32_t key);

// Whether HloInstructionProto has a field with this key: FindField for the one message that is read
// in large numbers.
bool IsInstructionField(uint32_t key);

}  // namespace stowplan::proto
