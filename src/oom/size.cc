// SPDX-License-Identifier: Apache-2.0
#include "oom/size.h"

#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "base/human_bytes.h"
#include "oom/text.h"

namespace stowplan::oom {
namespace {

__extension__ using Wide = unsigned __int128;

bool IsWordCharacter(char c) { return IsDigit(c) || IsLetter(c) || c == '_'; }

// The power of 1024 of the unit at `position`, which moves past it. Absent: there is no unit.
std::optional<int> ReadUnit(std::string_view text, size_t& position) {
  constexpr std::string_view kUnits = "KMGTPE";
  const std::string_view rest = text.substr(position);
  size_t length = 0;
  int power = 0;
  if (rest.starts_with("bytes")) {
    length = 5;
  } else if (rest.starts_with("B")) {
    length = 1;
  } else if (!rest.empty()) {
    const size_t unit = kUnits.find(rest[0] == 'k' ? 'K' : rest[0]);
    if (unit == std::string_view::npos) return std::nullopt;
    power = static_cast<int>(unit) + 1;
    length = 1;
    if (rest.substr(length).starts_with("i")) ++length;
    if (rest.substr(length).starts_with("B")) ++length;
  }
  if (length == 0 || (rest.size() > length && IsWordCharacter(rest[length]))) return std::nullopt;
  position += length;
  return power;
}

// " (1610612736 bytes)", " (1610612736B)", " (1610612736)" after a rounded size.
std::optional<int64_t> ReadExact(std::string_view text, size_t& position) {
  size_t at = position;
  if (at < text.size() && text[at] == ' ') ++at;
  if (at >= text.size() || text[at] != '(') return std::nullopt;
  ++at;
  const size_t digits = at;
  int64_t number = 0;
  while (at < text.size() && IsDigit(text[at])) {
    const std::optional<int64_t> tens = CheckedMultiply(number, 10);
    const std::optional<int64_t> sum = tens ? CheckedAdd(*tens, text[at] - '0') : std::nullopt;
    if (!sum) return std::nullopt;
    number = *sum;
    ++at;
  }
  if (at == digits) return std::nullopt;
  for (const std::string_view end : {" bytes)", "B)", ")"}) {
    if (!text.substr(at).starts_with(end)) continue;
    position = at + end.size();
    return number;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Size> ReadSize(std::string_view text, size_t& position) {
  constexpr Wide kMost = std::numeric_limits<int64_t>::max();
  size_t at = position;
  while (at < text.size() && text[at] == ' ') ++at;
  const size_t begin = at;
  Wide mantissa = 0;
  Wide scale = 1;  // 10 to the number of decimals
  bool has_point = false;
  while (at < text.size()) {
    if (text[at] == '.' && !has_point && at > begin) {
      // A full stop is not a decimal point.
      const bool is_decimal = at + 1 < text.size() && IsDigit(text[at + 1]);
      const bool has_unit = at + 2 < text.size() && text[at + 1] == ' ' &&  // numpy's "184. MiB"
                            std::string_view("KMGTP").contains(text[at + 2]);
      if (!is_decimal && !has_unit) break;
      has_point = true;
    } else if (IsDigit(text[at])) {
      if (mantissa > kMost || scale > kMost / 10) return std::nullopt;
      mantissa = mantissa * 10 + static_cast<Wide>(text[at] - '0');
      if (has_point) scale *= 10;
    } else {
      break;
    }
    ++at;
  }
  if (at == begin || mantissa > kMost) return std::nullopt;
  size_t unit_at = at;
  std::optional<int> power = ReadUnit(text, unit_at);
  if (!power && unit_at < text.size() && text[unit_at] == ' ') {
    ++unit_at;
    power = ReadUnit(text, unit_at);
  }
  if (power) {
    at = unit_at;
  } else if (has_point || (at < text.size() && IsWordCharacter(text[at]))) {
    return std::nullopt;
  }
  const int shift = 10 * power.value_or(0);
  // 15.48 has 1548 for a mantissa: only the quotient must fit.
  const Wide bytes = (mantissa << shift) / scale;
  if (bytes > kMost) return std::nullopt;
  Size size{.bytes = static_cast<int64_t>(bytes), .slack = 0};
  if (shift > 0) size.slack = static_cast<int64_t>((Wide{1} << shift) / scale);
  position = at;
  if (size.slack > 0) {
    size_t behind = position;
    const std::optional<int64_t> exact = ReadExact(text, behind);
    if (exact && Agree({.bytes = *exact, .slack = 0}, size)) {
      size = {.bytes = *exact, .slack = 0};
      position = behind;
    }
  }
  return size;
}

std::optional<Size> ParseSize(std::string_view text) {
  size_t position = 0;
  const std::optional<Size> size = ReadSize(text, position);
  return position == text.size() ? size : std::nullopt;
}

std::optional<Size> Plus(const std::optional<Size>& a, const std::optional<Size>& b) {
  if (!a || !b) return std::nullopt;
  const std::optional<int64_t> bytes = CheckedAdd(a->bytes, b->bytes);
  if (!bytes) return std::nullopt;
  return Size{.bytes = *bytes, .slack = SaturatingAdd(a->slack, b->slack)};
}

std::optional<Size> Minus(const std::optional<Size>& a, const std::optional<Size>& b) {
  if (!a || !b) return std::nullopt;
  // What is left of something may be negative, and be subtracted again.
  int64_t bytes = 0;
  if (__builtin_sub_overflow(a->bytes, b->bytes, &bytes))
    bytes = a->bytes < b->bytes ? INT64_MIN : INT64_MAX;
  return Size{.bytes = bytes, .slack = SaturatingAdd(a->slack, b->slack)};
}

bool Agree(const Size& a, const Size& b) {
  const uint64_t low = static_cast<uint64_t>(std::min(a.bytes, b.bytes));
  const uint64_t high = static_cast<uint64_t>(std::max(a.bytes, b.bytes));
  return high - low <= static_cast<uint64_t>(SaturatingAdd(a.slack, b.slack));
}

std::string SizeText(const Size& size) {
  return size.slack == 0 ? HumanAndExactBytes(size.bytes) : HumanBytes(size.bytes);
}

}  // namespace stowplan::oom
