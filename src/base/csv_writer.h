// SPDX-License-Identifier: Apache-2.0
// CSV, written from front to back. The first line names the columns; fields with commas, quotes or
// newlines are quoted (RFC 4180). The text is UTF-8: other bytes become U+FFFD.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace stowplan {

class CsvWriter {
 public:
  explicit CsvWriter(std::string_view columns) : out_(columns) { out_ += '\n'; }

  void Text(std::string_view text);
  void Number(int64_t n);
  // Nothing: an empty field.
  void Number(const std::optional<int64_t>& n);
  void Flag(bool flag) { Number(int64_t{flag}); }
  void Nothing() { Separate(); }
  void EndRow();
  [[nodiscard]] std::string Take() && { return std::move(out_); }

 private:
  void Separate();

  std::string out_;
  bool is_first_ = true;
};

}  // namespace stowplan
