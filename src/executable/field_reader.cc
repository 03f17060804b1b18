// SPDX-License-Identifier: Apache-2.0
#include "executable/field_reader.h"

#include <iterator>

namespace stowplan::executable {

bool IsMessage(std::string_view bytes) {
  FieldReader fields(bytes);
  while (fields.Next()) {
  }
  return fields.ok();
}

std::optional<std::string_view> FindBytes(std::string_view message, uint32_t number) {
  std::optional<std::string_view> found;
  FieldReader fields(message);
  while (fields.Next()) {
    if (fields.field().number == number && fields.field().is_bytes()) found = fields.field().bytes;
  }
  return fields.ok() ? found : std::nullopt;
}

std::optional<uint64_t> FindVarint(std::string_view message, uint32_t number) {
  std::optional<uint64_t> found;
  FieldReader fields(message);
  while (fields.Next()) {
    if (fields.field().number == number && fields.field().is_varint()) found = fields.field().value;
  }
  return fields.ok() ? found : std::nullopt;
}

void AppendVarint(uint64_t value, std::string& out) {
  protozero::write_varint(std::back_inserter(out), value);
}

void AppendVarintField(uint32_t number, uint64_t value, std::string& out) {
  AppendVarint(uint64_t{number} << 3U | proto::kVarint, out);
  AppendVarint(value, out);
}

void AppendBytesField(uint32_t number, std::string_view bytes, std::string& out) {
  AppendVarint(uint64_t{number} << 3U | proto::kBytes, out);
  AppendVarint(bytes.size(), out);
  out += bytes;
}

std::string WithBytes(std::string_view message, uint32_t number, std::string_view bytes) {
  std::string out;
  out.reserve(message.size() + bytes.size());
  bool is_written = false;
  FieldReader fields(message);
  while (fields.Next()) {
    if (fields.field().number != number || !fields.field().is_bytes()) {
      out += fields.field().raw;
    } else if (!is_written) {
      AppendBytesField(number, bytes, out);
      is_written = true;
    }
  }
  if (!is_written) AppendBytesField(number, bytes, out);
  return out;
}

}  // namespace stowplan::executable
