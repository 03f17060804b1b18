// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/human_bytes.h"
#include "base/suggest.h"
#include "cli/any_input.h"
#include "cli/help.h"
#include "page/text.h"
#include "stowplan/version.h"

namespace stowplan::cli {
namespace {

bool IsHelp(const std::string& word) { return word == "--help" || word == "-h"; }

std::string HelpHint(const CommandSpec& command) {
  return "`stowplan " + std::string(command.name) + " --help` shows its options";
}

const CommandSpec* FindCommand(const std::vector<CommandSpec>& commands, std::string_view name) {
  const auto found = std::ranges::find(commands, name, &CommandSpec::name);
  return found == commands.end() ? nullptr : &*found;
}

Mistake UnknownCommand(const std::vector<CommandSpec>& commands, const std::string& word) {
  std::vector<std::string_view> names;
  names.reserve(commands.size());
  for (const CommandSpec& command : commands) names.push_back(command.name);
  std::string hint = DidYouMean(word, names);
  if (hint.empty()) hint = "`stowplan --help` lists the commands";
  return {"there is no command `" + word + "`", std::move(hint)};
}

Mistake UnknownOption(const CommandSpec& command, const std::string& word) {
  std::vector<std::string> names = {"--help"};
  for (const OptionSpec& option : command.options) names.push_back("--" + std::string(option.name));
  std::string hint = DidYouMean(word.substr(0, word.find('=')), {names.begin(), names.end()});
  if (hint.empty()) hint = HelpHint(command);
  return {std::string(command.name) + " has no option `" + word + "`", std::move(hint)};
}

// "an INPUT", "a FILE", "a number" for N
std::string WithArticle(std::string_view noun) {
  if (noun.size() == 1) return "a number";
  constexpr std::string_view kVowels = "AEIOU";
  const bool is_vowel = !noun.empty() && kVowels.find(noun[0]) != std::string_view::npos;
  return (is_vowel ? "an " : "a ") + std::string(noun);
}

// Finds an option that needs a value but comes last, or right before another option.
std::optional<Mistake> FindMissingValue(const CommandSpec& command,
                                        const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    // `--limit=$LIMIT` in a script that does not set LIMIT: the next word is not the value.
    const bool is_empty = words[i].starts_with("--") && words[i].ends_with('=');
    const std::string_view word =
        std::string_view(words[i]).substr(0, words[i].size() - (is_empty ? 1 : 0));
    const auto option = std::ranges::find_if(command.options, [&](const OptionSpec& each) {
      return word == "--" + std::string(each.name) ||
             (each.short_name != '\0' && word == std::string("-") + each.short_name);
    });
    if (option == command.options.end() || option->value.empty()) continue;
    if (!is_empty && i + 1 < words.size() && !words[i + 1].starts_with("--")) {
      ++i;  // its value, which may look like an option
      continue;
    }
    return Mistake{std::string(word) + " needs " + WithArticle(option->value), HelpHint(command)};
  }
  return std::nullopt;
}

// Checks a value against the choices of the spec.
std::optional<Mistake> CheckChoice(const std::string& what, const std::string& value,
                                   const std::vector<std::string_view>& choices) {
  if (choices.empty() || std::ranges::find(choices, value) != choices.end()) return std::nullopt;
  return Mistake{what + " cannot be `" + value + "`", DidYouMeanOneOf(value, choices)};
}

std::optional<Mistake> CheckArguments(const CommandSpec& command, const Arguments& arguments) {
  const std::string name(command.name);
  const std::vector<std::string>& positionals = arguments.positionals;
  const bool needs_one = command.count == Positionals::kOne || command.count == Positionals::kAny;
  const bool takes_one =
      command.count == Positionals::kOne || command.count == Positionals::kAtMostOne;
  if (positionals.empty() && needs_one) {
    return Mistake{name + " needs " + WithArticle(command.positional), HelpHint(command)};
  }
  if (positionals.size() > 1 && takes_one) {
    return Mistake{name + " takes only one " + std::string(command.positional) + "; unexpected `" +
                       positionals[1] + "`",
                   HelpHint(command)};
  }
  const size_t least = command.count == Positionals::kTwo ? 2 : 1;
  const bool takes_two =
      command.count == Positionals::kTwo || command.count == Positionals::kOneOrTwo;
  if (takes_two && (positionals.size() < least || positionals.size() > 2)) {
    return Mistake{name + " takes " + std::string(command.positional) + ", not " +
                       CountOf(static_cast<int64_t>(positionals.size()), "input"),
                   HelpHint(command)};
  }
  for (const std::string& positional : positionals) {
    if (auto mistake =
            CheckChoice(std::string(command.positional), positional, command.positional_choices)) {
      return mistake;
    }
  }
  for (const OptionSpec& option : command.options) {
    const std::string& value = arguments.option(option.name);
    if (value == option.fallback) continue;
    if (auto mistake = CheckChoice("--" + std::string(option.name), value, option.choices))
      return mistake;
  }
  return std::nullopt;
}

Request ParseCall(const CommandSpec& command, std::vector<std::string> words) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  Arguments arguments;
  // Everything after `--` is an input, whatever it looks like.
  const auto end = std::ranges::find(words, "--");
  const std::vector<std::string> inputs(end == words.end() ? end : end + 1, words.end());
  words.erase(end, words.end());
  app.add_option(std::string(command.positional), arguments.positionals);
  for (const OptionSpec& option : command.options) {
    std::string& value = arguments.options[std::string(option.name)];
    value = option.fallback;
    std::string names = "--" + std::string(option.name);
    if (option.short_name != '\0') names += std::string(",-") + option.short_name;
    if (option.value.empty()) {
      app.add_flag_callback(names, [&value] { value = "yes"; });
      continue;
    }
    if (!option.implied.empty())
      std::ranges::replace(words, names, names + "=" + std::string(option.implied));
    app.add_option(names, value)
        ->multi_option_policy(option.is_list ? CLI::MultiOptionPolicy::Join
                                             : CLI::MultiOptionPolicy::TakeLast)
        ->expected(1);
  }
  if (auto mistake = FindMissingValue(command, words)) return *std::move(mistake);
  try {
    std::ranges::reverse(words);  // CLI11 takes words from the back
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return Mistake{std::string(command.name) + ": " + error.what(), HelpHint(command)};
  }
  const std::vector<std::string> unknown = app.remaining();
  if (!unknown.empty()) return UnknownOption(command, unknown[0]);
  std::ranges::copy(inputs, std::back_inserter(arguments.positionals));
  if (auto mistake = CheckArguments(command, arguments)) return *std::move(mistake);
  return Call{command, std::move(arguments)};
}

}  // namespace

