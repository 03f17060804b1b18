// SPDX-License-Identifier: Apache-2.0
#include "proto/fields.h"

#include <array>
#include <iterator>

namespace stowplan::proto {
namespace {

constexpr FieldSchema kEnd{};

// All messages one after the other; number 0 ends a message.
constexpr FieldSchema kFields[] = {
#define STOWPLAN_MESSAGE(message, text)
#define STOWPLAN_FIELD(field, number, text, type, child) \
  FieldSchema{number, text, FieldType::k##type, MessageKind::k##child},
#define STOWPLAN_END kEnd,
#include "proto/fields.def"
#undef STOWPLAN_MESSAGE
#undef STOWPLAN_FIELD
#undef STOWPLAN_END
};

constexpr std::array<std::string_view, 0
#define STOWPLAN_MESSAGE(message, text) +1
#define STOWPLAN_FIELD(field, number, text, type, child)
#define STOWPLAN_END
#include "proto/fields.def"
#undef STOWPLAN_MESSAGE
#undef STOWPLAN_FIELD
#undef STOWPLAN_END
                     >
    kNames = {
#define STOWPLAN_MESSAGE(message, text) text,
#define STOWPLAN_FIELD(field, number, text, type, child)
#define STOWPLAN_END
#include "proto/fields.def"
#undef STOWPLAN_MESSAGE
#undef STOWPLAN_FIELD
#undef STOWPLAN_END
};

// Where each message's fields begin in kFields.
constexpr std::array<uint16_t, kNames.size() + 1> kBegins = [] {
  std::array<uint16_t, kNames.size() + 1> begins{};
  size_t message = 0;
  for (size_t i = 0; i < std::size(kFields); ++i) {
    if (kFields[i].number == 0) begins[++message] = static_cast<uint16_t>(i + 1);
  }
  return begins;
}();

constexpr size_t IndexOf(MessageKind kind) { return static_cast<size_t>(kind) - 1; }

// One bit for each wire type that the instruction's field allows.
constexpr std::array<uint8_t, 128> kInstructionFields = [] {
  std::array<uint8_t, 128> allowed{};
  for (size_t i = kBegins[IndexOf(MessageKind::kInstruction)]; kFields[i].number != 0; ++i) {
    for (uint32_t type = 0; type < 8; ++type) {
      if (kFields[i].Allows(type)) allowed[kFields[i].number] |= static_cast<uint8_t>(1U << type);
    }
  }
  return allowed;
}();

}  // namespace

std::string_view Name(MessageKind kind) {
  return kind == MessageKind::kNone ? std::string_view() : kNames[IndexOf(kind)];
}

std::span<const FieldSchema> Fields(MessageKind kind) {
  if (kind == MessageKind::kNone) return {};
  const size_t begin = kBegins[IndexOf(kind)];
  return {kFields + begin, kBegins[IndexOf(kind) + 1] - begin - 1U};
}

const FieldSchema* FindField(MessageKind kind, uint32_t key) {
  for (const FieldSchema& field : Fields(kind)) {
    if (field.number == key >> 3U) return field.Allows(key & 7U) ? &field : nullptr;
  }
  return nullptr;
}

bool IsInstructionField(uint32_t key) {
  const uint32_t number = key >> 3U;
  return number < kInstructionFields.size() && (kInstructionFields[number] >> (key & 7U) & 1U) != 0;
}

}  // namespace stowplan::proto
