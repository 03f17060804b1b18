// SPDX-License-Identifier: Apache-2.0
// Whether a plan is sound: every read of the program gets the bytes that the program means.
//
// The checker has its own meaning of the program and its own memory. It shares nothing with the
// stages that make plans, so that it cannot repeat their mistakes; docs/check.md defines what it
// proves, and what not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stowplan/base/diagnostic.h"
#include "stowplan/check/finding.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"
#include "stowplan/target/target.h"

namespace stowplan::check {

struct Verdict {
  Findings findings;  // of each pair of values the first; unsound ones first
  // What could not be decided, if anything: the plan is unchecked then, unless it is unsound.
  std::string doubt;
  // What was looked at.
  int64_t instructions = 0;
  int64_t reads = 0;
  int64_t writes = 0;

  [[nodiscard]] bool is_fine() const { return findings.empty() && doubt.empty(); }
  [[nodiscard]] bool is_unsound() const {
    return !findings.empty() && IsUnsound(findings.front().code);
  }
  [[nodiscard]] bool is_sound() const { return !is_unsound() && doubt.empty(); }
};

// Executes the program on a symbolic memory that is laid out as the report says. Fails when the
// order of execution is not known (neither the module nor the report has one), or when the program
// is too large written out.
[[nodiscard]] Result<Verdict> CheckPlan(const hlo::Module& module, const report::Report& report,
                                        const Target& target);

// The same, with what was done written down for `stowplan-recheck`: a section for this module,
// empty when the plan is not sound. A certificate is kCertificateHead and any number of sections.
struct Certified {
  Verdict verdict;
  std::string certificate;
};
inline constexpr std::string_view kCertificateHead = "stowplan-check-certificate 1\n";
[[nodiscard]] Result<Certified> CertifyPlan(const hlo::Module& module, const report::Report& report,
                                            const Target& target);

// What the report says of itself.
[[nodiscard]] Verdict CheckReport(const report::Report& report);

}  // namespace stowplan::check
