// SPDX-License-Identifier: Apache-2.0
// What `stowplan check` finds out about a module, and how it says it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "check/check.h"
#include "cli/listener.h"
#include "cli/report_load.h"
#include "stowplan/base/diagnostic.h"

namespace stowplan::cli {

// What was found out about one module.
struct Checked {
  std::string name;
  bool has_program = false;  // it was executed
  std::string without;       // why not
  check::Verdict verdict;
  std::string certificate;  // a section, if it was wanted and the plan is sound
  std::string target;       // the machine, where it was executed
};

struct CheckInput {
  const std::string& name;
  const report::Report& report;
  const hlo::Module* program = nullptr;  // null: there is none
  std::string_view neighbour = {};       // the machine of another module of the same dump
  // Report files whose own figures count too.
  std::span<const std::shared_ptr<const Source>> sources = {};
};

// For a machine as told, or as the module or the report shows it when `told_target` is empty.
Result<Checked> CheckModule(const CheckInput& input, const std::string& told_target,
                            bool has_certificate, const Listener& listener);

// "sound", "inconsistent" or "unsound"
std::string_view WordFor(const check::Verdict& verdict);
std::string CheckText(const Checked& checked, size_t limit);
// One object of the array `modules` of stowplan.check/1.
void AppendCheckJson(const Checked& checked, size_t limit, JsonWriter& json);

}  // namespace stowplan::cli
