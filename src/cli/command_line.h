// SPDX-License-Identifier: Apache-2.0
// Parses the command line.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cli/command.h"

namespace stowplan::cli {

// The user asked for help or the version: the text to print.
struct Answer {
  std::string text;
};

// The command line is wrong.
struct Mistake {
  std::string message;
  std::string hint;
};

struct Call {
  CommandSpec command;
  Arguments arguments;
};

using Request = std::variant<Answer, Mistake, Call>;

Request ParseCommandLine(const std::vector<std::string>& words);

}  // namespace stowplan::cli
