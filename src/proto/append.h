// SPDX-License-Identifier: Apache-2.0
// Fields of serialized messages: written, and copied with changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proto/wire.h"

namespace stowplan::proto {

inline void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7U) out.push_back(static_cast<char>(value | 0x80U));
  out.push_back(static_cast<char>(value));
}

template <class Field>
void AppendBytes(Field field, std::string_view bytes, std::string& out) {
  AppendVarint(BytesKey(field), out);
  AppendVarint(bytes.size(), out);
  out += bytes;
}

template <class Field>
void AppendNumber(Field field, int64_t number, std::string& out) {
  AppendVarint(VarintKey(field), out);
  AppendVarint(static_cast<uint64_t>(number), out);
}

template <class Field>
bool IsField(uint32_t key, Field field) {
  return key == VarintKey(field) || key == BytesKey(field);
}

// Copies all fields of a message for which `replace` returns nothing; the others become what it
// returns.
template <class Replace>
std::string Rewrite(std::string_view bytes, Replace replace) {
  std::string out;
  out.reserve(bytes.size());
  Message message(bytes);
  for (const char* begin = message.position(); message.Next(); begin = message.position()) {
    const uint32_t key = message.key();
    const char* const value = message.position();
    message.Skip();
    const char* const end = message.position();
    Message again(std::string_view(value, static_cast<size_t>(end - value)));
    const std::optional<std::string> other =
        replace(key, message.wire_type() == kBytes ? again.Bytes() : std::string_view());
    out += other ? *other : std::string(begin, end);
  }
  return out;
}

}  // namespace stowplan::proto
