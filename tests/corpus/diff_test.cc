// SPDX-License-Identifier: Apache-2.0
// Differences between real dumps: what must hold for every pair, what must be found in some.
#include "diff/diff.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "corpus/corpus_files.h"
#include "corpus/recorded.h"
#include "corpus/report_files.h"
#include "diff/cause.h"
#include "stowplan/session.h"
#include "unit/diff/laws.h"

namespace stowplan::diff {
namespace {

// A report, its module and the picture, at a fixed address.
struct Dump {
  report::Report report;
  std::optional<hlo::Module> module;
  explain::Picture picture;
};

std::unique_ptr<Dump> DumpAt(const std::string& assignment) {
  auto dump = std::make_unique<Dump>();
  Result<report::Report> report = report::ReadAllOf(assignment);
  if (!report || !report->has_assignment) return nullptr;
  dump->report = *std::move(report);
  for (const std::string_view ending : {".txt", ".hlo.pb"}) {
    const std::string file = report::Sibling(assignment, report::kAssignmentEnding, ending);
    if (dump->module || !std::filesystem::exists(file)) continue;
    Result<hlo::Module> module = ReadModule(file);
    EXPECT_TRUE(module.has_value()) << file;
    if (module) dump->module = *std::move(module);
  }
  Result<explain::Picture> picture =
      explain::MakePicture(dump->report, dump->module ? &*dump->module : nullptr);
  if (!picture) return nullptr;
  dump->picture = *std::move(picture);
  return dump;
}

std::vector<std::string> AssignmentsOf(const std::string& archive) {
  return FilesBelow(std::string(STOWPLAN_CORPUS_DIR) + "/" + archive,
                    std::string(report::kAssignmentEnding));
}

TEST(CorpusDiff, WithItselfIsEmpty) {
  CountRows rows;
  for (const std::string archive : {"cpu", "cpu11", "gpu", "tpu", "dialects"}) {
    for (const std::string& file : AssignmentsOf(archive)) {
      SCOPED_TRACE(file);
      const std::unique_ptr<Dump> a = DumpAt(file);
      const std::unique_ptr<Dump> b = DumpAt(file);
      ASSERT_TRUE(a && b);
      const Result<Diff> diff = DiffOf(a->picture, b->picture);
      ASSERT_TRUE(diff.has_value());
      EXPECT_TRUE(diff->is_empty());
      for (const SpaceDiff& space : diff->spaces) {
        EXPECT_TRUE(space.changes.empty());
        EXPECT_EQ(space.time_a, space.time_b);
      }
      rows[archive] += {1};
    }
  }
  ExpectRows(rows,
             {{"cpu", {54}}, {"cpu11", {54}}, {"gpu", {50}}, {"tpu", {54}}, {"dialects", {191}}});
}

constexpr std::string_view kPrefix = "zz_";

std::string_view Renamed(report::Report& report, std::string_view name) {
  report.made_texts.push_back(
      std::make_unique<std::string>(std::string(kPrefix) + std::string(name)));
  return *report.made_texts.back();
}

// The same dump after a compiler that gives every instruction another name. Null when there is no
// text of the module.
std::unique_ptr<Dump> RenamedDumpAt(const std::string& assignment) {
  auto dump = DumpAt(assignment);
  const std::string file = report::Sibling(assignment, report::kAssignmentEnding, ".txt");
  if (!dump || !std::filesystem::exists(file)) return nullptr;
  const auto source = ReadSource(file);
  if (!source) return nullptr;
  std::string text;
  for (const char c : (*source)->bytes()) {
    text += c;
    if (c == '%') text += kPrefix;
  }
  Result<hlo::Module> module = ParseModule(Source::FromBytes(file, text));
  EXPECT_TRUE(module.has_value());
  if (!module) return nullptr;
  dump->module = *std::move(module);
  report::Report& report = dump->report;
  for (size_t i = 0; i < report.values.size(); ++i) {
    report::Value& value = report.values[report::ValueId(i)];
    value.instruction = Renamed(report, value.instruction);
  }
  for (report::Position& at : report.positions) at.instruction = Renamed(report, at.instruction);
  for (report::Use& use : report.uses) use.instruction = Renamed(report, use.instruction);
  if (report.live_ranges) {
    for (std::string_view& name : report.live_ranges->sequence) name = Renamed(report, name);
  }
  Result<explain::Picture> picture = explain::MakePicture(report, &*dump->module);
  EXPECT_TRUE(picture.has_value());
  if (!picture) return nullptr;
  dump->picture = *std::move(picture);
  return dump;
}

TEST(CorpusDiff, RenamedIsEmpty) {
  CountRows rows;
  for (const std::string archive : {"cpu", "gpu", "tpu"}) {
    for (const std::string& file : AssignmentsOf(archive)) {
      SCOPED_TRACE(file);
      const std::unique_ptr<Dump> a = DumpAt(file);
      const std::unique_ptr<Dump> b = RenamedDumpAt(file);
      ASSERT_TRUE(a && b);
      for (size_t i = 0; i < a->report.values.size(); ++i) {
        ASSERT_NE(a->report.values[report::ValueId(i)].instruction,
                  b->report.values[report::ValueId(i)].instruction);
      }
      const Result<Diff> diff = DiffOf(a->picture, b->picture);
      ASSERT_TRUE(diff.has_value());
      EXPECT_TRUE(diff->is_empty());
      EXPECT_EQ(diff->spaces[0].time_a, diff->spaces[0].time_b);
      rows[archive] += {1};
    }
  }
  ExpectRows(rows, {{"cpu", {54}}, {"gpu", {50}}, {"tpu", {54}}});
}

// The same programs through two releases.
TEST(CorpusDiff, TwoCompilers) {
  size_t pairs = 0;
  size_t same = 0;
  for (const std::string& file : AssignmentsOf("cpu")) {
    std::string other = file;
    other.replace(other.find("/cpu/"), 5, "/cpu11/");
    ASSERT_TRUE(std::filesystem::exists(other));
    SCOPED_TRACE(file);
    const std::unique_ptr<Dump> a = DumpAt(file);
    const std::unique_ptr<Dump> b = DumpAt(other);
    ASSERT_TRUE(a && b);
    CheckLaws(a->picture, b->picture);
    const Result<Diff> diff = DiffOf(a->picture, b->picture);
    ASSERT_TRUE(diff.has_value());
    ++pairs;
    if (diff->is_empty()) ++same;
    // Most of a program is still itself.
    EXPECT_GE(diff->counts.pairs * 2, diff->counts.only_a + diff->counts.only_b);
  }
  EXPECT_EQ(pairs, 54U);
  EXPECT_EQ(same, 47U);
}

// Programs that have nothing to do with each other: it still adds up.
TEST(CorpusDiff, Strangers) {
  const std::vector<std::string> files = AssignmentsOf("tpu");
  ASSERT_EQ(files.size(), 54U);
  for (size_t i = 0; i + 1 < files.size(); ++i) {
    SCOPED_TRACE(files[i]);
    const std::unique_ptr<Dump> a = DumpAt(files[i]);
    const std::unique_ptr<Dump> b = DumpAt(files[i + 1]);
    ASSERT_TRUE(a && b);
    CheckLaws(a->picture, b->picture);
  }
}

}  // namespace
}  // namespace stowplan::diff
