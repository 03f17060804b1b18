// SPDX-License-Identifier: Apache-2.0
#include "cli/number.h"

#include <charconv>
#include <string>

#include "page/text.h"

namespace stowplan::cli {

namespace {

// In seconds; 0: there is no such unit.
double UnitOf(std::string_view unit) {
  if (unit == "ms") return 0.001;
  if (unit == "m" || unit == "min") return 60;
  if (unit == "h") return 3600;
  return unit.empty() || unit == "s" ? 1 : 0;
}

}  // namespace

std::optional<int64_t> ParseNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<size_t> ReadCount(std::string_view option, const Arguments& arguments,
                                Console& console) {
  const std::string& text = arguments.option(option);
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  console.ShowError("--" + std::string(option) + " needs a number, not `" + text + "`");
  return std::nullopt;
}

std::optional<double> ReadSeconds(std::string_view option, const Arguments& arguments,
                                  Console& console) {
  constexpr double kMost = 1e6;
  const std::string& text = arguments.option(option);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const double unit = UnitOf({end, text.data() + text.size()});
  if (error == std::errc() && unit > 0 && number >= 0 && number * unit <= kMost)
    return number * unit;
  console.ShowError("--" + std::string(option) + " needs a time, not `" + text + "`",
                    "such as 500ms, 60s or 2m");
  return std::nullopt;
}

std::optional<int64_t> ReadBytes(std::string_view option, const Arguments& arguments,
                                 Console& console) {
  const std::string& text = arguments.option(option);
  std::optional<int64_t> bytes = page::ParseBytes(text);
  if (!bytes) {
    console.ShowError("--" + std::string(option) + " needs a size, not `" + text + "`",
                      "such as 16GiB or 1048576");
  }
  return bytes;
}

}  // namespace stowplan::cli