Request ParseCommandLine(const std::vector<std::string>& words) {
  const std::vector<CommandSpec> commands = Commands();
  if (words.empty()) return Answer{HelpText(commands)};
  const std::string& first = words[0];
  if (first == "--version") return Answer{"stowplan " + std::string(kVersion) + "\n"};
  if (IsHelp(first)) return Answer{HelpText(commands)};
  const bool is_help = first == "help";
  if (is_help && words.size() == 1) return Answer{HelpText(commands)};
  const std::string& name = is_help ? words[1] : first;
  const CommandSpec* const command = FindCommand(commands, name);
  if (command == nullptr && name.starts_with('-') && name != "-") {
    std::string hint = DidYouMean(name, {"--help", "--version"});
    if (hint.empty()) hint = "options come after the command: stowplan print --help";
    return Mistake{"unknown option `" + name + "` before the command", std::move(hint)};
  }
  if (command == nullptr) {
    // Its first word is a command, so this ends.
    if (const auto meant = CommandFor(words); meant && !is_help) return ParseCommandLine(*meant);
    return UnknownCommand(commands, name);
  }
  const auto options_end = std::ranges::find(words, "--");
  if (is_help || std::any_of(words.begin(), options_end, IsHelp)) return Answer{HelpText(*command)};
  return ParseCall(*command, {words.begin() + 1, words.end()});
}

}  // namespace stowplan::cli
