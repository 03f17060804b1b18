// SPDX-License-Identifier: Apache-2.0
#include "cli/check_view.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "hlo/verify.h"
#include "report/replan.h"
#include "target/guess.h"

namespace stowplan::cli {
namespace {

std::optional<Target> TargetFor(const CheckInput& input, const std::string& target) {
  if (!target.empty()) return FindTarget(target);
  const hlo::Module& module = *input.program;
  const TargetGuess guess =
      GuessTarget(module, module.source ? module.source->name() : std::string());
  if (guess.target) return guess.target;
  if (const std::optional<Target> found = report::FindReportTarget(input.report)) return found;
  // Of pieces of a module, such as what a SparseCore executes, little may be seen.
  return FindTarget(input.neighbour);
}

void AddContradictions(const CheckInput& input, check::Verdict& verdict) {
  for (const Diagnostic& diagnostic : FindingsOf(input.report, input.sources)) {
    check::Finding finding;
    finding.code = check::Code::kContradiction;
    finding.message = diagnostic.line == 0 ? diagnostic.message
                                           : fmt::format("{}:{}: {}", diagnostic.file,
                                                         diagnostic.line, diagnostic.message);
    verdict.findings.push_back(std::move(finding));
  }
}

Result<check::Certified> CheckOnly(const hlo::Module& module, const report::Report& report,
                                   const Target& target) {
  STOWPLAN_TRY(check::Verdict verdict, check::CheckPlan(module, report, target));
  return check::Certified{.verdict = std::move(verdict), .certificate = {}};
}

}  // namespace

Result<Checked> CheckModule(const CheckInput& input, const std::string& told_target,
                            bool has_certificate, const Listener& listener) {
  if (!input.report.has_assignment) return Fail(input.name, "the report has no assignment");
  Checked checked = {.name = input.name,
                     .has_program = false,
                     .without = {},
                     .verdict = {},
                     .certificate = {},
                     .target = {}};
  checked.verdict = check::CheckReport(input.report);
  AddContradictions(input, checked.verdict);
  if (!input.program) {
    checked.without = "there is no program";
    return checked;
  }
  if (Diagnostics complaints = hlo::VerifyProgram(*input.program); !complaints.empty())
    return std::unexpected(std::move(complaints));
  const std::optional<Target> target = TargetFor(input, told_target);
  if (!target) {
    return Fail(input.name, "it is not known for which machine this was compiled",
                "name the machine with " + listener.Option("target", ""));
  }
  Result<check::Certified> certified =
      has_certificate ? check::CertifyPlan(*input.program, input.report, *target)
                      : CheckOnly(*input.program, input.report, *target);
  if (!certified) {
    checked.without = certified.error()[0].message;
    return checked;
  }
  checked.has_program = true;
  checked.target = target->name;
  checked.certificate = std::move(certified->certificate);
  check::Verdict* const verdict = &certified->verdict;
  // What the report says about itself follows what the program says about it.
  const auto middle = std::ranges::find_if(verdict->findings, [](const check::Finding& finding) {
    return !check::IsUnsound(finding.code);
  });
  verdict->findings.insert(middle, checked.verdict.findings.begin(),
                           checked.verdict.findings.end());
  std::ranges::stable_sort(verdict->findings, [](const auto& a, const auto& b) {
    return check::IsUnsound(a.code) && !check::IsUnsound(b.code);
  });
  checked.verdict = std::move(*verdict);
  return checked;
}

std::string_view WordFor(const check::Verdict& verdict) {
  if (verdict.is_fine()) return "sound";
  return verdict.is_sound() ? "inconsistent" : "unsound";
}

std::string CheckText(const Checked& checked, size_t limit) {
  const check::Verdict& verdict = checked.verdict;
  std::string text = fmt::format("{}: {}", checked.name, WordFor(verdict));
  if (checked.has_program) {
    text += fmt::format(" ({} instructions, {} reads)\n", verdict.instructions, verdict.reads);
  } else {
    text += fmt::format(" by the report alone: {}\n", checked.without);
  }
  const size_t shown = std::min(limit, verdict.findings.size());
  for (size_t k = 0; k < shown; ++k) text += check::Describe(verdict.findings[k]);
  if (shown < verdict.findings.size())
    text += fmt::format("... and {} more\n", verdict.findings.size() - shown);
  return text;
}

void AppendCheckJson(const Checked& checked, size_t limit, JsonWriter& json) {
  const check::Verdict& verdict = checked.verdict;
  json.BeginObject();
  json.Field("module", std::string_view(checked.name));
  json.Field("verdict", WordFor(verdict));
  json.Field("has_program", checked.has_program);
  if (!checked.without.empty()) json.Field("without_program", std::string_view(checked.without));
  json.Field("instructions", verdict.instructions);
  json.Field("reads", verdict.reads);
  json.Field("count", static_cast<int64_t>(verdict.findings.size()));
  json.BeginArray("findings");
  for (size_t k = 0; k < std::min(limit, verdict.findings.size()); ++k)
    check::WriteJson(verdict.findings[k], json);
  json.End();
  json.End();
}

}  // namespace stowplan::cli
