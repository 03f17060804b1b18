// SPDX-License-Identifier: Apache-2.0
// For which machine a module is planned, and by the rules of which release of XLA. Decided here and
// nowhere else.
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
  std::string hint = {};   // how to choose otherwise; may be empty
};

// What can tell the machine. All but one may be missing.
struct TargetEvidence {
  const hlo::Module* module = nullptr;
  const report::Report* report = nullptr;
  std::string_view neighbour = {};  // the machine of another module of the same dump
};
// The machine: as told, as the module or its file's name shows it, as the sizes in the report say,
// as its neighbour has it; nothing when none of them does.
std::optional<Target> ResolveTarget(std::string_view told, const TargetEvidence& evidence);

// Fails when the machine is not known, or a name in the options is none.
Result<Setting> Settle(const TargetEvidence& evidence, const PlanOptions& options);

// The newest release that writes reports like this one; empty: none is known.
std::string ReleaseOf(const report::Report& report);

// Fails with what was meant when there is no such release. An empty name is fine.
Result<bool> CheckRelease(std::string_view release);
// The same for targets.
Result<bool> CheckTarget(std::string_view target);

}  // namespace stowplan
