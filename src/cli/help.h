// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "cli/command.h"

namespace stowplan::cli {

std::string HelpText(std::span<const CommandSpec> commands);
std::string HelpText(const CommandSpec& command);

}  // namespace stowplan::cli
