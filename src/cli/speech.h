// SPDX-License-Identifier: Apache-2.0
// Who reads a page or a message, and so how options and what to do next are spelled in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stowplan::cli {

enum class Speech : uint8_t { kCommandLine, kPython };

// --target=cpu, or target="cpu". Without a value --target, or target=.
std::string OptionText(Speech speech, std::string_view name, std::string_view value = {});
// --allow-unsound, or allow_unsound=True.
std::string FlagText(Speech speech, std::string_view name);

}  // namespace stowplan::cli
