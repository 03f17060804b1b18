// SPDX-License-Identifier: Apache-2.0
// A report file line by line, and the small pieces its lines are made of.
#pragma once

#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

#include "stowplan/base/source.h"
#include "stowplan/report/report.h"

namespace stowplan::report {

// The lines of a source, without their ends.
class Lines {
 public:
  explicit Lines(const Source& source) : source_(source), next_(source.begin()) { Next(); }

  [[nodiscard]] bool at_end() const { return is_at_end_; }
  [[nodiscard]] std::string_view line() const { return line_; }
  // From the current line to the end of the source.
  [[nodiscard]] std::string_view rest() const {
    return {line_.data(), static_cast<size_t>(source_.end() - line_.data())};
  }
  void Next() {
    if (next_ >= source_.end()) {
      is_at_end_ = true;
      line_ = source_.bytes().substr(source_.size());
      return;
    }
    const auto* end = static_cast<const char*>(
        std::memchr(next_, '\n', static_cast<size_t>(source_.end() - next_)));
    has_newline_ = end != nullptr;
    if (end == nullptr) end = source_.end();
    line_ = {next_, static_cast<size_t>(end - next_)};
    next_ = has_newline_ ? end + 1 : end;
  }
  // Continues in the middle of the current line: everything before `p` has been read.
  void SkipTo(const char* p) { line_.remove_prefix(static_cast<size_t>(p - line_.data())); }
  // Whether a newline ends the current line; only the last may lack it.
  [[nodiscard]] bool has_newline() const { return has_newline_; }

  // An error at `at`, or at the beginning of the line.
  void Fail(std::string message) { Fail(std::move(message), line_); }
  void Fail(std::string message, std::string_view at) {
    if (errors.size() >= kMaxErrors) return;
    const auto offset = static_cast<size_t>(at.data() - source_.begin());
    errors.push_back(source_.At(offset, 1, std::move(message)));
  }
  [[nodiscard]] bool is_full() const { return errors.size() >= kMaxErrors; }

  Diagnostics errors;

 private:
  const Source& source_;
  const char* next_;
  std::string_view line_;
  bool is_at_end_ = false;
  bool has_newline_ = true;
};

// A piece of a line, consumed from the front. Each Take returns true and advances, or returns false
// and stays.
class Piece {
 public:
  explicit Piece(std::string_view text) : text_(text) {}

  [[nodiscard]] std::string_view rest() const { return text_; }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  bool Take(std::string_view words) {
    if (!text_.starts_with(words)) return false;
    text_.remove_prefix(words.size());
    return true;
  }
  bool TakeNumber(int64_t& n) {
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), n);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    return true;
  }
  bool TakeHex(uint64_t& n) {
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), n, 16);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    return true;
  }
  // The name of an instruction: up to a character that names do not have.
  bool TakeName(std::string_view& name) {
    const size_t length = text_.find_first_of(" {},:<>()=\"");
    name = text_.substr(0, length);
    if (name.empty()) return false;
    text_.remove_prefix(name.size());
    return true;
  }
  // Up to `end`, exclusive.
  bool TakeUntil(std::string_view end, std::string_view& text) {
    const size_t length = text_.find(end);
    if (length == std::string_view::npos) return false;
    text = text_.substr(0, length);
    text_.remove_prefix(length);
    return true;
  }
  // {1,0}; the numbers go to `ints`.
  bool TakeIndex(std::vector<int64_t>& ints, Index& index) {
    if (text_.empty() || text_[0] != '{') return false;
    const std::string_view start = text_;
    text_.remove_prefix(1);
    index.is_shown = true;
    index.numbers = {static_cast<uint32_t>(ints.size()), 0};
    while (!Take("}")) {
      int64_t n = 0;
      if ((index.numbers.count != 0 && !Take(",")) || !TakeNumber(n)) {
        ints.resize(index.numbers.begin);
        text_ = start;
        return false;
      }
      ints.push_back(n);
      ++index.numbers.count;
    }
    return true;
  }

 private:
  std::string_view text_;
};

}  // namespace stowplan::report
