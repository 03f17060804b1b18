// SPDX-License-Identifier: Apache-2.0
#include "stowplan/base/speech.h"

#include <algorithm>

namespace stowplan {
namespace {

std::string Identifier(std::string_view name) {
  std::string identifier(name);
  std::ranges::replace(identifier, '-', '_');
  return identifier;
}

}  // namespace

std::string OptionText(Speech speech, std::string_view name, std::string_view value) {
  const std::string text(value);
  switch (speech) {
    case Speech::kPython:
      return Identifier(name) + "=" + (value.empty() ? std::string() : "\"" + text + "\"");
    case Speech::kLibrary:
      return "`" + Identifier(name) + (value.empty() ? "`" : " = " + text + "`");
    case Speech::kCommandLine:
      break;
  }
  return "--" + std::string(name) + (value.empty() ? "" : "=") + text;
}

std::string FlagText(Speech speech, std::string_view name) {
  return speech == Speech::kPython ? Identifier(name) + "=True" : OptionText(speech, name);
}

}  // namespace stowplan
