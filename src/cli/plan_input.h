// SPDX-License-Identifier: Apache-2.0
// From the words of the command line to one plan that can be looked at: of XLA's reports, of a
// .hlo.pb with an assignment, or of a module alone, which is then planned as XLA does.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/listener.h"
#include "cli/plan_setting.h"
#include "cli/report_load.h"
#include "live/analysis.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"
#include "target/target.h"

namespace stowplan::cli {

struct PlanInput {
  std::string name;  // of the module
  report::Report report;
  std::optional<hlo::Module> program;
  std::vector<std::shared_ptr<const Source>> sources;  // report files that were read
  std::optional<Analysis> analysis;                    // of the program, when something needed it
  std::optional<Target> target;  // when it was told, or a plan was made for it
  bool is_ours = false;          // no plan was given: it is Stowplan's, by XLA's rules
};

struct PlanInputOptions {
  std::vector<std::string> inputs;
  std::string module = {};   // of several, the one with this name; empty: the largest
  std::string target = {};   // empty: found
  std::string version = {};  // of XLA; empty: found
  // The program will be planned again: of text and proto the proto is read, which has the
  // computations in XLA's own order.
  bool is_for_planning = false;
};

// --target
OptionSpec TargetOption();

// A command's own options, and those that PlanInputOptions come from: --module, --target and
// --xla-version.
std::vector<OptionSpec> WithPlanInput(std::vector<OptionSpec> own);

// A file of another name that holds a module was taken for a report: now it is the module.
void FindModuleText(InputModule& module);

// The bytes of the module's plan, without its program where that is not needed. Nothing, and
// messages, when there is none.
std::optional<int64_t> BytesOf(const InputModule& module, const PlanInputOptions& options,
                               Listener& listener);

// The plan of one module. Live ranges and uses that its reports lack are found from its program.
// Nothing, and messages, when there is none.
std::optional<PlanInput> LoadPlan(InputModule module, const PlanInputOptions& options,
                                  Listener& listener);

// The same of whatever was named, or of what FindInputs has found there: standard input can be read
// only once. Of several modules, the largest, with a note.
std::optional<PlanInput> FindPlan(const PlanInputOptions& options, Listener& listener);

std::optional<PlanInput> FindPlan(Inputs inputs, const PlanInputOptions& options,
                                  Listener& listener);

// What Load gives, with the program. A module that has no plan gets one, with a note. Nothing, and
// messages, when there is none.
std::optional<LoadedModule> LoadOrPlan(InputModule module, const PlanInputOptions& options,
                                       Listener& listener);

// Live ranges and uses that reports lack, from the program, where that allows it.
void CompleteReport(const std::string& target, LoadedModule& loaded);

// Fills `analysis` if the program allows it.
void AnalyzeProgram(const PlanInputOptions& options, PlanInput& input);

}  // namespace stowplan::cli
