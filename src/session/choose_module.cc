// SPDX-License-Identifier: Apache-2.0
#include "session/choose_module.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/suggest.h"
#include "session/inputs.h"

namespace stowplan {

std::string_view OwnName(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  const size_t dot = name.find('.');
  return name.starts_with("module_") && dot != std::string_view::npos ? name.substr(dot + 1) : name;
}

Likeness LikenessOf(const InputModule& module, std::string_view wanted) {
  const std::string_view name = OwnName(module.name);
  // "step" and "jit_step" ask for the same module.
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

void AddPrograms(const std::string& wanted, Inputs& inputs) {
  const bool has_other =
      !inputs.modules.empty() && (wanted.empty() || BestLikeness(inputs.modules, wanted) >=
                                                        BestLikeness(inputs.programs, wanted));
  if (has_other) return;
  std::set<std::string_view> added;
  for (const InputModule& program : inputs.programs) added.insert(program.files->leftover);
  std::erase_if(inputs.leftovers, [&](const Leftover& leftover) {
    return leftover.is_module && added.contains(leftover.path);
  });
  std::ranges::copy(inputs.programs, std::back_inserter(inputs.modules));
  inputs.programs.clear();
}

std::string HintFor(const Inputs& inputs, const PlanOptions& options) {
  std::vector<std::string_view> own_names;
  std::vector<std::string_view> names;  // also without what JAX puts in front
  for (const InputModule& module : inputs.modules) {
    const std::string_view name = OwnName(module.name);
    names.push_back(name);
    own_names.push_back(name);
    if (name.starts_with("jit_")) names.push_back(name.substr(4));
  }
  std::string hint = DidYouMean(options.module, names);
  constexpr size_t kFew = 6;
  if (hint.empty() && inputs.modules.size() <= kFew)
    hint = DidYouMeanOneOf(options.module, own_names);
  if (hint.empty() && options.speech == Speech::kCommandLine) hint = "`stowplan report` lists them";
  return hint;
}

}  // namespace

Result<Inputs> ChooseModules(Inputs inputs, const PlanOptions& options) {
  AddPrograms(options.module, inputs);
  if (options.module.empty() || inputs.modules.empty()) return inputs;
  const Likeness best = BestLikeness(inputs.modules, options.module);
  if (best == Likeness::kNone)
    return Fail("stowplan", "there is no module `" + options.module + "`",
                HintFor(inputs, options));
  std::erase_if(inputs.modules, [&](const InputModule& module) {
    return LikenessOf(module, options.module) != best;
  });
  // Nothing else in the directory matters.
  inputs.leftovers.clear();
  return inputs;
}

Diagnostics LeftoverWarnings(const std::vector<Leftover>& leftovers) {
  Diagnostics lines;
  for (const Leftover& leftover : leftovers) {
    Diagnostic line;
    line.severity = Severity::kWarning;
    line.file = leftover.path;
    line.message = leftover.reason;
    lines.push_back(std::move(line));
  }
  return lines;
}

Leftover LeftoverOf(const Diagnostic& diagnostic) {
  std::string path = diagnostic.file;
  if (diagnostic.line != 0)
    path += ":" + std::to_string(diagnostic.line) + ":" + std::to_string(diagnostic.column);
  return {std::move(path), diagnostic.message};
}

}  // namespace stowplan
