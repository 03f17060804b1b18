// SPDX-License-Identifier: Apache-2.0
#include "session/setting.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/suggest.h"
#include "report/replan.h"
#include "report/summary.h"
#include "report/usage.h"
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
  // A piece of a module, such as the part that a SparseCore executes, may show little.
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

// A report without a usage report comes from a release that writes none, or is incomplete.
enum class NoUsage : uint8_t { kNeverWritten, kMaybeLeftOut };

// Whether a release writes reports like this one.
class WritesReport {
 public:
  WritesReport(const report::Report& report, NoUsage no_usage)
      : dialect_(report.dialect),
        has_usage_(no_usage == NoUsage::kNeverWritten || (report.usage && report.has_assignment)) {
    dialect_.usage = report::FindUsageOrder(report);
  }
  bool operator()(std::string_view release) const {
    std::optional<report::ReportDialect> other = report::FindReportDialect(release);
    if (!other) return false;
    // These differ only in parts that the report may lack.
    other->parameter_parts = dialect_.parameter_parts;
    // Unsorted rows may happen to be in order.
    const bool may_be_sorted = other->usage == report::UsageReport::kHashOrder &&
                               dialect_.usage == report::UsageReport::kSorted;
    if (!has_usage_ || may_be_sorted) other->usage = dialect_.usage;
    return *other == dialect_;
  }

 private:
  report::ReportDialect dialect_;
  bool has_usage_;
};

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
  if (release.empty()) release = GuessRelease(evidence, target);
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

std::string GuessRelease(const TargetEvidence& evidence, const Target& target) {
  if (evidence.module == nullptr)
    return evidence.report == nullptr ? std::string() : ReleaseOf(*evidence.report);
  const Backend backend = report::BackendOfTarget(target.name);
  if (evidence.report != nullptr && evidence.report->has_assignment) {
    // A dump has everything that its compiler writes.
    for (const NoUsage no_usage : {NoUsage::kNeverWritten, NoUsage::kMaybeLeftOut}) {
      const std::string_view both =
          GuessVersion(*evidence.module, backend, WritesReport(*evidence.report, no_usage));
      if (!both.empty()) return std::string(both);
    }
    // If no compiler writes text this way, it says nothing about the release.
    const auto any = [](std::string_view) { return true; };
    if (GuessVersion(*evidence.module, backend, any).empty()) {
      if (std::string release = ReleaseOf(*evidence.report); !release.empty()) return release;
    }
  }
  return std::string(GuessVersion(*evidence.module, backend));
}

std::string ReleaseOf(const report::Report& report) {
  const WritesReport writes(report, NoUsage::kMaybeLeftOut);
  std::string release;
  for (const report::NamedReportDialect& dialect : report::ReportDialects()) {
    if (writes(dialect.name)) release = dialect.name;
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
