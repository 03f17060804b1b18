// SPDX-License-Identifier: Apache-2.0
#include "session/check.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/stable_sort.h"
#include "check/check.h"
#include "hlo/verify.h"
#include "report/check.h"
#include "report/from_assignment.h"
#include "report/write.h"
#include "session/cut.h"
#include "session/note.h"
#include "session/spread_out.h"

namespace stowplan {
namespace {

void AddContradictions(const PlannedModule& planned, check::Findings& findings) {
  for (const Diagnostic& diagnostic : FindingsOf(*planned.report, planned.sources)) {
    check::Finding finding;
    finding.code = check::Code::kContradiction;
    finding.message = diagnostic.line == 0 ? diagnostic.message
                                           : fmt::format("{}:{}: {}", diagnostic.file,
                                                         diagnostic.line, diagnostic.message);
    findings.push_back(std::move(finding));
  }
}

bool HasUnsound(const check::Findings& findings) {
  return std::ranges::any_of(
      findings, [](const check::Finding& finding) { return check::IsUnsound(finding.code); });
}

// Sets the verdict from its findings and from `doubt`, which says what could not be decided.
void SetSoundness(std::string doubt, Verdict& verdict) {
  if (HasUnsound(verdict.findings)) {
    verdict.soundness = Soundness::kUnsound;
  } else if (doubt.empty()) {
    verdict.soundness = Soundness::kSound;
  } else {
    verdict.soundness = Soundness::kUnchecked;
    verdict.reason = std::move(doubt);
  }
}

// The verdict that follows from the report alone.
Verdict ReportVerdict(const PlannedModule& planned) {
  Verdict verdict = {.reason = {}, .is_by_report = true};
  check::Verdict checked = check::CheckReport(*planned.report);
  verdict.findings = std::move(checked.findings);
  AddContradictions(planned, verdict.findings);
  SetSoundness(std::move(checked.doubt), verdict);
  if (verdict.soundness == Soundness::kSound && !planned.report->live_ranges) {
    verdict.soundness = Soundness::kUnchecked;
    verdict.reason = "there is neither a program nor live ranges";
  }
  return verdict;
}

// The verdict if there is a program. Its execution alone decides whether a plan is sound, whether
// the plan was given or made here. Live ranges are XLA's own estimate, coarser than the ones it
// plans with, so the program is the better judge of whether two values overlap. Findings about a
// report that merely contradicts itself come last.
Verdict MergedVerdict(check::Verdict executed, Verdict of_report) {
  Verdict verdict = {.reason = {},
                     .findings = std::move(executed.findings),
                     .instructions = executed.instructions,
                     .reads = executed.reads};
  std::ranges::copy_if(
      of_report.findings, std::back_inserter(verdict.findings),
      [](const check::Finding& finding) { return !check::IsUnsound(finding.code); });
  StableSort(verdict.findings, [](const auto& a, const auto& b) {
    return check::IsUnsound(a.code) && !check::IsUnsound(b.code);
  });
  SetSoundness(std::move(executed.doubt), verdict);
  return verdict;
}

Result<check::Certified> Execute(const PlannedModule& planned, const Target& target,
                                 bool certifies) {
  if (certifies) return check::CertifyPlan(*planned.module, *planned.report, target);
  STOWPLAN_TRY(check::Verdict verdict, check::CheckPlan(*planned.module, *planned.report, target));
  return check::Certified{.verdict = std::move(verdict), .certificate = {}};
}

// A finding that remains even if no two values share memory. Then the program lacks a copy, and no
// plan for it is sound. Absent if the plan itself is to blame.
std::optional<check::Finding> FindMissingCopy(const Prepared& prepared,
                                              const Assignment& assignment) {
  const hlo::Module& module = *prepared.module;
  const report::Report spread =
      report::ReportOf(module, *prepared.analysis,
                       SpreadOut(module, *prepared.analysis, assignment), prepared.setting.style);
  const Result<check::Verdict> verdict =
      check::CheckPlan(module, spread, prepared.setting.rules.target);
  if (!verdict) return std::nullopt;
  for (const check::Finding& finding : verdict->findings) {
    if (check::IsUnsound(finding.code) && finding.code != check::Code::kSlicesApart) return finding;
  }
  return std::nullopt;
}

std::unexpected<Diagnostics> FailUnsound(const check::Finding& first, bool lacks_copy,
                                         Diagnostics notes, const PlanOptions& options) {
  const auto fail = [&](std::string message, std::string hint) {
    return FailAfter(std::move(notes),
                     Fail("stowplan", std::move(message), std::move(hint)).error());
  };
  if (lacks_copy)
    return fail("no plan for this program is sound by XLA's rules, so there is none",
                "the program lacks a copy; " + FlagText(options.speech, "allow-unsound") +
                    " gives XLA's plan anyway");
  if (first.code == check::Code::kSlicesApart)
    return fail("no place was found for the slices of " + first.found.text() +
                    " side by side, so there is no plan",
                options.preset.empty()
                    ? OptionText(options.speech, "preset", "REPORT") + " takes XLA's own places"
                    : "the preset has them apart");
  return fail("the plan is not sound, so it is not given",
              "this is a bug in Stowplan, or an error in the preset; " +
                  FlagText(options.speech, "allow-unsound") + " gives it anyway");
}

}  // namespace

std::string_view Name(Soundness soundness) {
  switch (soundness) {
    case Soundness::kSound:
      return "sound";
    case Soundness::kUnsound:
      return "unsound";
    case Soundness::kUnchecked:
      break;
  }
  return "unchecked";
}

Result<Checked> CheckPlanned(PlannedModule planned, const PlanOptions& options,
                             const CheckRequest& request) {
  if (!planned.report->has_assignment) return Fail(planned.name, "the report has no assignment");
  Checked checked = {.planned = std::move(planned), .certificate = {}};
  PlannedModule& subject = checked.planned;
  subject.verdict = ReportVerdict(subject);
  if (!subject.module) return checked;
  if (Diagnostics complaints = hlo::VerifyProgram(*subject.module); !complaints.empty())
    return std::unexpected(std::move(complaints));
  const std::optional<Target> target =
      ResolveTarget(options.target, {.module = subject.module.get(),
                                     .report = subject.report.get(),
                                     .neighbour = request.neighbour});
  if (!target)
    return Fail(subject.name, "the target machine is not known",
                "name the machine with " + OptionText(options.speech, "target"));
  subject.target = target;
  Result<check::Certified> executed = Execute(subject, *target, request.certifies);
  if (executed) {
    checked.certificate = std::move(executed->certificate);
    subject.verdict = MergedVerdict(std::move(executed->verdict), std::move(subject.verdict));
    return checked;
  }
  // There is a program, but it could not be executed. A consistent report does not make up for
  // that.
  subject.verdict.is_by_report = false;
  if (subject.verdict.soundness != Soundness::kUnsound) {
    subject.verdict.soundness = Soundness::kUnchecked;
    subject.verdict.reason = executed.error()[0].message;
  }
  return checked;
}

Result<PlannedModule> Check(PlannedModule planned, const PlanOptions& options) {
  STOWPLAN_TRY(Checked checked, CheckPlanned(std::move(planned), options, {}));
  return std::move(checked.planned);
}

Verdict VerdictOn(const hlo::Module& module, const report::Report& report, const Target& target) {
  Result<check::Verdict> executed = check::CheckPlan(module, report, target);
  if (!executed) return {.reason = executed.error()[0].message};
  return MergedVerdict(*std::move(executed), {});
}

Result<PlannedModule> LetOut(PlannedModule made, const Prepared& prepared,
                             const Assignment& assignment, const PlanOptions& options) {
  made.verdict = VerdictOn(*made.module, *made.report, prepared.setting.rules.target);
  if (made.verdict.soundness != Soundness::kSound)
    Append(Diagnostics(prepared.overwrites), made.notes);
  switch (made.verdict.soundness) {
    case Soundness::kSound:
      return made;
    case Soundness::kUnchecked:
      if (!options.allow_unchecked)
        return FailAfter(std::move(made.notes),
                         Fail("stowplan", "the plan could not be checked: " + made.verdict.reason,
                              FlagText(options.speech, "allow-unchecked") + " gives it anyway")
                             .error());
      made.notes.push_back(Note("the plan is unchecked: " + made.verdict.reason));
      return made;
    case Soundness::kUnsound:
      break;
  }
  const std::optional<check::Finding> missing = FindMissingCopy(prepared, assignment);
  const check::Finding& first = made.verdict.findings[0];
  std::string finding = check::Describe(missing ? *missing : first);
  while (finding.ends_with('\n')) finding.pop_back();
  made.notes.push_back(Note(std::move(finding)));
  if (!options.allow_unsound)
    return FailUnsound(first, missing.has_value(), std::move(made.notes), options);
  made.notes.push_back(Note("the plan is not sound; it is given because that was allowed"));
  return made;
}

Diagnostics FindingsOf(const report::Report& report,
                       std::span<const std::shared_ptr<const Source>> sources) {
  Diagnostics findings;
  for (const std::shared_ptr<const Source>& source : sources) {
    Append(report::CompareFigures(report, *source), findings);
    Append(report::FindContradictions(report, *source), findings);
    if (std::optional<Diagnostic> doubt = FindDoubtfulEnd(report, *source))
      findings.push_back(*std::move(doubt));
  }
  return findings;
}

}  // namespace stowplan
