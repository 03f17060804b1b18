// SPDX-License-Identifier: Apache-2.0
// Reads the fields of a serialized message one after the other, each with its own bytes, so that
// what is not understood can be copied unchanged. Also has the few functions that write fields.
//
//     FieldReader fields(bytes);
//     while (fields.Next()) ... fields.field() ...
//     if (!fields.ok()) ...  // the message is damaged
//
// Decoding is that of proto/wire.h; its exceptions end here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proto/wire.h"

namespace stowplan::executable {

struct Field {
  uint32_t number = 0;
  uint32_t wire_type = 0;
  uint64_t value = 0;      // of a varint
  std::string_view bytes;  // of wire type kBytes
  std::string_view raw;    // key and value, as they stand
  [[nodiscard]] bool is_bytes() const { return wire_type == proto::kBytes; }
  [[nodiscard]] bool is_varint() const { return wire_type == proto::kVarint; }
  [[nodiscard]] int64_t signed_value() const { return static_cast<int64_t>(value); }
};

class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : message_(bytes) {}

  // Moves to the next field; false at the end, or if the message is damaged.
  bool Next() {
    try {
      return Advance();
    } catch (const protozero::exception&) {
      is_damaged_ = true;
      return false;
    }
  }
  [[nodiscard]] bool ok() const { return !is_damaged_; }
  [[nodiscard]] const Field& field() const { return field_; }

 private:
  bool Advance() {
    const char* const begin = message_.position();
    if (!message_.Next()) return false;
    field_ = {.number = message_.number(), .wire_type = message_.wire_type()};
    if (field_.number != 0 && field_.is_varint()) {
      field_.value = message_.Varint();
    } else if (field_.number != 0 && field_.is_bytes()) {
      field_.bytes = message_.Bytes();
    } else {
      message_.Skip();
    }
    field_.raw = {begin, static_cast<size_t>(message_.position() - begin)};
    return true;
  }

  proto::Message message_;
  Field field_;
  bool is_damaged_ = false;
};

// Whether the bytes are fields from the first to the last.
[[nodiscard]] bool IsMessage(std::string_view bytes);
// The bytes of the last field with this number, as protobuf reads a field that occurs twice;
// nothing if there is none or the message is damaged.
[[nodiscard]] std::optional<std::string_view> FindBytes(std::string_view message, uint32_t number);
[[nodiscard]] std::optional<uint64_t> FindVarint(std::string_view message, uint32_t number);

void AppendVarint(uint64_t value, std::string& out);
void AppendVarintField(uint32_t number, uint64_t value, std::string& out);
void AppendBytesField(uint32_t number, std::string_view bytes, std::string& out);

// The message with `bytes` in the place of the last field `number`, and of all others with that
// number; at the end if it has none. The message must be well-formed.
[[nodiscard]] std::string WithBytes(std::string_view message, uint32_t number,
                                    std::string_view bytes);

}  // namespace stowplan::executable
