// SPDX-License-Identifier: Apache-2.0
#include "report/reconcile.h"

#include <map>
#include <string>

#include "report/write.h"
#include "unit/report/example_report.h"

namespace stowplan::report::test {
namespace {

using Role = ReconcileRow::Role;

std::vector<ReconcileGroup> GroupsOf(const Report& report, Backend backend = Backend::kUnknown,
                                     const std::optional<Temporaries>& temporaries = {}) {
  const Result<Summary> summary = Summarize(report);
  if (summary) return Reconcile(report, *summary, backend, temporaries);
  ADD_FAILURE() << Render(summary.error());
  return {};
}

// Figures by name. Some are printed in two places: then the first.
std::map<std::string, ReconcileRow> FiguresOf(const std::vector<ReconcileGroup>& groups) {
  std::map<std::string, ReconcileRow> figures;
  for (const ReconcileGroup& group : groups) {
    for (const ReconcileRow& row : group.rows) figures.emplace(row.figure, row);
  }
  return figures;
}

// What each result claims: the figure above and the steps in between.
void CheckSteps(const std::vector<ReconcileGroup>& groups) {
  for (const ReconcileGroup& group : groups) {
    int64_t sum = 0;
    for (const ReconcileRow& row : group.rows) {
      if (row.role == Role::kFigure) sum = row.said.value_or(row.computed.value_or(0));
      if (row.role == Role::kStep) sum += *row.computed;
      if (row.role == Role::kResult) {
        EXPECT_EQ(sum, *row.computed) << row.figure;
      }
    }
  }
}

Report ReadSeed(int number) {
  const Result<std::shared_ptr<const Source>> source =
      ReadSource(std::string(STOWPLAN_TESTS_DIR) + "/../examples/seeds/seed_00" +
                 std::to_string(number) + ".txt");
  if (!source) {
    ADD_FAILURE() << Render(source.error());
    return {};
  }
  const std::vector<std::shared_ptr<const Source>> sources = {*source};
  Result<Report> report = ReadReport(sources);
  if (report) return *std::move(report);
  ADD_FAILURE() << Render(report.error());
  return {};
}

TEST(Reconcile, MemoryAnalysis) {
  const Report report = MustRead(
      {"BufferAssignment:\n"
       "allocation 0: size 100, parameter 0, shape |f32[25]| at ShapeIndex {}:\n"
       "allocation 1: size 50, parameter 1, shape |f32[1]| at ShapeIndex {}, maybe-live-out:\n"
       "allocation 2: size 7, constant:\n"
       "allocation 3: size 30, color 1, preallocated-temp:\n"
       "allocation 4: size 20, preallocated-temp:\n"
       "allocation 5: size 5, thread-local:\n"
       "allocation 6: size 3, maybe-live-out:\n"
       "allocation 7: size 1000, color 5, parameter 2, shape |f32[1]| at ShapeIndex {}:\n"
       "allocation 8: size 2000, color 5, maybe-live-out:\n"});
  const auto figures = FiguresOf(GroupsOf(report, Backend::kCpu));
  const auto computed = [&](const std::string& figure) { return figures.at(figure).computed; };
  EXPECT_EQ(computed("argument_size_in_bytes"), 150);
  EXPECT_EQ(computed("output_size_in_bytes"), 53);
  EXPECT_EQ(computed("alias_size_in_bytes"), 50);
  EXPECT_EQ(computed("temp_size_in_bytes"), 50);
  EXPECT_EQ(computed("host_argument_size_in_bytes"), 1000);
  EXPECT_EQ(computed("host_output_size_in_bytes"), 2000);
  EXPECT_EQ(computed("host_temp_size_in_bytes"), 0);
  // All but constants and thread-local.
  EXPECT_EQ(computed("argument + output - alias + temp"), 3215 - 12);
  EXPECT_EQ(computed("peak_memory_in_bytes (CPU)"), 3215 - 5 - 50);
  EXPECT_EQ(computed("Total bytes used"), 3215);
  EXPECT_EQ(computed("total allocation"), 3215);
  EXPECT_EQ(computed("constant allocation"), 7);
  EXPECT_FALSE(figures.at("Total bytes used").said);
}

// GPUs and TPUs count more than the sizes of allocations.
TEST(Reconcile, WhatOnlyTheProgramTells) {
  const Report report =
      MustRead({"BufferAssignment:\n"
                "allocation 0: size 100, parameter 0, shape |f32[25]| at ShapeIndex {}:\n"
                "allocation 1: size 30, color 1, preallocated-temp:\n"
                "allocation 2: size 16385, preallocated-temp:\n"
                "allocation 3: size 5, thread-local:\n"});
  const auto computed = [&](Backend backend, const std::optional<Temporaries>& temporaries,
                            const std::string& figure) {
    return FiguresOf(GroupsOf(report, backend, temporaries)).at(figure).computed;
  };
  const std::string temp = "temp_size_in_bytes";
  const std::string peak = "peak_memory_in_bytes";
  const std::string sum = "argument + output - alias + temp";
  EXPECT_EQ(computed(Backend::kGpu, std::nullopt, temp), 16415);
  EXPECT_EQ(computed(Backend::kGpu, std::nullopt, peak), std::nullopt);
  EXPECT_EQ(computed(Backend::kTpu, std::nullopt, temp), std::nullopt);
  EXPECT_EQ(computed(Backend::kTpu, std::nullopt, sum), std::nullopt);
  const Temporaries some = {.heap_peak = 7, .are_in_main_memory = true};
  EXPECT_EQ(computed(Backend::kGpu, some, peak), 107);
  EXPECT_EQ(computed(Backend::kTpu, some, peak), 107);
  EXPECT_EQ(computed(Backend::kTpu, some, temp), 32768);
  EXPECT_EQ(computed(Backend::kTpu, some, sum), 32868);
  EXPECT_EQ(computed(Backend::kTpu, Temporaries{}, temp), 0);
}

TEST(Reconcile, Seeds) {
  for (int seed = 0; seed < 5; ++seed) {
    const std::vector<ReconcileGroup> groups = GroupsOf(ReadSeed(seed));
    CheckSteps(groups);
    for (const auto& [figure, row] : FiguresOf(groups)) EXPECT_FALSE(row.differs()) << figure;
  }
  const auto figures = FiguresOf(GroupsOf(ReadSeed(3)));
  EXPECT_EQ(figures.at("Total bytes used").said, 299944008);
  EXPECT_EQ(figures.at("Live ranges at 11 (peak)").said, 239075356);
  EXPECT_EQ(figures.at("elements of tuples").computed, 58720232);
  EXPECT_EQ(figures.at("padding").computed, 508);
  EXPECT_EQ(figures.at("live at 11").computed, 297796096);
  EXPECT_EQ(figures.at("another moment").computed, 36);
  EXPECT_EQ(figures.at("true peak").computed, 297796132);
}

TEST(Reconcile, SharedBytes) {
  // `a` hands its place to `b` at 3.
  Report report = Example();
  report.live_ranges->peak_time = 3;
  report.live_ranges->peak = {{.instruction = "all", .index = {}, .bytes = 52}};
  const std::vector<ReconcileGroup> groups = GroupsOf(report);
  CheckSteps(groups);
  EXPECT_EQ(FiguresOf(groups).at("shared bytes").computed, -16);
}

TEST(Reconcile, FiguresThatDiffer) {
  const Report wrong = MustRead({kAssignment, "\nTotal bytes used: 69 (69B)\n\nUsed values:\n"});
  const auto figures = FiguresOf(GroupsOf(wrong));
  EXPECT_TRUE(figures.at("Total bytes used").differs());
  EXPECT_EQ(figures.at("Total bytes used").said, 69);
}

TEST(Reconcile, TotalsOfTheUsageReport) {
  const Report assignment = MustRead({kAssignment});
  const std::string usage = WriteUsage(assignment, *FindReportDialect("jaxlib-0.10.2"));
  const auto figures = FiguresOf(GroupsOf(MustRead({kAssignment, usage})));
  EXPECT_EQ(figures.at("Total bytes, color=0").said, 68) << usage;
  EXPECT_FALSE(figures.at("Total bytes, color=0").differs());
  // Two rows of 16 and 4 bytes, in an allocation of 36.
  EXPECT_EQ(figures.at("100% of allocation 2").computed, 20);
  const std::string old = WriteUsage(assignment, *FindReportDialect("jaxlib-0.8.2"));
  const std::vector<ReconcileGroup> groups = GroupsOf(MustRead({kAssignment, old}));
  EXPECT_EQ(groups[1].rows[0].figure, "Total bytes used");
  EXPECT_EQ(groups[1].rows[0].said, 68);
}

}  // namespace
}  // namespace stowplan::report::test
