// SPDX-License-Identifier: Apache-2.0
#include "session/replan.h"

#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "check/check.h"
#include "session/names.h"
#include "session/note.h"
#include "session/setting.h"

namespace stowplan {
namespace {

// Releases whose reports look like this one, but whose plans may differ: first the one that was
// guessed, then the others, newest first.
std::vector<std::string> LikelyReleases(const report::Report& report) {
  std::vector<std::string> releases = {ReleaseOf(report)};
  for (const std::string_view name : std::views::reverse(ReleaseNames())) {
    std::optional<report::ReportDialect> dialect = report::FindReportDialect(name);
    if (!dialect || name == releases[0]) continue;
    dialect->usage = report.dialect.usage;
    dialect->parameter_parts = report.dialect.parameter_parts;
    if (*dialect == report.dialect) releases.emplace_back(name);
  }
  return releases;
}

Result<Replanned> ReplanAsLikely(const report::Report& report, const Target& target) {
  std::optional<Replanned> first;
  for (const std::string& release : LikelyReleases(report)) {
    Result<report::Replan> replan = report::ReplanReport(report, RulesOf(target, release));
    if (!replan) {
      if (first) continue;
      return std::unexpected(std::move(replan.error()));
    }
    if (first && !replan->differences.empty()) continue;
    const bool is_equal = replan->differences.empty();
    first =
        Replanned{.replan = *std::move(replan), .target = target, .release = release, .notes = {}};
    if (is_equal) break;
  }
  if (!first->replan.differences.empty())
    first->replan.missing.emplace_back("which release of XLA wrote it");
  return *std::move(first);
}

}  // namespace

Result<Replanned> Replan(const PlannedModule& given, const PlanOptions& options) {
  STOWPLAN_TRY([[maybe_unused]] const bool has_release, CheckRelease(options.release));
  const std::optional<Target> target =
      ResolveTarget(options.target, {.report = given.report.get()});
  if (!target)
    return Fail("stowplan", "the sizes in the report fit no known machine",
                "name the machine with " + OptionText(options.speech, "target"));
  Replanned replanned = {.replan = {}, .target = *target, .release = options.release, .notes = {}};
  if (options.release.empty()) {
    STOWPLAN_TRY(replanned, ReplanAsLikely(*given.report, *target));
  } else {
    STOWPLAN_TRY(replanned.replan,
                 report::ReplanReport(*given.report, RulesOf(*target, options.release)));
  }
  const check::Verdict verdict = check::CheckReport(replanned.replan.report);
  if (verdict.is_unsound())
    return FailAfter({Note(verdict.findings[0].message)},
                     Fail("stowplan", "the plan is not sound, so it is not given",
                          "the report is wrong, or this is a bug in Stowplan")
                         .error());
  // Where the live ranges leave a choice, the given plan decides.
  if (!verdict.doubt.empty())
    replanned.notes.push_back(Note("the plan is unchecked: " + verdict.doubt));
  return replanned;
}

}  // namespace stowplan
