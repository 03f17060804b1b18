// SPDX-License-Identifier: Apache-2.0
// A subcommand: its help texts, its options, and a function. The parser, the help and the shell
// completions share this one description, so they cannot disagree.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stowplan::cli {

class Console;

// Exit codes of the program.
inline constexpr int kFine = 0;
inline constexpr int kFinding = 1;  // the input was read, and something is wrong with it
inline constexpr int kBadUse = 2;   // bad input or usage, or no verdict

// How many leftovers of a directory are shown at most.
inline constexpr size_t kMaxLeftovers = 50;

struct OptionSpec {
  std::string_view name = {};   // "target" for --target
  char short_name = '\0';       // 'o' for -o
  std::string_view value = {};  // how the help calls the value: "NAME"; empty: a flag
  std::string_view help = {};
  std::string_view fallback = {};              // the value if the option is not given
  std::vector<std::string_view> choices = {};  // all allowed values; empty: any
  std::string_view implied = {};  // the value if the option is given without one; empty: required
  bool is_list = false;  // may be repeated: one value per line; otherwise the last one counts
};

enum class Positionals { kAtMostOne, kOne, kOneOrTwo, kTwo, kAny, kAnyOrNone };

// What the command line said, checked against a CommandSpec.
struct Arguments {
  std::vector<std::string> positionals;
  // By name; holds every option of the spec.
  std::map<std::string, std::string, std::less<>> options;

  [[nodiscard]] const std::string& option(std::string_view name) const {
    return options.find(name)->second;
  }
  // Whether a flag was given.
  [[nodiscard]] bool flag(std::string_view name) const { return !option(name).empty(); }
};

struct CommandSpec {
  std::string_view name = {};
  std::string_view summary = {};     // one line
  std::string_view details = {};     // paragraphs for its own help
  std::string_view examples = {};    // lines "command   what it does"
  std::string_view positional = {};  // "FILE"
  Positionals count = Positionals::kOne;
  std::vector<std::string_view> positional_choices = {};  // empty: a file
  std::vector<OptionSpec> options = {};
  int (*run)(const Arguments& arguments, Console& console) = nullptr;
};

// In the order of the help.
std::vector<CommandSpec> Commands();

CommandSpec AssignCommand();
CommandSpec CheckCommand();
CommandSpec CompletionCommand();
CommandSpec DiffCommand();
CommandSpec ExplainCommand();
CommandSpec ExplainOomCommand();
CommandSpec ExportCommand();
CommandSpec GateCommand();
CommandSpec InspectCommand();
CommandSpec ViewCommand();
CommandSpec PackCommand();
CommandSpec OrderCommand();
CommandSpec FitCommand();
CommandSpec PrintCommand();
CommandSpec RepackCommand();
CommandSpec ReplanCommand();
CommandSpec ReportCommand();
CommandSpec StatsCommand();
CommandSpec VerifyCommand();

}  // namespace stowplan::cli
