// SPDX-License-Identifier: Apache-2.0
// How messages spell options, which depends on who reads them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stowplan {

enum class Speech : uint8_t { kLibrary, kCommandLine, kPython };

// An option with a value: --target=cpu, target="cpu", or `target` for a program that embeds the
// library. Without a value: --target, target=, `target`.
std::string OptionText(Speech speech, std::string_view name, std::string_view value = {});
// A switch: --allow-unsound, allow_unsound=True, or `allow_unsound`.
std::string FlagText(Speech speech, std::string_view name);

}  // namespace stowplan
