// SPDX-License-Identifier: Apache-2.0
#include "page/check_page.h"

#include <algorithm>

#include <fmt/format.h>

namespace stowplan::page {
namespace {

// What the verdict rests on, or why there is none.
std::string Ground(const Verdict& verdict) {
  if (verdict.soundness == Soundness::kUnchecked) return ": " + verdict.reason + "\n";
  if (verdict.is_by_report) return " by the report alone: there is no program\n";
  return fmt::format(" ({} instructions, {} reads)\n", verdict.instructions, verdict.reads);
}

}  // namespace

std::string CheckText(const PlannedModule& planned, size_t limit) {
  const Verdict& verdict = planned.verdict;
  std::string text = fmt::format("{}: {}", planned.name, Name(verdict.soundness));
  if (verdict.soundness == Soundness::kSound && !verdict.findings.empty())
    text += ", but inconsistent";
  text += Ground(verdict);
  const size_t shown = std::min(limit, verdict.findings.size());
  for (size_t k = 0; k < shown; ++k) text += check::Describe(verdict.findings[k]);
  if (shown < verdict.findings.size())
    text += fmt::format("... and {} more\n", verdict.findings.size() - shown);
  return text;
}

void WriteVerdict(const Verdict& verdict, JsonWriter& json) {
  json.Field("verdict", Name(verdict.soundness));
  if (verdict.soundness == Soundness::kUnchecked)
    json.Field("reason", std::string_view(verdict.reason));
}

void AppendCheckJson(const PlannedModule& planned, size_t limit, JsonWriter& json) {
  const Verdict& verdict = planned.verdict;
  json.BeginObject();
  json.Field("module", std::string_view(planned.name));
  WriteVerdict(verdict, json);
  json.Field("by_report", verdict.is_by_report);
  json.Field("instructions", verdict.instructions);
  json.Field("reads", verdict.reads);
  json.Field("count", static_cast<int64_t>(verdict.findings.size()));
  json.BeginArray("findings");
  for (size_t k = 0; k < std::min(limit, verdict.findings.size()); ++k)
    check::WriteJson(verdict.findings[k], json);
  json.End();
  json.End();
}

}  // namespace stowplan::page
