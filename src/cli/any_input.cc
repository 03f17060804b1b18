// SPDX-License-Identifier: Apache-2.0
#include "cli/any_input.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>

#include "executable/container.h"
#include "oom/oom.h"
#include "stowplan/base/source.h"

namespace stowplan::cli {
namespace {

bool IsThere(const std::string& path) {
  std::error_code error;
  return path == "-" || std::filesystem::exists(path, error);
}

constexpr size_t kHead = 4096;

bool IsText(std::string_view bytes) {
  return std::ranges::none_of(bytes.substr(0, kHead), [](char c) {
    return c >= 0 && c < ' ' && c != '\n' && c != '\t' && c != '\r' && c != '\x1b';
  });
}

// Whether a text is of XLA: a module or one of its reports.
bool IsOfXla(std::string_view text) {
  for (const std::string_view start : {"HloModule ", "BufferAssignment:", "HloLiveRange"}) {
    if (text.starts_with(start)) return true;
    const std::string line = "\n" + std::string(start);
    if (text.substr(0, kHead).find(line) != std::string_view::npos) return true;
  }
  return false;
}

// A log can be long; it is one if it has an out-of-memory error.
bool IsLog(const std::string& path) {
  std::error_code error;
  // What comes from a pipe can be read only once, by the command.
  if (path == "-" || !std::filesystem::is_regular_file(path, error)) return false;
  const Result<std::shared_ptr<const Source>> source = ReadSource(path);
  if (!source || executable::LooksLikeExecutable((*source)->bytes()) ||
      !IsText((*source)->bytes()) || IsOfXla((*source)->bytes()))
    return false;
  return !oom::ReadLog((*source)->bytes()).incidents.empty();
}

// "module_0004.jit_step" of a file of a dump; empty: it is none.
std::string ModuleIn(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string name = file.filename().string();
  if (!name.starts_with("module_")) return {};
  const size_t dot = name.find('.', std::min(name.size(), name.find('.') + 1));
  return (file.parent_path() / name.substr(0, dot)).string();
}

}  // namespace

std::optional<std::vector<std::string>> CommandFor(const std::vector<std::string>& words) {
  if (words.empty() || !IsThere(words[0])) return std::nullopt;
  std::vector<std::string> inputs;
  std::vector<std::string> others;
  for (const std::string& word : words) {
    // The rest are options and their values.
    (IsThere(word) ? inputs : others).push_back(word);
  }
  std::vector<std::string> command;
  const auto log = std::ranges::find_if(inputs, IsLog);
  if (log != inputs.end()) {
    command = {"explain-oom", *log};
    for (auto input = inputs.begin(); input != inputs.end(); ++input)
      if (input != log) command.push_back("--dump=" + *input);
  } else {
    const bool is_one = inputs.size() != 2 || (!ModuleIn(inputs[0]).empty() &&
                                               ModuleIn(inputs[0]) == ModuleIn(inputs[1]));
    command = {is_one ? "explain" : "diff"};
    command.insert(command.end(), inputs.begin(), inputs.end());
  }
  command.insert(command.end(), others.begin(), others.end());
  return command;
}

}  // namespace stowplan::cli
