// SPDX-License-Identifier: Apache-2.0
// What a report tells of the module it is about. Until 2024, XLA's CPU compiler wrote modules
// without a schedule; the sequence in the report beside them is the one it had planned.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"
#include "stowplan/session.h"
#include "stowplan/target/target.h"

namespace stowplan {

// The module in the order of the report's sequence. Computations that do not run one instruction
// after the other are not in it; they get a schedule of their own. Nothing if the report has no
// sequence, or not one of this module.
std::optional<hlo::Module> FollowSequence(const hlo::Module& module, const report::Report& report,
                                          const Target& target);

// For a module that was read from this file alone: its order, and the release, from the report
// beside the file. What the options say stays. Returns notes.
Diagnostics UseReportBeside(const std::string& path, std::shared_ptr<const hlo::Module>& module,
                            PlanOptions& options);

// For a module that was read from this .hlo.pb: what the proto does not hold and the files beside
// it tell. These are the dialect of its compiler, from the module's text or else from the report,
// and fields of the header.
void CompleteFromDump(const std::string& path, hlo::Module& module);

}  // namespace stowplan
