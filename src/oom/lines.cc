// SPDX-License-Identifier: Apache-2.0
#include "oom/lines.h"

#include <algorithm>
#include <array>
#include <utility>

#include "oom/text.h"

namespace stowplan::oom {
namespace {

// Longer lines are cut: nothing that belongs together is so long.
constexpr size_t kLongest = size_t{1} << 16;
// Prefixes are short.
constexpr size_t kPrefix = 256;

size_t CountDigits(std::string_view text, size_t at) {
  size_t count = 0;
  while (at + count < text.size() && IsDigit(text[at + count])) ++count;
  return count;
}

// "2026-01-02 10:11:12.345678: ", "2026-01-02T10:11:12Z ": its length, or 0.
size_t TimeLength(std::string_view text) {
  if (text.size() < 19 || CountDigits(text, 0) != 4 || text[4] != '-' || text[7] != '-' ||
      (text[10] != 'T' && text[10] != ' ') || text[13] != ':' || text[16] != ':')
    return 0;
  size_t at = 19;
  while (at < text.size() && (IsDigit(text[at]) || std::string_view(".,Z+:").contains(text[at])))
    ++at;
  return at < text.size() && text[at] == ' ' ? at + 1 : 0;
}

// "bfc_allocator.cc:479] " with whatever stands before it: the length, or 0.
size_t PlaceLength(std::string_view text) {
  const std::string_view head = text.substr(0, kPrefix);
  for (size_t at = head.find(']'); at != std::string_view::npos; at = head.find(']', at + 1)) {
    size_t digits = at;
    while (digits > 0 && IsDigit(head[digits - 1])) --digits;
    if (digits == at || digits == 0 || head[digits - 1] != ':') continue;
    const std::string_view file = head.substr(0, digits - 1);
    for (const std::string_view end : {".cc", ".py", ".h", ".cpp", ".cu", ".rs", ".go"})
      if (file.ends_with(end)) return at + 1;
  }
  return 0;
}

// "(Train pid=77, ip=10.0.0.1) ", "[rank3]: ", "[1,2]<stderr>:": the length, or 0.
size_t ProcessLength(std::string_view text) {
  const std::string_view head = text.substr(0, kPrefix);
  if (head.starts_with('(')) {
    const size_t end = head.find(") ");
    if (end != std::string_view::npos && head.substr(0, end).contains("pid=")) return end + 2;
  }
  if (head.starts_with('[')) {
    const size_t end = head.find(']');
    if (end != std::string_view::npos) {
      const std::string_view rest = head.substr(end + 1);
      if (rest.starts_with(": ")) return end + 3;
      for (const std::string_view mark : {"<stderr>:", "<stdout>:"})
        if (rest.starts_with(mark)) return end + 1 + mark.size();
    }
  }
  return 0;
}

// "ERROR: ", "stderr F ", "> ", "E " of pytest, "worker-0 | ", "3: " of srun: the length, or 0.
size_t MarkLength(std::string_view text) {
  constexpr std::array<std::string_view, 16> kMarks = {
      "> ",     "# ",       "// ",   "E ",     "stderr F ", "stdout F ", "stderr P ", "stdout P ",
      "ERROR:", "WARNING:", "INFO:", "FATAL:", "absl:",     "root:",     "ERROR ",    "FATAL "};
  for (const std::string_view mark : kMarks)
    if (text.starts_with(mark)) return mark.size();
  const std::string_view head = text.substr(0, 60);
  const size_t bar = head.find(" | ");
  if (bar != std::string_view::npos && !head.substr(0, bar).contains(' ') &&
      std::ranges::any_of(head.substr(0, bar), IsDigit))
    return bar + 3;
  const size_t digits = CountDigits(text, 0);
  if (digits > 0 && digits < 5 && text.substr(digits).starts_with(": ")) return digits + 2;
  return 0;
}

// Without escapes of terminals; other control characters become blanks, runs of blanks one.
std::string WithoutControls(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    const auto c = static_cast<unsigned char>(raw[i]);
    if (c == 0x1b) {
      if (i + 1 < raw.size() && raw[i + 1] == '[') {
        size_t end = i + 2;
        while (end < raw.size() && end < i + 32 && !IsLetter(raw[end])) ++end;
        i = std::min(end, raw.size() - 1);
      }
      continue;
    }
    // Markdown's bold; an allocator's map has longer rows of stars.
    const bool is_bold = c == '*' && i + 2 < raw.size() && raw[i + 1] == '*' && raw[i + 2] != '*' &&
                         (i == 0 || raw[i - 1] != '*') && raw[i + 2] != '_';
    if (is_bold) {
      ++i;
      continue;
    }
    if (c == '\\' && i + 1 < raw.size() && raw[i + 1] == '.') continue;  // "1\. Size"
    if (c <= ' ' || c == 0x7f) {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out += raw[i];
    }
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

bool HasHotWord(std::string_view raw) {
  // Cheap: nearly all lines of a long log end here.
  for (size_t i = 0; i + 3 <= raw.size(); ++i) {
    const std::string_view rest = raw.substr(i);
    const auto is = [&](std::string_view word) {
      if (rest.size() < word.size()) return false;
      for (size_t k = 0; k < word.size(); ++k)
        if (SmallLetter(rest[k]) != word[k]) return false;
      return true;
    };
    switch (raw[i]) {
      case 'm':
      case 'M':
        if (is("memory")) return true;
        break;
      case 'a':
      case 'A':
        // The names of the files in prefixes have it too; "allocator.cc" says nothing.
        if (is("allocat") && !is("allocator.cc") && !is("allocator_")) return true;
        if (is("alloc_failed")) return true;
        break;
      case 'e':
      case 'E':
        if (is("exhausted")) return true;
        break;
      case 'o':
      case 'O':
        if (is("oom")) return true;
        break;
      case 'h':
      case 'H':
        if (is("hbm usage")) return true;
        break;
      case 'b':
        if (is("bad_alloc")) return true;
        break;
      case 'S':
        if (is("stats:")) return true;
        break;
      default:
        break;
    }
  }
  return false;
}

}  // namespace

std::string CleanLine(std::string_view raw) {
  // With a blank at the end, which prefixes of empty lines have too.
  const std::string clean = WithoutControls(raw.substr(0, kLongest)) + ' ';
  std::string_view text = clean;
  for (int i = 0; i < 8; ++i) {
    while (text.size() > 1 && text.starts_with(' ')) text.remove_prefix(1);
    size_t length = TimeLength(text);
    if (length == 0) length = PlaceLength(text);
    if (length == 0) length = ProcessLength(text);
    if (length == 0) length = MarkLength(text);
    if (length == 0) break;
    text.remove_prefix(length);
  }
  return std::string(Trimmed(text));
}

const Line& Lines::Cleaned(Line& line) {
  if (!line.is_clean) {
    line.text = CleanLine(line.text);
    line.lower = SmallLetters(line.text);
    line.is_clean = true;
  }
  return line;
}

void Lines::Push(std::string_view raw, int64_t number) {
  Line line;
  line.number = number;
  line.is_hot = HasHotWord(raw);
  line.text = std::string(raw);
  ahead_.push_back(std::move(line));
}

void Lines::Fill() {
  while (ahead_.size() <= kAhead && !rest_.empty()) {
    // Progress bars end their lines with a bare carriage return.
    const size_t window = std::min(rest_.size(), kLongest);
    size_t end = rest_.substr(0, window).find_first_of("\n\r");
    size_t next = 0;
    bool is_end = true;
    if (end != std::string_view::npos) {
      next = end + 1;
      if (rest_[end] == '\r' && next < rest_.size() && rest_[next] == '\n') ++next;
    } else if (window == rest_.size()) {
      end = next = window;
    } else {
      const size_t blank = rest_.substr(0, window).rfind(' ');
      end = next = blank == std::string_view::npos || blank == 0 ? window : blank;
      is_end = false;
    }
    const std::string_view raw = rest_.substr(0, end);
    const int64_t number = count_ + 1;
    if (is_end) ++count_;
    rest_.remove_prefix(next);
    // A message inside a string.
    const size_t escaped = raw.find("\\n");
    if (escaped == std::string_view::npos || !HasHotWord(raw.substr(0, escaped)) ||
        raw.substr(0, escaped).contains("op_name=")) {
      Push(raw, number);
      continue;
    }
    std::string unquoted;
    for (size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] == '\\' && i + 1 < raw.size()) {
        const char c = raw[++i];
        unquoted += c == 'n' ? '\n' : c == 't' ? '\t' : c;
      } else {
        unquoted += raw[i];
      }
    }
    std::string_view pieces = unquoted;
    while (!pieces.empty()) {
      const size_t stop = std::min(pieces.find('\n'), pieces.size());
      Push(pieces.substr(0, stop), number);
      pieces.remove_prefix(std::min(pieces.size(), stop + 1));
    }
  }
}

const Line* Lines::Next(bool wants_cold) {
  Fill();
  if (ahead_.empty()) return nullptr;
  current_ = std::move(ahead_.front());
  ahead_.pop_front();
  Fill();
  if (current_.is_hot || is_hot_ahead() || wants_cold) Cleaned(current_);
  return &current_;
}

}  // namespace stowplan::oom
