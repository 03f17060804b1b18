// SPDX-License-Identifier: Apache-2.0
// The fields of an HloInstructionProto that only some opcodes have, kept as they come until the
// opcode is known.
//
// Most instructions have two or three of a hundred such fields; a list of those present is cheaper
// to fill, clear and search than a struct with all of them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "proto/fields.h"
#include "proto/wire.h"

namespace stowplan::proto {

class KeptFields {
 public:
  void Clear() {
    fields_.clear();
    present_ = {};
  }
  [[nodiscard]] bool empty() const { return fields_.empty(); }

  // The field that `message` is at; it must be one that IsInstructionField knows.
  void Keep(Message& message) {
    Kept kept{message.key(), 0, message.position(), {}};
    switch (message.wire_type()) {
      case kVarint:
        kept.number = message.Varint();
        break;
      case kFixed32:
        kept.number = message.Fixed32();
        break;
      default:
        kept.bytes = message.Bytes();
    }
    Add(kept);
  }
  // The same for messages that say nothing when they are empty; XLA writes some of those for every
  // instruction.
  void KeepUnlessEmpty(Message& message) {
    const char* const at = message.position();
    const std::string_view bytes = message.Bytes();
    if (!bytes.empty()) Add({message.key(), 0, at, bytes});
  }

  [[nodiscard]] bool Has(InstructionField field) const {
    const auto number = static_cast<uint32_t>(field);
    return (present_[number / 64] >> number % 64 & 1U) != 0;
  }
  // The value of a field that occurs once; protobuf's default if it is absent.
  [[nodiscard]] int64_t Number(InstructionField field) const {
    const Kept* kept = Find(field);
    return kept == nullptr ? 0 : static_cast<int64_t>(kept->number);
  }
  [[nodiscard]] bool Flag(InstructionField field) const { return Number(field) != 0; }
  [[nodiscard]] std::string_view Bytes(InstructionField field) const {
    const Kept* kept = Find(field);
    return kept == nullptr ? std::string_view() : kept->bytes;
  }

  // Each value of a repeated field.
  template <class Visit>
  void ForEachBytes(InstructionField field, Visit visit) const {
    if (!Has(field)) return;
    for (const Kept& kept : fields_) {
      if (kept.key == BytesKey(field)) visit(kept.bytes);
    }
  }
  // `visit` gets the number and where the field is.
  template <class Visit>
  void ForEachNumber(InstructionField field, Visit visit) const {
    if (!Has(field)) return;
    for (const Kept& kept : fields_) {
      if (kept.key == VarintKey(field)) visit(static_cast<int64_t>(kept.number), kept.at);
      if (kept.key != BytesKey(field)) continue;
      const char* p = kept.bytes.data();
      const char* const end = p + kept.bytes.size();
      while (p != end) visit(static_cast<int64_t>(protozero::decode_varint(&p, end)), kept.at);
    }
  }
  void AppendNumbers(InstructionField field, std::vector<int64_t>& out) const {
    ForEachNumber(field, [&](int64_t number, const char*) { out.push_back(number); });
  }

 private:
  struct Kept {
    uint32_t key;
    uint64_t number;
    const char* at;  // of the value
    std::string_view bytes;
  };

  void Add(const Kept& kept) {
    fields_.push_back(kept);
    const uint32_t number = kept.key >> 3U;
    present_[number / 64] |= uint64_t{1} << number % 64;
  }

  // Of several, the last one counts.
  [[nodiscard]] const Kept* Find(InstructionField field) const {
    if (!Has(field)) return nullptr;
    for (size_t i = fields_.size(); i-- > 0;) {
      if (fields_[i].key >> 3U == static_cast<uint32_t>(field)) return &fields_[i];
    }
    return nullptr;
  }

  std::vector<Kept> fields_;
  std::array<uint64_t, 2> present_{};  // a bit for each field number; all are below 128
};

}  // namespace stowplan::proto
