// SPDX-License-Identifier: Apache-2.0
// A place in HLO text and the small moves every parser makes.
//
// There is no token stream: the grammar is regular enough to work on characters, which makes
// reading fast. The source ends in zero bytes, and a zero byte is in no character class, so no move
// needs to test for the end.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"

namespace stowplan::text {

enum CharClass : uint8_t { kNameChar = 1, kBlankChar = 2, kDigitChar = 4, kFirstChar = 8 };

inline constexpr std::array<uint8_t, 256> kCharClasses = [] {
  std::array<uint8_t, 256> table{};
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = kNameChar | kFirstChar;
  for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = kNameChar | kFirstChar;
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = kNameChar | kDigitChar;
  table['_'] = kNameChar | kFirstChar;
  table['.'] = table['-'] = kNameChar;
  table[' '] = table['\t'] = table['\n'] = table['\r'] = kBlankChar;
  return table;
}();

inline bool IsClass(char c, CharClass which) {
  return (kCharClasses[static_cast<unsigned char>(c)] & which) != 0;
}

// The errors of one file, up to the limit.
class ErrorList {
 public:
  explicit ErrorList(const Source& source) : source_(source) {}
  void Add(const char* at, size_t length, std::string message, std::string hint = {}) {
    const auto offset = static_cast<size_t>(at - source_.begin());
    // The first error at a place is the most precise one.
    if (is_full() || (!list_.empty() && list_.back().offset == offset)) return;
    list_.push_back(source_.At(offset, length, std::move(message), std::move(hint)));
  }
  [[nodiscard]] bool is_full() const { return list_.size() >= kMaxErrors; }
  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] size_t size() const { return list_.size(); }
  Diagnostics Take() { return std::move(list_); }

 private:
  const Source& source_;
  Diagnostics list_;
};

struct Cursor {
  const char* p;
  const char* end;
  ErrorList* errors;

  [[nodiscard]] char peek() const { return *p; }
  [[nodiscard]] bool at_end() const { return p >= end; }

  // Blanks and comments.
  void Skip() {
    while (true) {
      while (IsClass(*p, kBlankChar)) ++p;
      if (*p != '/' || !SkipComment()) return;
    }
  }
  // One comment; false when there is none here.
  bool SkipComment() {
    if (p[1] == '*') {
      const char* close = p + 2;
      while (close < end && !(close[0] == '*' && close[1] == '/')) ++close;
      if (close >= end) return false;
      p = close + 2;
      return true;
    }
    if (p[1] != '/') return false;
    while (p < end && *p != '\n' && *p != '\r') ++p;
    return true;
  }
  // Blanks and one comment, which is shown with its marks; false when no comment follows.
  bool TakeComment(std::string_view& comment) {
    while (IsClass(*p, kBlankChar)) ++p;
    const char* begin = p;
    if (*p != '/' || !SkipComment()) return false;
    comment = {begin, static_cast<size_t>(p - begin)};
    return true;
  }
  // Like Skip; returns whether one of the comments was XLA's count of elements, /*index=5*/.
  bool SkipSeesIndex() {
    bool is_seen = false;
    for (std::string_view comment; TakeComment(comment);)
      is_seen = is_seen || comment.starts_with("/*index=");
    return is_seen;
  }

  // Skips blanks and `c`; returns false, without moving, if something else is here.
  bool Take(char c) {
    if (*p != c) {
      Skip();
      if (*p != c) return false;
    }
    ++p;
    return true;
  }
  // The same for a whole word.
  bool TakeWord(std::string_view word) {
    Skip();
    if (static_cast<size_t>(end - p) < word.size() ||
        std::memcmp(p, word.data(), word.size()) != 0 || IsClass(p[word.size()], kNameChar)) {
      return false;
    }
    p += word.size();
    return true;
  }
  // A punctuation of several characters.
  bool TakeMark(std::string_view mark) {
    Skip();
    if (static_cast<size_t>(end - p) < mark.size() || std::memcmp(p, mark.data(), mark.size()) != 0)
      return false;
    p += mark.size();
    return true;
  }

  // Characters of a name from here, without a `%`; empty when there are none. `->` ends a name.
  std::string_view NameHere() {
    const char* begin = p;
    while (IsClass(*p, kNameChar)) ++p;
    if (p != begin && p[-1] == '-' && *p == '>') --p;
    return {begin, static_cast<size_t>(p - begin)};
  }
  // A name with or without `%`, blanks skipped.
  std::string_view Name() {
    Skip();
    if (*p == '%') ++p;
    return NameHere();
  }

  // An integer; false when there is none. Unsigned 64-bit values wrap, as XLA reads them.
  bool Integer(int64_t& value) {
    Skip();
    const char* start = p;
    const bool is_negative = *p == '-';
    if (is_negative) ++p;
    if (!IsClass(*p, kDigitChar)) {
      p = start;
      return false;
    }
    uint64_t n = 0;
    bool overflow = false;
    for (; IsClass(*p, kDigitChar); ++p) {
      const auto digit = static_cast<uint64_t>(*p - '0');
      overflow = overflow || n > (UINT64_MAX - digit) / 10;
      n = n * 10 + digit;
    }
    const uint64_t limit = uint64_t{1} << 63U;
    if (overflow || (is_negative && n > limit)) {
      p = start;
      return Fail("the number does not fit in 64 bits");
    }
    value = is_negative ? static_cast<int64_t>(~n + 1) : static_cast<int64_t>(n);
    return true;
  }

  // Records an error here (or at `at`) and returns false.
  bool Fail(std::string message, std::string hint = {}) const {
    return FailAt(p, 1, std::move(message), std::move(hint));
  }
  bool FailAt(const char* at, size_t length, std::string message, std::string hint = {}) const {
    errors->Add(at, length, std::move(message), std::move(hint));
    return false;
  }
  // Take, or an error that says what was expected.
  bool Expect(char c, std::string_view where) {
    if (Take(c)) return true;
    return FailExpected(std::string("'") + c + "' " + std::string(where));
  }
  bool FailExpected(const std::string& what) const {
    if (at_end()) return Fail("expected " + what + ", but the text ends here");
    return Fail("expected " + what + ", found '" + PrintableHere() + "'");
  }
  // The next word or character, fit for a message.
  [[nodiscard]] std::string PrintableHere() const {
    const auto byte = static_cast<unsigned char>(*p);
    if (byte == 0) return "\\0";
    if (byte < 0x20 || byte > 0x7e)
      return "\\x" + std::string(1, "0123456789abcdef"[byte >> 4U]) +
             "0123456789abcdef"[byte & 15U];
    const char* q = p;
    while (IsClass(*q, kNameChar) && q - p < 40) ++q;
    return q == p ? std::string(1, *p) : std::string(p, q);
  }
};

}  // namespace stowplan::text
