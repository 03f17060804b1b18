// SPDX-License-Identifier: Apache-2.0
#include "cli/module_choice.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "cli/suggest.h"

namespace stowplan::cli {

std::string_view OwnName(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  const size_t dot = name.find('.');
  return name.starts_with("module_") && dot != std::string_view::npos ? name.substr(dot + 1) : name;
}

Likeness LikenessOf(const InputModule& module, std::string_view wanted) {
  const std::string_view name = OwnName(module.name);
  // "step" and "jit_step" ask for the same.
  const auto is_like = [&](std::string_view own) {
    if (own == wanted) return Likeness::kWhole;
    const bool is_begin =
        own.starts_with(wanted) && own.size() > wanted.size() && own[wanted.size()] == '.';
    return is_begin ? Likeness::kBegin : Likeness::kNone;
  };
  Likeness likeness = std::max(is_like(name), is_like(module.name));
  if (constexpr std::string_view kJit = "jit_"; name.starts_with(kJit))
    likeness = std::max(likeness, is_like(name.substr(kJit.size())));
  if (likeness != Likeness::kNone) return likeness;
  const bool is_part =
      name.find(wanted) != std::string_view::npos || module.name.starts_with(wanted);
  return is_part ? Likeness::kPart : Likeness::kNone;
}

namespace {

Likeness BestLikeness(const std::vector<InputModule>& modules, std::string_view wanted) {
  Likeness best = Likeness::kNone;
  for (const InputModule& module : modules) best = std::max(best, LikenessOf(module, wanted));
  return best;
}

}  // namespace

void AddPrograms(const std::string& wanted, Inputs& inputs) {
  const bool has_other =
      !inputs.modules.empty() && (wanted.empty() || BestLikeness(inputs.modules, wanted) >=
                                                        BestLikeness(inputs.programs, wanted));
  if (has_other) return;
  std::set<std::string_view> added;
  for (const InputModule& program : inputs.programs) added.insert(program.leftover);
  std::erase_if(inputs.leftovers, [&](const report::DumpLeftover& leftover) {
    return leftover.is_module && added.contains(leftover.path);
  });
  std::ranges::move(inputs.programs, std::back_inserter(inputs.modules));
  inputs.programs.clear();
}

bool FilterModules(const std::string& wanted, Inputs& inputs, Listener& listener) {
  if (wanted.empty()) return true;
  const Likeness best = BestLikeness(inputs.modules, wanted);
  if (best == Likeness::kNone) {
    std::vector<std::string_view> own_names;
    std::vector<std::string_view> names;  // also without what JAX puts in front
    for (const InputModule& module : inputs.modules) {
      const std::string_view name = OwnName(module.name);
      names.push_back(name);
      own_names.push_back(name);
      if (name.starts_with("jit_")) names.push_back(name.substr(4));
    }
    std::string hint = DidYouMean(wanted, names);
    constexpr size_t kFew = 6;
    if (hint.empty() && inputs.modules.size() <= kFew) hint = DidYouMeanOneOf(wanted, own_names);
    if (hint.empty() && listener.speech() == Speech::kCommandLine)
      hint = "`stowplan report` lists them";
    listener.ShowError("there is no module `" + wanted + "`", hint);
    return false;
  }
  std::erase_if(inputs.modules,
                [&](const InputModule& module) { return LikenessOf(module, wanted) != best; });
  // What else lies in the directory is not of interest.
  inputs.leftovers.clear();
  return true;
}

}  // namespace stowplan::cli
