// SPDX-License-Identifier: Apache-2.0
// What the tests of explain have in common: a program, its plan by XLA's rules, and the picture.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "explain/partition.h"
#include "explain/picture.h"
#include "unit/planning.h"

namespace stowplan::explain::test {

// All that a picture looks at, at a fixed address.
struct Scene {
  Program program;
  report::Report report;
  Picture picture;

  [[nodiscard]] report::ValueId Find(std::string_view name) const {
    const std::vector<report::ValueId> found = FindValues(report, name);
    EXPECT_EQ(found.size(), 1U) << name;
    return found.empty() ? report::ValueId() : found[0];
  }
  [[nodiscard]] Kind KindOf(std::string_view name) const { return picture.fact(Find(name)).kind; }
};

inline std::unique_ptr<Scene> SceneOf(std::string_view text, std::string_view target = "cpu",
                                      bool has_module = true) {
  const Rules rules = RulesOf(*FindTarget(target));
  auto scene = std::make_unique<Scene>();
  scene->program = AnalyzeProgram(text, rules.analysis);
  const Result<Assignment> plan =
      Assign(scene->program.module, scene->program.analysis, rules, std::nullopt);
  EXPECT_TRUE(plan.has_value()) << Render(plan.error());
  scene->report = report::ReportOf(scene->program.module, scene->program.analysis, *plan,
                                   *report::FindReportStyle("jaxlib-0.10.2"));
  Result<Picture> picture =
      MakePicture(scene->report, has_module ? &scene->program.module : nullptr, rules.target);
  EXPECT_TRUE(picture.has_value()) << Render(picture.error());
  if (picture) scene->picture = *std::move(picture);
  return scene;
}

// `name=own` of each row but the first, in order, indented by level.
inline std::vector<std::string> RowsOf(const Partition& partition) {
  std::vector<std::string> rows;
  for (size_t i = 1; i < partition.rows.size(); ++i) {
    const Row& row = partition.rows[i];
    rows.push_back(std::string(row.depth - 1, ' ') + row.name + "=" + std::to_string(row.own));
  }
  return rows;
}

}  // namespace stowplan::explain::test
