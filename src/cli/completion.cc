// SPDX-License-Identifier: Apache-2.0
// stowplan completion: scripts that let a shell complete commands, options and their values.
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/console.h"
#include "stowplan/hlo/dialect.h"

namespace stowplan::cli {
namespace {

// The values to offer for an option. There are too many dialects for the help, but not for a shell.
std::vector<std::string_view> ValuesOf(const OptionSpec& option) {
  if (option.name != "dialect") return option.choices;
  std::vector<std::string_view> names = {"list"};
  for (const hlo::NamedDialect& dialect : hlo::Dialects()) names.push_back(dialect.name);
  return names;
}

std::string Join(const std::vector<std::string_view>& words) {
  std::string out;
  for (const std::string_view word : words) {
    if (!out.empty()) out += ' ';
    out += word;
  }
  return out;
}

std::string OptionWords(const CommandSpec& command) {
  std::string out = "--help";
  for (const OptionSpec& option : command.options) {
    out += " --" + std::string(option.name) + (option.value.empty() ? "" : "=");
  }
  return out;
}

std::string BashScript() {
  std::string names = "help --help --version";
  std::string values;
  std::string options;
  std::string words;
  for (const CommandSpec& command : Commands()) {
    const std::string name(command.name);
    names += " " + name;
    options += "      " + name + ") words=\"" + OptionWords(command) + "\" ;;\n";
    if (!command.positional_choices.empty()) {
      words += "      " + name + ") words=\"" + Join(command.positional_choices) + "\" ;;\n";
    }
    for (const OptionSpec& option : command.options) {
      const std::vector<std::string_view> choices = ValuesOf(option);
      if (choices.empty()) continue;
      values += "    \"" + name + " --" + std::string(option.name) + "\") words=\"" +
                Join(choices) + "\" ;;\n";
    }
  }
  return "# Bash completion for stowplan. To use it in this shell:\n"
         "#   source <(stowplan completion bash)\n"
         "_stowplan() {\n"
         "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" "
         "command=\"\" words=\"\" i\n"
         "  # bash splits words at \"=\".\n"
         "  if [[ $cur == \"=\" ]]; then\n"
         "    cur=\"\"\n"
         "  elif [[ $prev == \"=\" ]]; then\n"
         "    prev=\"${COMP_WORDS[COMP_CWORD-2]}\"\n"
         "  fi\n"
         "  COMPREPLY=()\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    if [[ ${COMP_WORDS[i]} != -* ]]; then command=\"${COMP_WORDS[i]}\"; break; fi\n"
         "  done\n"
         "  if [[ -z $command ]]; then\n"
         "    COMPREPLY=($(compgen -W \"" +
         names +
         "\" -- \"$cur\"))\n"
         "    return\n"
         "  fi\n"
         "  case \"$command $prev\" in\n" +
         values +
         "  esac\n"
         "  if [[ -n $words ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "    return\n"
         "  fi\n"
         "  if [[ $cur == -* ]]; then\n"
         "    case \"$command\" in\n" +
         options +
         "    esac\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
         "  else\n"
         "    case \"$command\" in\n" +
         words +
         "    esac\n"
         "    # A command without words of its own takes files, the default.\n"
         "    [[ -n $words ]] && COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "  fi\n"
         "  return 0\n"
         "}\n"
         "complete -o default -F _stowplan stowplan\n";
}

// In _arguments specs a colon separates parts and brackets hold the description.
std::string ZshEscaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    if (c == '\'') out += "'\\'";
    out += c;
  }
  return out;
}

std::string ZshOption(const OptionSpec& option) {
  if (option.value.empty()) {
    return "'--" + std::string(option.name) + "[" + ZshEscaped(option.help) + "]'";
  }
  const std::vector<std::string_view> choices = ValuesOf(option);
  std::string action =
      choices.empty() ? (option.value == "FILE" ? "_files" : "") : "(" + Join(choices) + ")";
  std::string spec = "--" + std::string(option.name) + "=[" + ZshEscaped(option.help) +
                     "]:" + ZshEscaped(option.value) + ":" + action;
  return "'" + spec + "'";
}

std::string ZshScript() {
  std::string commands;
  std::string cases;
  for (const CommandSpec& command : Commands()) {
    commands += "    '" + std::string(command.name) + ":" + ZshEscaped(command.summary) + "'\n";
    cases += "    " + std::string(command.name) + ")\n      _arguments '--help[show the help]'";
    for (const OptionSpec& option : command.options) cases += " \\\n        " + ZshOption(option);
    const bool takes_many =
        command.count != Positionals::kAtMostOne && command.count != Positionals::kOne;
    const std::string what = command.positional_choices.empty()
                                 ? "_files"
                                 : "(" + Join(command.positional_choices) + ")";
    cases += std::string(" \\\n        '") + (takes_many ? "*" : "1") + ":" +
             std::string(command.positional) + ":" + what + "' ;;\n";
  }
  return "#compdef stowplan\n"
         "# Zsh completion for stowplan. Save it as _stowplan in a folder of $fpath, or use it "
         "in this shell:\n"
         "#   source <(stowplan completion zsh)\n"
         "_stowplan() {\n"
         "  local -a commands\n"
         "  commands=(\n" +
         commands +
         "  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe 'command' commands\n"
         "    _arguments '--help[show the help]' '--version[show the version]'\n"
         "    return\n"
         "  fi\n"
         "  local command=$words[2]\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $command in\n" +
         cases +
         "  esac\n"
         "}\n"
         "if [[ ${funcstack[1]-} == _stowplan ]]; then _stowplan \"$@\"; else compdef _stowplan "
         "stowplan; fi\n";
}

int RunCompletion(const Arguments& arguments, Console& console) {
  return console.Print(arguments.positionals[0] == "bash" ? BashScript() : ZshScript(), kFine);
}

}  // namespace

CommandSpec CompletionCommand() {
  return {
      .name = "completion",
      .summary = "print a completion script for a shell",
      .details = "Prints a script that completes commands, options and their values in a shell.\n",
      .examples =
          "  source <(stowplan completion bash)\n"
          "  stowplan completion bash > /etc/bash_completion.d/stowplan\n"
          "  stowplan completion zsh > ~/.zfunc/_stowplan\n",
      .positional = "SHELL",
      .positional_choices = {"bash", "zsh"},
      .run = RunCompletion,
  };
}

}  // namespace stowplan::cli
