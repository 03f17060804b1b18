// SPDX-License-Identifier: Apache-2.0
#include "proto/float_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

namespace stowplan::proto {
namespace {

using hlo::ElementType;

// What the bit patterns at the end of the range mean.
enum class Specials : uint8_t {
  kIeee,       // the last exponent: infinity and nans with a payload
  kAllOnes,    // nan is all ones below the sign; no infinity (fn)
  kMinusZero,  // nan is what would be -0; no infinity (fnuz)
  kNone,       // all patterns are numbers
};

struct Format {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  int bias = 0;
  Specials specials = Specials::kIeee;
};

Format FormatOf(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return {11, 52, 1023};
    case ElementType::kF32:
      return {8, 23, 127};
    case ElementType::kF16:
      return {5, 10, 15};
    case ElementType::kBf16:
      return {8, 7, 127};
    case ElementType::kF8e5m2:
      return {5, 2, 15};
    case ElementType::kF8e4m3:
      return {4, 3, 7};
    case ElementType::kF8e3m4:
      return {3, 4, 3};
    case ElementType::kF8e4m3fn:
      return {4, 3, 7, Specials::kAllOnes};
    case ElementType::kF8e4m3b11fnuz:
      return {4, 3, 11, Specials::kMinusZero};
    case ElementType::kF8e4m3fnuz:
      return {4, 3, 8, Specials::kMinusZero};
    case ElementType::kF8e5m2fnuz:
      return {5, 2, 16, Specials::kMinusZero};
    case ElementType::kF6e3m2fn:
      return {3, 2, 3, Specials::kNone};
    case ElementType::kF6e2m3fn:
      return {2, 3, 1, Specials::kNone};
    case ElementType::kF4e2m1fn:
      return {2, 1, 1, Specials::kNone};
    default:
      return {};
  }
}

// Digits that tell any two numbers with this many significant bits apart.
int MaxDigits(int significant_bits) {
  constexpr double kLog10Of2 = 0.30102999566398120;
  return static_cast<int>(std::ceil(1 + significant_bits * kLog10Of2));
}

void AppendDigits(double number, int digits, std::string& out) {
  char buffer[64];
  const std::to_chars_result end =
      std::to_chars(buffer, buffer + sizeof(buffer), number, std::chars_format::general, digits);
  out.append(buffer, end.ptr);
}

// Those of IEEE's own widths are first tried with the digits that they always keep.
template <class T>
void AppendShortest(T number, std::string& out) {
  char buffer[64];
  const std::to_chars_result end =
      std::to_chars(buffer, buffer + sizeof(buffer), number, std::chars_format::general,
                    std::numeric_limits<T>::digits10);
  T back = 0;
  const std::from_chars_result read = std::from_chars(buffer, end.ptr, back);
  if (read.ec == std::errc() && back == number) {
    out.append(buffer, end.ptr);
  } else {
    AppendDigits(number, std::numeric_limits<T>::max_digits10, out);
  }
}

void AppendNan(bool is_negative, uint64_t mantissa, const Format& format, std::string& out) {
  out += is_negative ? "-nan" : "nan";
  const uint64_t usual = uint64_t{1} << (format.mantissa_bits - 1);
  if (format.specials != Specials::kIeee || mantissa == usual) return;
  char buffer[24];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof(buffer), mantissa, 16);
  out.append("(0x").append(buffer, end.ptr).append(")");
}

// Numbers that are powers of two and nothing else: no sign, no zero.
void AppendPowerOfTwo(uint64_t bits, std::string& out) {
  if (bits == 0xff) {
    out += "nan";
  } else {
    AppendDigits(std::ldexp(1.0, static_cast<int>(bits) - 127), MaxDigits(1), out);
  }
}

}  // namespace

void AppendFloat(ElementType type, uint64_t bits, std::string& out) {
  if (type == ElementType::kF8e8m0fnu) return AppendPowerOfTwo(bits & 0xff, out);
  const Format format = FormatOf(type);
  const uint64_t mantissa_mask = (uint64_t{1} << format.mantissa_bits) - 1;
  const uint64_t exponent_mask = (uint64_t{1} << format.exponent_bits) - 1;
  const uint64_t mantissa = bits & mantissa_mask;
  const uint64_t exponent = bits >> format.mantissa_bits & exponent_mask;
  const bool is_negative = (bits >> (format.mantissa_bits + format.exponent_bits) & 1U) != 0;
  const bool is_last = exponent == exponent_mask;
  switch (format.specials) {
    case Specials::kIeee:
      if (is_last && mantissa != 0) return AppendNan(is_negative, mantissa, format, out);
      if (is_last) {
        out += is_negative ? "-inf" : "inf";
        return;
      }
      break;
    case Specials::kAllOnes:
      if (is_last && mantissa == mantissa_mask)
        return AppendNan(is_negative, mantissa, format, out);
      break;
    case Specials::kMinusZero:
      if (is_negative && exponent == 0 && mantissa == 0)
        return AppendNan(is_negative, mantissa, format, out);
      break;
    case Specials::kNone:
      break;
  }
  if (type == ElementType::kF64) return AppendShortest(std::bit_cast<double>(bits), out);
  if (type == ElementType::kF32)
    return AppendShortest(std::bit_cast<float>(static_cast<uint32_t>(bits)), out);
  // Subnormals lack the leading one and have the exponent of the smallest normal numbers.
  const uint64_t significand = exponent == 0 ? mantissa : mantissa | (mantissa_mask + 1);
  const int power =
      (exponent == 0 ? 1 : static_cast<int>(exponent)) - format.bias - format.mantissa_bits;
  const double magnitude = std::ldexp(static_cast<double>(significand), power);
  AppendDigits(is_negative ? -magnitude : magnitude, MaxDigits(format.mantissa_bits + 1), out);
}

void AppendShort(double number, std::string& out) {
  // to_chars writes -nan(...) for some; printf's words are what counts.
  if (std::isnan(number)) {
    out += std::signbit(number) ? "-nan" : "nan";
  } else {
    AppendDigits(number, 6, out);
  }
}

}  // namespace stowplan::proto
