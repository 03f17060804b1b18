// SPDX-License-Identifier: Apache-2.0
#include "page/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/utf8.h"

namespace stowplan::page {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

}  // namespace

size_t TextWidth(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return !IsContinuation(c); }));
}

std::string Printable(std::string_view text) {
  std::string out;
  AppendHarmless(text, out);
  return out;
}

namespace {

// Where the n-th character begins.
size_t Offset(std::string_view text, size_t character) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!IsContinuation(text[at]) && character-- == 0) break;
  }
  return at;
}

std::string_view Tail(std::string_view text, size_t width) {
  return text.substr(Offset(text, TextWidth(text) - std::min(TextWidth(text), width)));
}

constexpr std::string_view kDots = "...";

}  // namespace

std::string Shortened(std::string_view text, size_t width) {
  if (TextWidth(text) <= width || width < 8) return std::string(text);
  const size_t keep = width - kDots.size();
  return std::string(text.substr(0, Offset(text, keep - keep / 2))) + std::string(kDots) +
         std::string(Tail(text, keep / 2));
}

std::string ShortenedOpName(std::string_view text, size_t width) {
  if (TextWidth(text) <= width) return std::string(text);
  // jit(f)/jit(main)/conv[window_strides=(1,) ...]
  std::string name(text);
  const size_t open = name.find('[');
  if (open != std::string::npos && open != 0 && name.ends_with(']') && name.find('/') < open) {
    name.replace(open, std::string::npos, "[...]");
    if (TextWidth(name) <= width) return name;
  }
  return std::string(kDots) + std::string(Tail(name, width - std::min(width, kDots.size())));
}

std::string ShortenedPath(std::string_view text, size_t width) {
  if (TextWidth(text) <= width) return std::string(text);
  std::string_view tail = Tail(text, width - std::min(width, kDots.size()));
  if (const size_t slash = tail.find('/'); slash != std::string_view::npos) {
    tail.remove_prefix(slash);
  }
  return std::string(kDots) + std::string(tail);
}

std::string ShortenedStack(std::string_view text, size_t width) {
  if (TextWidth(text) <= width) return std::string(text);
  // The last of several frames that were joined says most.
  constexpr std::string_view kJoint = " > ";
  std::string head;
  if (const size_t joint = text.rfind(kJoint); joint != std::string_view::npos) {
    text.remove_prefix(joint + kJoint.size());
    head = std::string(kDots) + std::string(kJoint);
  }
  const size_t blank = std::min(text.find(' '), text.size());
  std::string_view file = text.substr(0, blank);
  std::string function(text.substr(blank));
  if (TextWidth(head) + TextWidth(text) <= width) return head + std::string(text);
  file.remove_prefix(file.rfind('/') + 1);  // npos + 1 is 0
  const size_t used = TextWidth(head) + TextWidth(file);
  if (used + 8 > width) return Shortened(head + std::string(file), std::max(width, used));
  // What a function is inside of is said by the frames above it.
  if (const size_t locals = function.rfind("<locals>.");
      locals != std::string::npos && used + TextWidth(function) > width)
    function = " " + function.substr(locals + std::string_view("<locals>.").size());
  return head + std::string(file) + Shortened(function, width - used);
}

std::string ShortenedShape(std::string_view text, size_t width) {
  if (TextWidth(text) <= width) return std::string(text);
  const size_t keep = width - std::min(width, kDots.size());
  return std::string(text.substr(0, Offset(text, keep))) + std::string(kDots);
}

void TextTable::Add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

void TextTable::AddLine(std::string line) {
  std::vector<std::string> row(columns_.size() + 1);
  row.back() = std::move(line);
  rows_.push_back(std::move(row));
}

