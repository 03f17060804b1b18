// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "session/choose_module.h"
#include "session/count_modules.h"
#include "session/inputs.h"
#include "session/note.h"
#include "stowplan/session.h"

namespace stowplan {
namespace {

std::unexpected<Diagnostics> FailNoPlan(const Inputs& inputs) {
  return FailAfter(
      LeftoverWarnings(inputs.leftovers),
      Fail("stowplan", "there is no plan in the input",
           "XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_text\" makes XLA write one")
          .error());
}

Diagnostic NoteLargest(const CountedModule& largest, const Inputs& inputs, size_t skipped,
                       const PlanOptions& options) {
  std::string message =
      fmt::format("using the largest of {} modules, {} with {}", inputs.modules.size(),
                  largest.input.name, HumanBytes(largest.summary.bytes));
  if (skipped != 0)
    message += fmt::format(" ({} skipped: their plans cannot be read or made)", skipped);
  const std::string_view lister = options.speech == Speech::kPython
                                      ? "stowplan.sweep lists them"
                                      : "`stowplan report` lists them";
  return Note(
      std::move(message),
      fmt::format("{} chooses another; {}", OptionText(options.speech, "module", "NAME"), lister));
}

}  // namespace

Result<PlannedModule> LoadOne(const Inputs& inputs, const PlanOptions& options) {
  STOWPLAN_TRY(const Inputs chosen, ChooseModules(inputs, options));
  if (chosen.modules.empty()) return FailNoPlan(chosen);
  if (chosen.modules.size() == 1) return Load(chosen.modules[0], options);
  const CountedModules counted = CountGivenOrMade(chosen, options);
  if (counted.modules.empty()) {
    Diagnostics errors = LeftoverWarnings(chosen.leftovers);
    Append(counted.first_errors, errors);
    return FailAfter(std::move(errors),
                     Fail("stowplan", fmt::format("none of the {} modules has a plan, or can be "
                                                  "planned",
                                                  chosen.modules.size()))
                         .error());
  }
  const CountedModule& largest = *std::ranges::max_element(
      counted.modules, {}, [](const CountedModule& module) { return module.summary.bytes; });
  const Diagnostic note =
      NoteLargest(largest, chosen, chosen.modules.size() - counted.modules.size(), options);
  Result<PlannedModule> planned = Load(largest.input, options);
  if (!planned) return FailAfter({note}, std::move(planned).error());
  planned->notes.insert(planned->notes.begin(), note);
  return planned;
}

}  // namespace stowplan
