// SPDX-License-Identifier: Apache-2.0
#include "cli/number.h"

#include <charconv>
#include <string>

#include "page/text.h"

namespace stowplan::cli {

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
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc() && end == text.data() + text.size() && seconds >= 0 && seconds <= kMost)
    return seconds;
  console.ShowError("--" + std::string(option) + " needs seconds, not `" + text + "`",
                    "such as 0.5 or 60");
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