void TextTable::Append(std::string& out) const {
  std::vector<size_t> widths(columns_.size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], TextWidth(row[i]));
  }
  for (const auto& row : rows_) {
    std::string line;
    if (row.size() > columns_.size()) {
      line = row.back();
    } else {
      for (size_t i = 0; i < row.size(); ++i) {
        if (widths[i] == 0) continue;
        const std::string gap(widths[i] - TextWidth(row[i]), ' ');
        line += "  " + (columns_[i] == kRight ? gap + row[i] : row[i] + gap);
      }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
}

std::string Percent(int64_t part, int64_t whole) {
  if (whole <= 0) return "";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (part > 0 && percent < 0.05) return "<0.1%";
  if (part < whole && percent >= 99.95) return ">99.9%";
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.1f%%", percent);
  return {text.data(), static_cast<size_t>(length)};
}

std::string Bar(int64_t part, int64_t whole, size_t width) {
  if (whole <= 0 || part <= 0) return {};
  constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double share = std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
  const auto eighths = static_cast<size_t>(std::lround(share * static_cast<double>(width) * 8));
  std::string bar;
  for (size_t i = 0; i < eighths / 8; ++i) bar += "█";
  bar += kEighths[eighths % 8];
  return bar.empty() ? "▏" : bar;
}

std::string SpaceText(report::Backend backend, int64_t color) {
  std::string text = "S(" + std::to_string(color) + ")";
  if (const std::string_view name = report::SpaceName(backend, color); !name.empty()) {
    text += " " + std::string(name);
  }
  return text;
}

namespace {

std::string IndexText(const report::Report& report, const report::Index& index) {
  std::string text = "{";
  for (const int64_t n : report.numbers(index)) {
    if (text.size() > 1) text += ',';
    text += std::to_string(n);
  }
  return text + "}";
}

}  // namespace

std::string ValueText(const report::Report& report, const report::Value& value) {
  std::string text = Printable(value.instruction);
  if (value.index.is_shown || value.index.numbers.count != 0)
    text += IndexText(report, value.index);
  return text;
}

std::string AllocationText(const report::Report& report, const report::Allocation& allocation) {
  std::string text;
  const auto add = [&](std::string_view word) {
    if (!text.empty()) text += ", ";
    text += word;
  };
  if (allocation.parameter) {
    add("parameter " + std::to_string(*allocation.parameter));
    if (allocation.parameter_index.numbers.count != 0) {
      text += " " + IndexText(report, allocation.parameter_index);
    }
  }
  if (allocation.is_thread_local) add("thread-local");
  if (allocation.is_constant) add("constant");
  if (allocation.is_maybe_live_out) {
    add(allocation.parameter ? "aliased" : allocation.output_shape ? "result" : "output");
  }
  if (allocation.is_temp()) add("temporaries");
  return text;
}

namespace {

std::string_view WithoutBlanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// The bytes in a unit, in upper or lower case; absent when there is no such unit.
std::optional<double> BytesOfUnit(std::string_view unit) {
  std::string upper(unit);
  for (char& c : upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  if (upper.empty() || upper == "B") return 1;
  if (unit[0] == 'e') return std::nullopt;  // half of 1e9
  constexpr std::string_view kUnits = "KMGTPE";
  const size_t power = kUnits.find(upper[0]);
  if (power == std::string_view::npos) return std::nullopt;
  upper.erase(0, 1);
  if (!upper.empty() && upper != "IB" && upper != "B" && upper != "I") return std::nullopt;
  return std::pow(1024.0, static_cast<double>(power + 1));
}

}  // namespace

std::optional<int64_t> ParseBytes(std::string_view text) {
  text = WithoutBlanks(text);
  const char* last = text.data() + text.size();
  // Whole numbers of bytes are exact, however large.
  int64_t whole = 0;
  if (const auto [end, error] = std::from_chars(text.data(), last, whole);
      error == std::errc() && end == last) {
    return whole < 0 ? std::nullopt : std::optional(whole);
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || !(number >= 0)) return std::nullopt;
  const std::optional<double> unit =
      BytesOfUnit(WithoutBlanks({end, static_cast<size_t>(last - end)}));
  if (!unit) return std::nullopt;
  const double bytes = number * *unit;
  if (bytes >= 9.2e18) return std::nullopt;
  return static_cast<int64_t>(bytes);
}

}  // namespace stowplan::page
