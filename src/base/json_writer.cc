// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/utf8.h"

namespace stowplan {
namespace {

void AppendAscii(char c, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte != 0x7f) {
    out.push_back(c);
    return;
  }
  out += "\\u00";
  out.push_back(kHex[byte >> 4U]);
  out.push_back(kHex[byte & 0xfU]);
}

}  // namespace

void JsonWriter::Begin(std::string_view key, char open, char close) {
  if (!key.empty()) Key(key);
  Separate();
  out_.push_back(open);
  levels_.push_back({close, true});
}

void JsonWriter::End() {
  const Level level = levels_.back();
  const bool is_line = levels_.size() > indented_levels_;
  levels_.pop_back();
  if (!level.is_empty && !is_line) Indent();
  out_.push_back(level.close);
  if (levels_.empty()) out_.push_back('\n');
}

void JsonWriter::Key(std::string_view key) {
  Separate();
  AppendString(key);
  out_ += levels_.size() > indented_levels_ ? ":" : ": ";
  has_key_ = true;
}

void JsonWriter::Separate() {
  if (has_key_) {
    has_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  if (!levels_.back().is_empty) out_.push_back(',');
  levels_.back().is_empty = false;
  if (levels_.size() <= indented_levels_) Indent();
}

void JsonWriter::Indent() {
  out_.push_back('\n');
  out_.append(2 * levels_.size(), ' ');
}

void JsonWriter::Raw(std::string_view text) {
  Separate();
  out_ += text;
}

void JsonWriter::Value(double number) {
  // JSON has no word for these.
  if (!std::isfinite(number)) {
    Raw("null");
    return;
  }
  std::array<char, 40> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  Raw(std::string_view(digits.data(), static_cast<size_t>(end - digits.data())));
}

void JsonWriter::Value(std::string_view text) {
  Separate();
  AppendString(text);
}

void JsonWriter::AppendString(std::string_view text) {
  out_.push_back('"');
  for (size_t i = 0; i < text.size();) {
    const size_t length = Utf8Length(text, i);
    if (length == 0) {
      out_ += "\\ufffd";
      ++i;
    } else if (length == 1) {
      AppendAscii(text[i++], out_);
    } else {
      out_ += text.substr(i, length);
      i += length;
    }
  }
  out_.push_back('"');
}

}  // namespace stowplan
