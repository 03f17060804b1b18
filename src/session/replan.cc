// SPDX-License-Identifier: Apache-2.0
#include "session/replan.h"

#include <utility>

#include "check/check.h"
#include "session/note.h"
#include "session/setting.h"

namespace stowplan {

Result<Replanned> Replan(const PlannedModule& given, const PlanOptions& options) {
  STOWPLAN_TRY([[maybe_unused]] const bool has_release, CheckRelease(options.release));
  const std::optional<Target> target =
      ResolveTarget(options.target, {.report = given.report.get()});
  if (!target)
    return Fail("stowplan", "the sizes in the report fit no known machine",
                "name the machine with " + OptionText(options.speech, "target"));
  std::string release = options.release.empty() ? ReleaseOf(*given.report) : options.release;
  STOWPLAN_TRY(report::Replan replan,
               report::ReplanReport(*given.report, RulesOf(*target, release)));
  const check::Verdict verdict = check::CheckReport(replan.report);
  if (verdict.is_unsound())
    return FailAfter({Note(verdict.findings[0].message)},
                     Fail("stowplan", "the plan is not sound, so it is not given",
                          "the report is wrong, or this is a bug in Stowplan")
                         .error());
  Replanned replanned = {
      .replan = std::move(replan), .target = *target, .release = std::move(release), .notes = {}};
  // What the live ranges do not decide was so in the given plan, too.
  if (!verdict.doubt.empty())
    replanned.notes.push_back(Note("the plan is unchecked: " + verdict.doubt));
  return replanned;
}

}  // namespace stowplan
