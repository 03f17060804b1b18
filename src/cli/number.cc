// SPDX-License-Identifier: Apache-2.0
#include "cli/number.h"

#include <charconv>
#include <string>

namespace stowplan::cli {

std::optional<size_t> ReadCount(std::string_view option, const Arguments& arguments,
                                Console& console) {
  const std::string& text = arguments.option(option);
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  console.ShowError("--" + std::string(option) + " wants a number, not `" + text + "`");
  return std::nullopt;
}

}  // namespace stowplan::cli
