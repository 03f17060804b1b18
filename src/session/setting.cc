// SPDX-License-Identifier: Apache-2.0
#include "session/setting.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/suggest.h"
#include "report/replan.h"
#include "report/summary.h"
#include "session/names.h"
#include "stowplan/hlo/dialect.h"
#include "target/guess.h"

namespace stowplan {
namespace {

std::string FileOf(const hlo::Module& module) {
  return module.source ? module.source->name() : std::string();
}

struct ResolvedTarget {
  std::optional<Target> target;
  std::string reason;
  Backend backend = Backend::kUnknown;  // known even where the generation is not
};

ResolvedTarget Resolve(std::string_view told, const TargetEvidence& evidence) {
  if (!told.empty()) return {.target = FindTarget(told), .reason = {}};
  ResolvedTarget resolved;
  if (evidence.module != nullptr) {
    const TargetGuess guess = GuessTarget(*evidence.module, FileOf(*evidence.module));
    resolved = {
        .target = guess.target, .reason = std::string(guess.reason), .backend = guess.backend};
  }
  if (!resolved.target && evidence.report != nullptr) {
    resolved.target = report::FindReportTarget(*evidence.report);
    resolved.reason = "the sizes in its report";
  }
  // Of pieces of a module, such as what a SparseCore executes, little may be seen.
  if (!resolved.target && !evidence.neighbour.empty()) {
    resolved.target = FindTarget(evidence.neighbour);
    resolved.reason = "the other modules of the dump";
  }
  return resolved;
}

std::unexpected<Diagnostics> FailUnknownTarget(Backend backend, const PlanOptions& options) {
  if (backend == Backend::kTpu)
    return Fail("stowplan", "this program is for a TPU of unknown generation",
                fmt::format("give {}, or a different generation: v2, v3, v4, v5p, v6e, v7x",
                            OptionText(options.speech, "target", "tpu-v5e")));
  return Fail(
      "stowplan", "the module does not show which machine it was compiled for",
      fmt::format("give {}, gpu, tpu-v5e, ...", OptionText(options.speech, "target", "cpu")));
}

Result<report::ReportStyle> StyleNamed(const std::string& dialect) {
  if (const std::optional<report::ReportStyle> style = report::FindReportStyle(dialect))
    return *style;
  std::string hint = DidYouMean(dialect, ReleaseNames());
  if (hint.empty()) hint = "`stowplan report --dialect=list` shows them";
  return Fail("stowplan", "there is no dialect `" + dialect + "`", std::move(hint));
}

}  // namespace

std::optional<Target> ResolveTarget(std::string_view told, const TargetEvidence& evidence) {
  return Resolve(told, evidence).target;
}

Result<Setting> Settle(const TargetEvidence& evidence, const PlanOptions& options) {
  STOWPLAN_TRY([[maybe_unused]] const bool has_target, CheckTarget(options.target));
  STOWPLAN_TRY([[maybe_unused]] const bool has_release, CheckRelease(options.release));
  const ResolvedTarget resolved = Resolve(options.target, evidence);
  if (!resolved.target) return FailUnknownTarget(resolved.backend, options);
  const Target& target = *resolved.target;
  std::string release = options.release;
  if (release.empty() && evidence.module != nullptr) {
    release = GuessVersion(*evidence.module, report::BackendOfTarget(target.name));
  } else if (release.empty() && evidence.report != nullptr) {
    release = ReleaseOf(*evidence.report);
  }
  release = hlo::KnownRelease(release);
  Setting setting = {
      .rules = RulesOf(target, release),
      .style = {},
      .release = release,
      .words = fmt::format("target {} by {}, rules of {}", target.name,
                           options.target.empty() ? resolved.reason : options.caller, release),
      .hint = {}};
  if (options.release.empty()) {
    setting.words += ", the newest that fits";
    setting.hint = OptionText(options.speech, "xla-version") + " chooses a different one";
  }
  if (options.heap_limit) setting.rules.heap_limit = *options.heap_limit;
  STOWPLAN_TRY(setting.style, StyleNamed(options.dialect.empty() ? release : options.dialect));
  return setting;
}

std::string ReleaseOf(const report::Report& report) {
  std::string release;
  for (const report::NamedReportDialect& dialect : report::ReportDialects()) {
    report::ReportDialect other = dialect.dialect;
    // What these say is told by parts that the report may not have.
    other.usage = report.dialect.usage;
    other.parameter_parts = report.dialect.parameter_parts;
    if (other == report.dialect) release = dialect.name;
  }
  return release;
}

Result<bool> CheckRelease(std::string_view release) {
  if (release.empty() || report::FindReportStyle(release)) return true;
  return Fail("stowplan", fmt::format("there is no XLA `{}`", release),
              DidYouMeanOneOf(release, ReleaseNames()));
}

Result<bool> CheckTarget(std::string_view target) {
  if (target.empty() || FindTarget(target)) return true;
  return Fail("stowplan", fmt::format("there is no target `{}`", target),
              DidYouMeanOneOf(target, TargetNames()));
}

}  // namespace stowplan
