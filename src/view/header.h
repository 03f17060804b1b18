// SPDX-License-Identifier: Apache-2.0
// What every bundle begins with (docs/view-format.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_writer.h"

namespace stowplan::view {

// Begins the header's object and writes what every page has.
void BeginHeader(JsonWriter& json, std::string_view title, std::optional<int64_t> budget);

// Magic and header; columns may follow.
[[nodiscard]] std::string StartBundle(std::string_view header);

// Columns begin at multiples of 8.
constexpr size_t Padded(size_t size) { return (size + 7) / 8 * 8; }

void WriteOptional(JsonWriter& json, std::string_view key, const auto& value) {
  if (value) {
    json.Field(key, *value);
  } else {
    json.Field(key, nullptr);
  }
}

}  // namespace stowplan::view
