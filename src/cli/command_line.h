// SPDX-License-Identifier: Apache-2.0
// The words of a command line, understood.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cli/command.h"

namespace stowplan::cli {

// Asked for help or the version: the text to print.
struct Answer {
  std::string text;
};

// Not understood.
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
