// SPDX-License-Identifier: Apache-2.0
#include "cli/pair_input.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cli/module_choice.h"
#include "cli/report_list.h"

namespace stowplan::cli {

std::vector<OptionSpec> WithPairInput(std::vector<OptionSpec> own) {
  own.push_back(
      {.name = "module", .value = "NAME", .help = "of directories, the modules of this name"});
  own.push_back(TargetOption());
  return own;
}

namespace {

// `input` is what they were found in.
std::optional<Inputs> FindSome(const std::string& input, const PlanInputOptions& options,
                               Listener& listener) {
  Result<Inputs> inputs = FindInputs({input});
  if (!inputs) {
    listener.Show(inputs.error());
    return std::nullopt;
  }
  AddPrograms(options.module, *inputs);
  if (!inputs->modules.empty()) return *std::move(inputs);
  ShowLeftovers(*inputs, listener);
  listener.ShowError("there is no plan in " + input,
                     "XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_text\" makes XLA write one");
  return std::nullopt;
}

std::optional<std::vector<NamedModule>> NameModules(Inputs inputs, const PlanInputOptions& options,
                                                    Listener& listener) {
  if (!FilterModules(options.module, inputs, listener)) return std::nullopt;
  std::vector<NamedModule> modules;
  std::map<std::string, int> counts;
  std::map<std::string, int> stages;  // of a module, with its number
  for (const InputModule& module : inputs.modules) ++stages[module.name];
  for (InputModule& module : inputs.modules) {
    std::string name(OwnName(module.name));
    if (stages[module.name] > 1) name += " " + module.stage;
    // In the order of XLA's numbers.
    if (const int count = ++counts[name]; count > 1) name += " #" + std::to_string(count);
    modules.push_back({.name = std::move(name), .module = std::move(module)});
  }
  return modules;
}

}  // namespace

std::optional<std::vector<NamedModule>> FindModules(const std::string& input,
                                                    const PlanInputOptions& options,
                                                    Listener& listener) {
  std::optional<Inputs> inputs = FindSome(input, options, listener);
  if (!inputs) return std::nullopt;
  return NameModules(*std::move(inputs), options, listener);
}

std::optional<InputPair> FindBothInputs(const std::string& a, const std::string& b,
                                        const PlanInputOptions& options, Listener& listener) {
  if (a == "-" && b == "-") {
    listener.ShowError("both inputs are standard input", "write one of them to a file");
    return std::nullopt;
  }
  std::optional<Inputs> mine = FindSome(a, options, listener);
  if (!mine) return std::nullopt;
  std::optional<Inputs> theirs = FindSome(b, options, listener);
  if (!theirs) return std::nullopt;
  return InputPair{.a = *std::move(mine), .b = *std::move(theirs)};
}

std::optional<std::vector<ModulePair>> PairsOf(InputPair inputs, const PlanInputOptions& options,
                                               Listener& listener) {
  std::optional<std::vector<NamedModule>> mine =
      NameModules(std::move(inputs.a), options, listener);
  if (!mine) return std::nullopt;
  std::optional<std::vector<NamedModule>> theirs =
      NameModules(std::move(inputs.b), options, listener);
  if (!theirs) return std::nullopt;
  std::vector<ModulePair> pairs;
  if (mine->size() == 1 && theirs->size() == 1) {
    pairs.push_back({.name = (*theirs)[0].name,
                     .a = std::move((*mine)[0].module),
                     .b = std::move((*theirs)[0].module)});
    return pairs;
  }
  std::map<std::string, size_t> rows;
  for (NamedModule& module : *theirs) {
    rows.emplace(module.name, pairs.size());
    pairs.push_back({.name = module.name, .a = std::nullopt, .b = std::move(module.module)});
  }
  for (NamedModule& module : *mine) {
    if (const auto row = rows.find(module.name); row != rows.end()) {
      pairs[row->second].a = std::move(module.module);
    } else {
      pairs.push_back({.name = module.name, .a = std::move(module.module), .b = std::nullopt});
    }
  }
  return pairs;
}

std::optional<std::vector<ModulePair>> FindPairs(const std::string& a, const std::string& b,
                                                 const PlanInputOptions& options,
                                                 Listener& listener) {
  std::optional<InputPair> inputs = FindBothInputs(a, b, options, listener);
  if (!inputs) return std::nullopt;
  return PairsOf(*std::move(inputs), options, listener);
}

std::string ShownName(const std::string& name, bool is_single, const PlanInput& plan) {
  std::string_view file = plan.name;
  file.remove_prefix(file.rfind('/') + 1);  // npos + 1 is 0
  if (!is_single || file.starts_with("module_") || !plan.program) return name;
  const std::string_view own = plan.program->view(plan.program->header.name);
  return own.empty() ? name : std::string(own);
}

std::unique_ptr<PicturedPlan> LoadPicture(InputModule module, const PlanInputOptions& options,
                                          Listener& listener) {
  std::optional<PlanInput> plan = LoadPlan(std::move(module), options, listener);
  if (!plan) return nullptr;
  auto pictured = std::make_unique<PicturedPlan>();
  pictured->plan = *std::move(plan);
  Result<explain::Picture> picture = explain::MakePicture(
      pictured->plan.report, pictured->plan.program ? &*pictured->plan.program : nullptr,
      pictured->plan.target);
  if (!picture) {
    listener.Show(picture.error());
    return nullptr;
  }
  pictured->picture = *std::move(picture);
  return pictured;
}

}  // namespace stowplan::cli
