// SPDX-License-Identifier: Apache-2.0
#include "base/line_counter.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace stowplan {
namespace {

// Lines of machine-written HLO reach megabytes; an excerpt shows this much of one.
constexpr size_t kBytesBefore = 40;
constexpr size_t kWindow = 100;
constexpr std::string_view kEllipsis = "...";

// One column for each byte, so that the caret stands right: bytes that a terminal would obey, or
// show as less or more than one column, become question marks.
void AppendColumns(std::string_view bytes, std::string& out) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (byte >= 0x20 && byte < 0x7f) || c == '\t';
    out.push_back(is_plain ? c : '?');
  }
}

void FillExcerpt(std::string_view line, size_t column, size_t length, Diagnostic& diagnostic) {
  size_t begin = 0;
  size_t end = line.size();
  if (line.size() > kWindow) {
    begin = column > kBytesBefore ? column - kBytesBefore : 0;
    end = std::min(line.size(), begin + kWindow);
    begin = std::min(begin, line.size() - kWindow);
  }
  std::string excerpt;
  if (begin != 0) excerpt += kEllipsis;
  const size_t caret = excerpt.size() + (column - begin);
  AppendColumns(line.substr(begin, end - begin), excerpt);
  if (end != line.size()) excerpt += kEllipsis;
  diagnostic.excerpt = std::move(excerpt);
  diagnostic.caret = static_cast<uint32_t>(caret);
  diagnostic.caret_length =
      static_cast<uint32_t>(std::clamp(length, size_t{1}, std::max(end - column, size_t{1})));
}

}  // namespace

void LineCounter::MoveTo(size_t offset) {
  if (offset < position_) *this = LineCounter(text_);
  const char* const begin = text_.data();
  while (position_ < offset) {
    const void* const found = std::memchr(begin + position_, '\n', offset - position_);
    if (found == nullptr) break;
    line_begin_ = static_cast<size_t>(static_cast<const char*>(found) - begin) + 1;
    position_ = line_begin_;
    ++line_;
  }
  position_ = offset;
}

void LineCounter::Locate(size_t offset, size_t length, Diagnostic& diagnostic) {
  offset = std::min(offset, text_.size());
  MoveTo(offset);
  // Looking no further than an excerpt can reach keeps this quick on a file of one line.
  const size_t reach = std::min(text_.size(), offset + 2 * kWindow);
  size_t line_end = text_.substr(0, reach).find('\n', offset);
  if (line_end == std::string_view::npos) line_end = reach;
  if (line_end > offset && text_[line_end - 1] == '\r') --line_end;
  const std::string_view line = text_.substr(line_begin_, line_end - line_begin_);
  const size_t column = offset - line_begin_;
  diagnostic.offset = offset;
  diagnostic.line = line_;
  diagnostic.column = static_cast<uint32_t>(column) + 1;
  FillExcerpt(line, column, length, diagnostic);
}

}  // namespace stowplan
