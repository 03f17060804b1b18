// SPDX-License-Identifier: Apache-2.0
// Numbers in typed arrays, which JavaScript reads without parsing each one.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stowplan::view {

inline constexpr uint32_t kNone = 0xffffffffU;

enum class ColumnType : uint8_t { kU8, kU16, kU32, kI32, kF64 };
[[nodiscard]] std::string_view Name(ColumnType type);

struct Column {
  std::string name;
  ColumnType type = ColumnType::kU8;
  size_t at = 0;     // in Columns::bytes
  size_t count = 0;  // of numbers
};

// Little-endian, each column at a multiple of 8.
class Columns {
 public:
  void Add(std::string_view name, std::span<const uint8_t> rows) {
    Append(name, ColumnType::kU8, rows);
  }
  void Add(std::string_view name, std::span<const uint16_t> rows) {
    Append(name, ColumnType::kU16, rows);
  }
  void Add(std::string_view name, std::span<const uint32_t> rows) {
    Append(name, ColumnType::kU32, rows);
  }
  void Add(std::string_view name, std::span<const int32_t> rows) {
    Append(name, ColumnType::kI32, rows);
  }
  void Add(std::string_view name, std::span<const double> rows) {
    Append(name, ColumnType::kF64, rows);
  }

  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  template <class T>
  void Append(std::string_view name, ColumnType type, std::span<const T> rows) {
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    columns_.push_back(
        {.name = std::string(name), .type = type, .at = bytes_.size(), .count = rows.size()});
    bytes_.append(reinterpret_cast<const char*>(rows.data()), rows.size_bytes());
  }

  std::vector<Column> columns_;
  std::string bytes_;
};

// Each text once; 0 is the empty one.
class Strings {
 public:
  Strings() { Id({}); }
  uint32_t Id(std::string_view text);
  void AddTo(Columns& columns) const;

 private:
  std::unordered_map<std::string, uint32_t> ids_;
  std::vector<uint32_t> ends_;
  std::string bytes_;
};

}  // namespace stowplan::view
