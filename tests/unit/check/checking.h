// SPDX-License-Identifier: Apache-2.0
// Small programs with plans written by hand.
#pragma once

#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "check/check.h"
#include "report/read.h"
#include "text/parse.h"

namespace stowplan::check {

// Lines "FLAGS SIZE: VALUE@OFFSET ...", an allocation each. FLAGS: p0 (parameter 0), out, const,
// temp. The values' sizes are those of their allocations' rest; they are not looked at.
inline report::Report PlanOf(std::string_view lines) {
  std::string text = "BufferAssignment:\n";
  std::istringstream in{std::string(lines)};
  int allocation = 0;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string flag;
    std::string size;
    words >> flag >> size;
    if (flag.empty()) continue;
    size.pop_back();
    std::string color;
    if (const size_t at = flag.find('/'); at != std::string::npos) {
      color = ", color " + flag.substr(at + 1);
      flag.resize(at);
    }
    text += "allocation " + std::to_string(allocation++) + ": size " + size + color + ", ";
    if (flag[0] == 'p') {
      text += "parameter " + flag.substr(1) + ", shape |f32[]| at ShapeIndex {}:\n";
    } else if (flag == "out") {
      text += "output shape is |f32[]|, maybe-live-out:\n";
    } else {
      text += flag == "const" ? "constant:\n" : "preallocated-temp:\n";
    }
    for (std::string value; words >> value;) {
      const size_t at = value.find('@');
      const std::string offset = value.substr(at + 1);
      text += " value: <" + std::to_string(number++) + " " + value.substr(0, at) + " @" +
              (color.empty() ? "0" : color.substr(8)) +
              "> (size=" + std::to_string(std::stoll(size) - std::stoll(offset)) +
              ",offset=" + offset + "): f32[]\n";
    }
  }
  const std::shared_ptr<const Source> source = Source::FromBytes("plan.txt", text);
  Result<report::Report> report = report::ReadReport(std::span(&source, 1));
  EXPECT_TRUE(report.has_value()) << (report ? "" : Render(report.error())) << text;
  return *std::move(report);
}

inline Verdict CheckText(std::string_view program, std::string_view plan,
                         std::string_view target = "cpu") {
  const Result<hlo::Module> module = ParseText(Source::FromBytes("test.hlo", program));
  EXPECT_TRUE(module.has_value()) << (module ? "" : Render(module.error()));
  const Result<Verdict> verdict = CheckPlan(*module, PlanOf(plan), *FindTarget(target));
  EXPECT_TRUE(verdict.has_value()) << (verdict ? "" : Render(verdict.error()));
  return *verdict;
}

// The unsound findings: their codes and values, a line each.
inline std::string Summary(const Verdict& verdict) {
  std::string text;
  for (const Finding& finding : verdict.findings) {
    if (!IsUnsound(finding.code)) continue;
    text += std::string(Name(finding.code)) + " " + finding.wanted.text() + " " +
            finding.found.text() + "\n";
  }
  return text;
}

}  // namespace stowplan::check
