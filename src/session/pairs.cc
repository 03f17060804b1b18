// SPDX-License-Identifier: Apache-2.0
#include "session/pairs.h"

#include <map>
#include <string_view>
#include <utility>

#include "session/choose_module.h"
#include "session/note.h"

namespace stowplan {

Result<std::vector<NamedModule>> NamedModules(const Inputs& inputs, const PlanOptions& options) {
  STOWPLAN_TRY(const Inputs chosen, ChooseModules(inputs, options));
  if (chosen.modules.empty())
    return FailAfter(
        LeftoverWarnings(chosen.leftovers),
        Fail("stowplan", "there is no plan in the input",
             "XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_text\" makes XLA write one")
            .error());
  std::vector<NamedModule> modules;
  std::map<std::string, int> counts;
  std::map<std::string, int> stages;  // of a module, with its number
  for (const InputModule& module : chosen.modules) ++stages[module.name];
  for (const InputModule& module : chosen.modules) {
    std::string name(OwnName(module.name));
    if (stages[module.name] > 1) name += " " + module.stage;
    // In the order of XLA's numbers.
    if (const int count = ++counts[name]; count > 1) name += " #" + std::to_string(count);
    modules.push_back({.name = std::move(name), .module = module});
  }
  return modules;
}

Result<std::vector<ModulePair>> PairModules(const Inputs& a, const Inputs& b,
                                            const PlanOptions& options) {
  STOWPLAN_TRY(const std::vector<NamedModule> mine, NamedModules(a, options));
  STOWPLAN_TRY(const std::vector<NamedModule> theirs, NamedModules(b, options));
  std::vector<ModulePair> pairs;
  if (mine.size() == 1 && theirs.size() == 1) {
    pairs.push_back({.name = theirs[0].name, .a = mine[0].module, .b = theirs[0].module});
    return pairs;
  }
  std::map<std::string_view, size_t> rows;
  for (const NamedModule& module : theirs) {
    rows.emplace(module.name, pairs.size());
    pairs.push_back({.name = module.name, .a = std::nullopt, .b = module.module});
  }
  for (const NamedModule& module : mine) {
    if (const auto row = rows.find(module.name); row != rows.end()) {
      pairs[row->second].a = module.module;
    } else {
      pairs.push_back({.name = module.name, .a = module.module, .b = std::nullopt});
    }
  }
  return pairs;
}

Result<InputPair> OpenBoth(const std::string& a, const std::string& b) {
  if (a == "-" && b == "-")
    return Fail("stowplan", "both inputs are standard input", "write one of them to a file");
  STOWPLAN_TRY(Inputs mine, Open({a}));
  STOWPLAN_TRY(Inputs theirs, Open({b}));
  return InputPair{.a = std::move(mine), .b = std::move(theirs)};
}

std::string ShownName(const std::string& name, bool is_single, const PlannedModule& planned) {
  std::string_view file = planned.name;
  file.remove_prefix(file.rfind('/') + 1);  // npos + 1 is 0
  if (!is_single || file.starts_with("module_") || !planned.module) return name;
  const std::string_view own = planned.module->view(planned.module->header.name);
  return own.empty() ? name : std::string(own);
}

}  // namespace stowplan
