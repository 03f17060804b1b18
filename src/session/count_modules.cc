// SPDX-License-Identifier: Apache-2.0
#include "session/count_modules.h"

#include <algorithm>
#include <utility>

#include "session/check.h"
#include "session/choose_module.h"
#include "session/inputs.h"
#include "session/load.h"

namespace stowplan {
namespace {

Result<CountedModule> CountModule(const InputModule& module, const PlanOptions& options,
                                  MakePlans plans, std::vector<Leftover>& leftovers) {
  STOWPLAN_TRY(const PlannedModule planned, plans == MakePlans::kYes
                                                ? LoadAsIs(module, options)
                                                : LoadGiven(module, ReadProgram::kNo));
  for (const Diagnostic& note : planned.notes) {
    if (note.severity == Severity::kWarning) leftovers.push_back(LeftoverOf(note));
  }
  CountedModule counted = {.input = module, .summary = {}};
  STOWPLAN_TRY(counted.summary, report::Summarize(*planned.report));
  std::string target = options.target;
  if (target.empty() && planned.is_made() && planned.target) target = planned.target->name;
  counted.backend =
      target.empty() ? report::GuessBackend(*planned.report) : report::BackendOfTarget(target);
  counted.is_made = planned.is_made();
  counted.findings = FindingsOf(*planned.report, planned.sources).size();
  return counted;
}

// A dump may be larger than main memory, so files are released once they have been read. Only the
// largest module, the one most likely to be used next, keeps its files. The last row is the newest.
void KeepLargest(const std::vector<CountedModule>& modules, size_t& largest) {
  const size_t last = modules.size() - 1;
  if (last == largest) return;
  const bool is_larger = modules[last].summary.bytes > modules[largest].summary.bytes;
  Forget(modules[is_larger ? largest : last].input);
  if (is_larger) largest = last;
}

}  // namespace

const Diagnostic* FirstError(const Diagnostics& diagnostics) {
  const auto first = std::ranges::find(diagnostics, Severity::kError, &Diagnostic::severity);
  return first == diagnostics.end() ? nullptr : &*first;
}

CountedModules CountModules(const Inputs& inputs, const PlanOptions& options, MakePlans plans) {
  CountedModules result = {.modules = {}, .leftovers = inputs.leftovers, .first_errors = {}};
  size_t largest = 0;
  for (size_t i = 0; i < inputs.modules.size(); ++i) {
    const InputModule& module = inputs.modules[i];
    if (options.on_module) options.on_module(i, inputs.modules.size(), module.name);
    Result<CountedModule> counted = CountModule(module, options, plans, result.leftovers);
    if (counted) {
      result.modules.push_back(*std::move(counted));
      KeepLargest(result.modules, largest);
      continue;
    }
    const Diagnostic* const first = FirstError(counted.error());
    Diagnostic why = first != nullptr ? *first : Fail(module.name, "cannot be planned").error()[0];
    if (why.file == "stowplan") why.file = module.name;
    result.leftovers.push_back(LeftoverOf(why));
    if (result.first_errors.empty()) result.first_errors = std::move(counted).error();
  }
  return result;
}

CountedModules CountGivenOrMade(const Inputs& inputs, const PlanOptions& options) {
  CountedModules given = CountModules(inputs, options, MakePlans::kNo);
  if (!given.modules.empty()) return given;
  return CountModules(inputs, options, MakePlans::kYes);
}

}  // namespace stowplan
