// SPDX-License-Identifier: Apache-2.0
#include "cli/speech.h"

#include <algorithm>

namespace stowplan::cli {
namespace {

std::string Keyword(std::string_view name) {
  std::string keyword(name);
  std::ranges::replace(keyword, '-', '_');
  return keyword + "=";
}

}  // namespace

std::string OptionText(Speech speech, std::string_view name, std::string_view value) {
  const std::string text(value);
  if (speech == Speech::kPython)
    return Keyword(name) + (value.empty() ? std::string() : "\"" + text + "\"");
  return "--" + std::string(name) + (value.empty() ? "" : "=") + text;
}

std::string FlagText(Speech speech, std::string_view name) {
  return speech == Speech::kPython ? Keyword(name) + "True" : OptionText(speech, name);
}

}  // namespace stowplan::cli
