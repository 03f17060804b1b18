// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <variant>
#include <vector>

#include "cli/command_line.h"
#include "cli/console.h"

int main(int argc, char** argv) {
  using namespace stowplan::cli;
  Console console;
  const std::vector<std::string> words(argv + 1, argv + argc);
  const Request request = ParseCommandLine(words);
  if (const auto* answer = std::get_if<Answer>(&request)) return console.Print(answer->text, kFine);
  if (const auto* mistake = std::get_if<Mistake>(&request)) {
    console.ShowError(mistake->message, mistake->hint);
    return kBadUse;
  }
  const auto& call = std::get<Call>(request);
  return call.command.run(call.arguments, console);
}
