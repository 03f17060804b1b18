// SPDX-License-Identifier: Apache-2.0
// The machine that a module is planned for, and the release of XLA whose rules are used. Decided
// here and nowhere else.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "assign/rules.h"
#include "report/from_assignment.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"
#include "stowplan/session.h"

namespace stowplan {

struct Setting {
  Rules rules;
  report::ReportStyle style;
  std::string release = {};
  std::string words = {};  // "target cpu by the file's name, rules of jaxlib-0.11.2"
  std::string hint = {};   // how to choose differently; may be empty
};

// Evidence of the machine. At least one must be present.
struct TargetEvidence {
  const hlo::Module* module = nullptr;
  const report::Report* report = nullptr;
  std::string_view neighbour = {};  // the machine of another module of the same dump
};
// The machine: the one that was named, else what the module or its file's name shows, else what the
// sizes in the report imply, else the neighbour's. Nothing if none of these helps.
std::optional<Target> ResolveTarget(std::string_view told, const TargetEvidence& evidence);

// Fails if the machine is not known, or if a name in the options does not exist.
Result<Setting> Settle(const TargetEvidence& evidence, const PlanOptions& options);

// The newest release whose texts and reports look like these, as far as there are any.
std::string GuessRelease(const TargetEvidence& evidence, const Target& target);

// The newest release that writes reports like this one; empty: none is known.
std::string ReleaseOf(const report::Report& report);

// Fails, with a suggestion, if there is no such release. An empty name is fine.
Result<bool> CheckRelease(std::string_view release);
// The same for targets.
Result<bool> CheckTarget(std::string_view target);

}  // namespace stowplan
