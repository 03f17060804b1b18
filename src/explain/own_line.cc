// SPDX-License-Identifier: Apache-2.0
#include "explain/own_line.h"

#include <algorithm>
#include <array>
#include <utility>

#include "explain/source_root.h"

namespace stowplan::explain {
namespace {

bool IsSeparator(char c) { return c == '/' || c == '\\'; }

std::vector<std::string_view> NamesOf(std::string_view path) {
  std::vector<std::string_view> names;
  while (!path.empty()) {
    const auto end = static_cast<size_t>(std::ranges::find_if(path, IsSeparator) - path.begin());
    if (end != 0) names.push_back(path.substr(0, end));
    path.remove_prefix(std::min(path.size(), end + 1));
  }
  return names;
}

// "python3.11", "pypy3.10"
bool IsVersioned(std::string_view name) {
  for (const std::string_view start : {"python", "pypy"}) {
    if (!name.starts_with(start)) continue;
    const std::string_view version = name.substr(start.size());
    return !version.empty() && version.find_first_not_of("0123456789.t") == std::string_view::npos;
  }
  return false;
}

// What was typed has no file either.
bool IsTyped(std::string_view file) {
  constexpr std::array<std::string_view, 5> kTyped = {"<stdin", "<string", "<ipython-input",
                                                      "<python-input", "<console"};
  return std::ranges::any_of(kTyped,
                             [&](std::string_view start) { return file.starts_with(start); });
}

// Where the part of a library's path begins that is the same in a checkout of its source; npos: it
// is no library's.
size_t BeginInLibrary(std::string_view file) {
  size_t at = 0;
  std::string_view before;
  size_t begin = std::string_view::npos;
  for (const std::string_view name : NamesOf(file)) {
    at = static_cast<size_t>(name.data() - file.data());
    const bool is_last = at + name.size() == file.size();
    if (is_last) break;  // the file itself
    if (name == "site-packages" || name == "dist-packages" || name == "__pypackages__" ||
        ((before == "lib" || before == "lib64") && IsVersioned(name)))
      begin = at + name.size() + 1;
    before = name;
  }
  return begin;
}

// `*` stands for any characters.
bool Matches(std::string_view text, std::string_view pattern) {
  size_t t = 0;
  size_t p = 0;
  size_t star = std::string_view::npos;
  size_t after = 0;  // where the text after the star is tried
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++after;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool HasNames(std::string_view file, std::string_view pattern) {
  const std::vector<std::string_view> names = NamesOf(file);
  const std::vector<std::string_view> wanted = NamesOf(pattern);
  return !wanted.empty() && !std::ranges::search(names, wanted).empty();
}

// A checkout may have a virtual environment inside, and a file of the same name as a library's.
bool IsBelow(const std::string& root, std::string_view file) {
  const std::string path = PathBelow(root, file);
  if (path.empty()) return false;
  const std::string_view below = std::string_view(path).substr(root.size());
  if (BeginInLibrary(below) != std::string_view::npos) return false;
  const size_t begin = BeginInLibrary(file);
  if (begin == std::string_view::npos || file.starts_with(root)) return true;
  return NamesOf(below) == NamesOf(file.substr(begin));
}

template <class Row>
const Row* RowAt(const std::vector<Row>& rows, int32_t number) {
  return number > 0 && static_cast<size_t>(number) <= rows.size()
             ? &rows[static_cast<size_t>(number) - 1]
             : nullptr;
}

}  // namespace

bool IsLibrary(std::string_view file) {
  if (file.empty() || file.starts_with('<')) return !IsTyped(file);
  return BeginInLibrary(file) != std::string_view::npos;
}

std::vector<std::string> PatternsOf(std::string_view list) {
  std::vector<std::string> patterns;
  while (!list.empty()) {
    const size_t end = std::min(list.find_first_of(",\n"), list.size());
    if (end != 0) patterns.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(list.size(), end + 1));
  }
  return patterns;
}

bool Owners::IsNamed(std::string_view file) const {
  const auto fits = [&](const std::string& pattern) {
    return pattern.find('*') == std::string::npos ? HasNames(file, pattern)
                                                  : Matches(file, pattern);
  };
  if (std::ranges::any_of(own_.patterns, fits)) return true;
  return !own_.source_root.empty() && !file.empty() && IsBelow(own_.source_root, file);
}

Owner Owners::Of(std::string_view file) {
  if (const auto found = known_.find(file); found != known_.end()) return found->second;
  Owner owner = IsLibrary(file) ? Owner::kLibrary : Owner::kUser;
  if (IsNamed(file)) owner = Owner::kNamed;
  known_.emplace(file, owner);
  return owner;
}

OwnLine OwnLineOf(const hlo::Module& module, const hlo::Metadata& metadata, const OwnCode& own) {
  Owners owners(own);
  const hlo::StackFrames& stacks = module.stack_frames;
  OwnLine best;
  Owner nearest = Owner::kLibrary;
  int32_t number = metadata.stack_frame;
  // Frames of a damaged file may form a loop.
  for (size_t steps = 0; steps < stacks.frames.size(); ++steps) {
    const auto* const frame = RowAt(stacks.frames, number);
    if (frame == nullptr) break;
    number = frame->parent;
    const auto* const location = RowAt(stacks.locations, frame->location);
    const auto* const file = location == nullptr ? nullptr : RowAt(stacks.files, location->file);
    if (file == nullptr) continue;
    const Owner owner = owners.Of(module.view(*file));
    if (!best.file.empty() && owner >= nearest) continue;
    const auto* const function = RowAt(stacks.functions, location->function);
    best = {.file = module.view(*file),
            .function = function == nullptr ? std::string_view() : module.view(*function),
            .line = location->line};
    nearest = owner;
    if (owner == Owner::kNamed) break;
  }
  if (best.file.empty())
    best = {
        .file = module.view(metadata.source_file), .function = {}, .line = metadata.source_line};
  return best;
}

std::string LineText(const OwnLine& line) {
  if (line.file.empty() || line.line == 0) return {};
  std::string_view file = line.file;
  file.remove_prefix(file.rfind('/') + 1);  // npos + 1 is 0
  return std::string(file) + ":" + std::to_string(line.line);
}

}  // namespace stowplan::explain
