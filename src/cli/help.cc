// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace stowplan::cli {
namespace {

constexpr size_t kWidth = 80;

std::string Pad(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

// Appends words to `out`, whose last line is `column` wide; further lines are indented to that
// column.
void AppendWrapped(std::string_view words, size_t column, std::string& out) {
  size_t width = column;
  bool is_first = true;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    if (!is_first && width + 1 + word.size() > kWidth) {
      out += "\n" + std::string(column, ' ');
      width = column;
      is_first = true;
    }
    if (!is_first) {
      out += ' ';
      ++width;
    }
    out += word;
    width += word.size();
    is_first = false;
  }
  out += '\n';
}

std::string OptionWord(const OptionSpec& option) {
  std::string word = "--" + std::string(option.name);
  if (option.short_name != '\0') word = std::string("-") + option.short_name + ", " + word;
  if (!option.implied.empty()) return word + "[=" + std::string(option.value) + "]";
  if (!option.value.empty()) word += "=" + std::string(option.value);
  return word;
}

std::string OptionHelp(const OptionSpec& option) {
  std::string help(option.help);
  if (!option.choices.empty()) {
    help += ":";
    for (const std::string_view choice : option.choices) {
      help += (help.ends_with(':') ? " " : ", ") + std::string(choice);
    }
  }
  if (!option.fallback.empty()) help += " (default: " + std::string(option.fallback) + ")";
  return help;
}

// By what a user wants.
struct CommandGroup {
  std::string_view title;
  std::vector<std::string_view> names;
};
const std::array<CommandGroup, 5> kGroups = {{
    {"Understand the memory of a program:",
     {"explain", "explain-oom", "report", "view", "export", "inspect"}},
    {"Compare programs, guard a budget:", {"diff", "gate"}},
    {"Need less memory:", {"fit", "order", "repack"}},
    {"Plan and check memory:", {"assign", "check", "replan", "pack"}},
    {"Work with HLO modules:", {"print", "verify", "stats", "completion"}},
}};

std::string UsageLine(const CommandSpec& command) {
  std::string line = "stowplan " + std::string(command.name);
  if (!command.options.empty()) line += " [OPTIONS]";
  switch (command.count) {
    case Positionals::kAtMostOne:
      line += " [" + std::string(command.positional) + "]";
      break;
    case Positionals::kOne:
    case Positionals::kOneOrTwo:  // `positional` itself says which is optional
    case Positionals::kTwo:
      line += " " + std::string(command.positional);
      break;
    case Positionals::kAny:
      line += " " + std::string(command.positional) + "...";
      break;
    case Positionals::kAnyOrNone:
      line += " [" + std::string(command.positional) + "...]";
      break;
  }
  return line;
}

}  // namespace

std::string HelpText(std::span<const CommandSpec> commands) {
  std::string out =
      "stowplan: where the memory of a program for XLA goes, and how to need less.\n"
      "\n"
      "Usage: stowplan THING [OPTIONS]          explains it, whatever it is\n"
      "       stowplan BEFORE AFTER [OPTIONS]   compares two\n"
      "       stowplan COMMAND [OPTIONS] FILE\n"
      "\n"
      "THING is a dump directory, a report of XLA, an HLO module as text or proto, a\n"
      "compiled executable, or the log of a program that ran out of memory; maybe\n"
      "compressed with gzip or zstd; - is standard input. It is recognized by its\n"
      "content, not its name.\n";
  for (const CommandGroup& group : kGroups) {
    out += "\n" + std::string(group.title) + "\n";
    for (const std::string_view name : group.names) {
      const auto command = std::ranges::find(commands, name, &CommandSpec::name);
      if (command == commands.end()) continue;
      const std::string line = "  " + Pad(std::string(name), 12);
      out += line;
      AppendWrapped(command->summary, line.size(), out);
    }
  }
  out +=
      "\n"
      "Examples:\n"
      "  stowplan dump/                                what fills the memory?\n"
      "  stowplan train.log                            why did it run out of memory?\n"
      "  stowplan explain dump/ --module=step --advice what would save memory?\n"
      "  stowplan diff before/ after/                  what changed, and why?\n"
      "  stowplan stats after_optimizations.txt\n"
      "  stowplan print --dialect=jaxlib-0.4.35 module.hlo.pb | less\n"
      "  zcat dump.gz | stowplan verify -\n"
      "\n"
      "`stowplan COMMAND --help` explains a command; `stowplan --version` shows the\n"
      "version. Exit codes: 0 fine, 1 a finding, 2 bad input, wrong\n"
      "usage, or no verdict.\n";
  return out;
}

std::string HelpText(const CommandSpec& command) {
  constexpr size_t kColumn = 26;
  std::string out = "Usage: " + UsageLine(command) + "\n\n";
  out += command.details;
  out += "\nOptions:\n";
  std::vector<OptionSpec> options = command.options;
  options.push_back({.name = "help", .short_name = 'h', .help = "show this text"});
  for (const OptionSpec& option : options) {
    std::string line = "  " + OptionWord(option);
    if (line.size() + 1 > kColumn) line += "\n";
    const size_t begin = line.ends_with('\n') ? 0 : line.size();
    out += line + std::string(kColumn - begin, ' ');
    AppendWrapped(OptionHelp(option), kColumn, out);
  }
  out += "\nExamples:\n";
  out += command.examples;
  return out;
}

}  // namespace stowplan::cli
