// SPDX-License-Identifier: Apache-2.0
#include "base/csv_writer.h"

#include "base/utf8.h"

namespace stowplan {

void CsvWriter::Text(std::string_view text) {
  Separate();
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    AppendUtf8(text, out_);
    return;
  }
  std::string quoted;
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  out_ += '"';
  AppendUtf8(quoted, out_);
  out_ += '"';
}

void CsvWriter::Number(int64_t n) {
  Separate();
  out_ += std::to_string(n);
}

void CsvWriter::Number(const std::optional<int64_t>& n) {
  if (n)
    Number(*n);
  else
    Nothing();
}

void CsvWriter::EndRow() {
  out_ += '\n';
  is_first_ = true;
}

void CsvWriter::Separate() {
  if (!is_first_) out_ += ',';
  is_first_ = false;
}

}  // namespace stowplan
