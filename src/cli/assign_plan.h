// SPDX-License-Identifier: Apache-2.0
// The plan that `stowplan assign` makes of a module, checked before anybody sees it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "best/best.h"
#include "cli/listener.h"
#include "cli/plan_setting.h"
#include "live/analysis.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"

namespace stowplan::cli {

struct AssignRequest {
  PlanOptions plan;
  bool is_best = false;
  BestOptions best = {};
  bool allows_unsound = false;
  std::function<void(std::string_view stage)> on_stage = [](std::string_view) {};
};

// A module that can be planned.
struct PreparedModule {
  hlo::Module module;  // with its schedule
  Setting setting;
  Analysis analysis;
};
// Nothing, and messages, when it cannot.
std::optional<PreparedModule> Prepare(hlo::Module module, const AssignRequest& request,
                                      Listener& listener);

struct AssignedPlan {
  BestPlan plan;  // with policy `xla` it has no heaps
  report::Report report;
  bool is_sound = true;  // false only on demand
};
// Nothing, and messages, when there is no plan, or none that is sound.
std::optional<AssignedPlan> MakePlan(const PreparedModule& prepared, const AssignRequest& request,
                                     Listener& listener);

// What XLA would write beside a module.
struct ReportFile {
  std::string name;
  std::string text;
};
// `module_file` is that of the module, whose name they share.
std::vector<ReportFile> FilesOf(const report::Report& report, const std::string& module_file);

}  // namespace stowplan::cli
