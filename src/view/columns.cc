// SPDX-License-Identifier: Apache-2.0
#include "view/columns.h"

#include <bit>

#include "base/utf8.h"

namespace stowplan::view {

static_assert(std::endian::native == std::endian::little,
              "columns are written as they lie in memory");

std::string_view Name(ColumnType type) {
  switch (type) {
    case ColumnType::kU8:
      return "u8";
    case ColumnType::kU16:
      return "u16";
    case ColumnType::kU32:
      return "u32";
    case ColumnType::kI32:
      return "i32";
    case ColumnType::kF64:
      break;
  }
  return "f64";
}

uint32_t Strings::Id(std::string_view text) {
  const auto [found, is_new] =
      ids_.try_emplace(std::string(text), static_cast<uint32_t>(ends_.size()));
  if (is_new) {
    AppendUtf8(text, bytes_);
    ends_.push_back(static_cast<uint32_t>(bytes_.size()));
  }
  return found->second;
}

void Strings::AddTo(Columns& columns) const {
  columns.Add("string.ends", std::span<const uint32_t>(ends_));
  columns.Add("string.bytes",
              std::span(reinterpret_cast<const uint8_t*>(bytes_.data()), bytes_.size()));
}

}  // namespace stowplan::view
