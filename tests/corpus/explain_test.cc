// SPDX-License-Identifier: Apache-2.0
// Every report of the corpus: all ways to split what is live add up, and the peak is the one that
// counting at every moment finds.
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "assign/assignment.h"
#include "assign/rules.h"
#include "corpus/compilers.h"
#include "corpus/corpus_files.h"
#include "corpus/recorded.h"
#include "corpus/report_files.h"
#include "explain/complete.h"
#include "explain/footprint.h"
#include "explain/moment.h"
#include "explain/padding.h"
#include "explain/partition.h"
#include "explain/shares.h"
#include "explain/why.h"
#include "explain/xla_peak.h"
#include "live/analysis.h"
#include "report/from_assignment.h"
#include "report/from_proto.h"
#include "stowplan/session.h"

namespace stowplan::explain {
namespace {

// The bytes of values that are live at `time`, by sorting intervals: shares nothing with the sweep.
int64_t CountedAt(const report::Report& report, int64_t time, std::optional<int64_t> space) {
  std::map<uint32_t, std::vector<std::pair<int64_t, int64_t>>> places;
  for (const report::Value& value : report.values.rows()) {
    if (value.allocation.is_none() || !value.has_range) continue;
    const report::Allocation& allocation = report.allocations[value.allocation];
    if (allocation.is_thread_local || (space && allocation.color != *space)) continue;
    if (value.start <= time && time <= value.end)
      places[value.allocation.index].emplace_back(value.offset, value.offset + value.size);
  }
  int64_t bytes = 0;
  for (auto& [allocation, ranges] : places) {
    std::ranges::sort(ranges);
    int64_t end = 0;
    for (const auto& [begin, after] : ranges) {
      bytes += std::max<int64_t>(0, after - std::max(begin, end));
      end = std::max(end, after);
    }
  }
  return bytes;
}

// All moments, but for large programs a dozen.
bool IsSmall(const report::Report& report) {
  return static_cast<int64_t>(report.values.size()) * report.live_ranges->end <= 1'000'000;
}
std::vector<int64_t> MomentsOf(const report::Report& report) {
  const int64_t end = report.live_ranges->end;
  const int64_t stride = IsSmall(report) ? 1 : std::max<int64_t>(1, end / 12);
  std::vector<int64_t> moments;
  for (int64_t time = 0; time <= end; time += stride) moments.push_back(time);
  return moments;
}

void CheckSums(const Picture& picture, const Moment& moment) {
  int64_t shares = 0;
  for (const Share& share : moment.shares) {
    ASSERT_GE(share.padding, 0);
    ASSERT_LE(share.padding, share.bytes);
    shares += share.bytes;
  }
  ASSERT_EQ(shares, moment.bytes);
  const Footprint split = FootprintAt(picture, moment.time, moment.space);
  int64_t allocations = 0;
  for (const report::Allocation& allocation : picture.report->allocations.rows()) {
    if (!moment.space || allocation.color == *moment.space) allocations += allocation.size;
  }
  ASSERT_EQ(split.bytes, allocations);
  ASSERT_EQ(split.sum(), allocations);
  ASSERT_EQ(split.live, moment.bytes);
  ASSERT_TRUE(split.dead >= 0 && split.fragmentation >= 0 && split.alignment >= 0 &&
              split.untimed >= 0);
  for (size_t by = 0; by < kBys; ++by) {
    const Partition partition = PartitionOf(picture, moment, static_cast<By>(by));
    const int64_t whole = static_cast<By>(by) == By::kFootprint ? allocations : moment.bytes;
    for (const Partition& tree : {partition, Folded(partition)}) {
      int64_t own = 0;
      std::vector<int64_t> below(tree.rows.size());
      for (size_t i = tree.rows.size(); i-- > 0;) {
        own += tree.rows[i].own;
        ASSERT_GE(tree.rows[i].own, 0);
        below[i] += tree.rows[i].own;
        ASSERT_EQ(below[i], tree.rows[i].total);
        if (i != 0) {
          ASSERT_LT(tree.rows[i].parent, i);
          ASSERT_EQ(tree.rows[i].depth, tree.rows[tree.rows[i].parent].depth + 1);
          below[tree.rows[i].parent] += below[i];
        }
      }
      ASSERT_EQ(own, whole) << Name(static_cast<By>(by));
      ASSERT_EQ(tree.total(), whole) << Name(static_cast<By>(by));
      const TopRows top = Largest(tree, 5);
      int64_t shown = top.rest + tree.rows[0].own;
      for (const uint32_t row : top.rows) shown += tree.rows[row].own;
      ASSERT_EQ(shown, whole);
    }
  }
}

// What values own as time goes by is what they own at each moment.
void CheckShares(const Picture& picture) {
  const Shares shares = SharesOf(picture);
  const size_t count = picture.report->values.size();
  ASSERT_EQ(shares.begins.size(), count + 1);
  for (const int64_t time : MomentsOf(*picture.report)) {
    std::vector<std::pair<int64_t, int64_t>> owned(count);  // bytes and padding
    for (const Share& share : MomentAt(picture, time).shares)
      owned[share.value.index] = {share.bytes, share.padding};
    for (size_t i = 0; i < count; ++i) {
      const std::span<const ShareStep> steps = shares.of(report::ValueId(i));
      const auto behind = std::ranges::upper_bound(steps, time, {}, &ShareStep::time);
      const ShareStep step = behind == steps.begin() ? ShareStep() : *std::prev(behind);
      ASSERT_EQ(std::pair(step.bytes, step.padding), owned[i])
          << ValueName(*picture.report, report::ValueId(i)) << " at t=" << time;
    }
  }
}

void CheckPicture(const Picture& picture) {
  const report::Report& report = *picture.report;
  if (!report::HasPeak(report)) return;
  const Curves curves = report::ComputeLiveBytes(report)->curves;
  const Result<report::TruePeak> peak = report::ComputeTruePeak(report);
  ASSERT_TRUE(peak.has_value());
  ASSERT_EQ(curves.all.peak, peak->all);
  ASSERT_EQ(curves.spaces.size(), peak->spaces.size());
  std::vector<Curve> all = curves.spaces;
  all.push_back(curves.all);
  for (size_t i = 0; i < all.size(); ++i) {
    const Curve& curve = all[i];
    if (i < peak->spaces.size()) {
      ASSERT_EQ(curve.peak, peak->spaces[i].peak);
    }
    for (const int64_t time : MomentsOf(report)) {
      const int64_t bytes = CountedAt(report, time, curve.space);
      ASSERT_EQ(BytesAt(curve, time), bytes) << "t=" << time;
      ASSERT_LE(bytes, curve.peak.bytes) << "t=" << time;
    }
    const Moment moment = MomentAt(picture, curve.peak.time, curve.space);
    ASSERT_EQ(moment.bytes, curve.peak.bytes);
    ASSERT_EQ(moment.bytes, CountedAt(report, curve.peak.time, curve.space));
    CheckSums(picture, moment);
  }
  CheckSums(picture, MomentAt(picture, report.live_ranges->end / 2));
  CheckShares(picture);
  if (const std::optional<PeakGap> gap = GapToXla(picture)) {
    ASSERT_EQ(gap->peak, curves.all.peak);
    ASSERT_EQ(gap->live_then, BytesAt(curves.all, gap->xla.time));
    ASSERT_EQ(gap->live_then + gap->other_moment, gap->peak.bytes);
    if (const auto& reasons = gap->reasons) {
      ASSERT_EQ(
          gap->xla.bytes + reasons->tuples + reasons->unplaced + reasons->padding + reasons->shared,
          gap->live_then);
    }
  }
  for (const PaddingTax& tax : PaddingTaxes(picture, 20)) {
    ASSERT_GT(tax.padding, 0);
    ASSERT_LE(tax.padding, tax.size);
    if (tax.cheaper) {
      ASSERT_LT(tax.cheaper->bytes, tax.size);
    }
  }
}

// What a corpus test counts of its reports.
enum Column : uint8_t { kPictures, kTimed, kAllMoments, kAsked, kHeld, kColumns };

// Why the largest values at the peak are alive: of how many we asked, and how many holders have a
// name.
void CheckWhys(const Picture& picture, CountRow& row) {
  const report::Report& report = *picture.report;
  if (!report::HasPeak(report)) return;
  const Moment moment = MomentAt(picture, report::ComputeLiveBytes(report)->curves.all.peak.time);
  for (size_t i = 0; i < std::min<size_t>(5, moment.shares.size()); ++i) {
    const Why why = WhyAlive(picture, nullptr, moment.shares[i].value);
    const report::Value& value = report.values[why.value];
    ++row[kAsked];
    if (why.holder != Holder::kUnknown) ++row[kHeld];
    ASSERT_EQ(why.holder == Holder::kUnknown, !value.has_uses);
    if (why.holder == Holder::kLastUse) {
      ASSERT_FALSE(why.held_by.is_none());
      ASSERT_EQ(picture.ops[why.held_by].time, value.end);
    }
    const auto check = [&](report::ValueId id, bool is_together) {
      if (id.is_none()) return;
      const report::Value& other = report.values[id];
      ASSERT_EQ(other.allocation, value.allocation);
      ASSERT_EQ(other.start <= value.end && value.start <= other.end, is_together);
    };
    check(why.below, true);
    check(why.above, true);
    check(why.before, false);
    check(why.after, false);
  }
}

// The module beside a report, if there is one.
std::optional<hlo::Module> ModuleBeside(const std::string& assignment) {
  if (!assignment.ends_with(report::kAssignmentEnding)) return std::nullopt;
  for (const std::string_view ending : {".txt", ".hlo.pb"}) {
    const std::string file = report::Sibling(assignment, report::kAssignmentEnding, ending);
    if (!std::filesystem::exists(file)) continue;
    Result<hlo::Module> module = ReadModule(file);
    if (module) return *std::move(module);
    ADD_FAILURE() << Render(module.error());
  }
  return std::nullopt;
}

// The report as `explain` shows it: what it does not tell is found from the program.
Result<report::Report> WithProgram(report::Report report, const std::string& file,
                                   const hlo::Module& module) {
  const Rules rules = RulesOf(*FindTarget(TargetOf(file)), VersionOf(file));
  STOWPLAN_TRY(const Analysis analysis, Analyze(module, rules.analysis));
  return Complete(std::move(report), module, analysis).report;
}

TEST(CorpusExplain, EveryReportAddsUp) {
  CountRows rows;
  const auto look = [&](const std::string& archive, const std::string& file,
                        Result<report::Report> report) {
    ASSERT_TRUE(report.has_value()) << Render(report.error());
    ASSERT_TRUE(report->has_assignment);
    const std::optional<hlo::Module> module = ModuleBeside(file);
    const Result<Picture> picture = MakePicture(*report, module ? &*module : nullptr);
    ASSERT_TRUE(picture.has_value()) << Render(picture.error());
    ASSERT_NO_FATAL_FAILURE(CheckPicture(*picture));
    CountRow& row = rows.try_emplace(archive, kColumns).first->second;
    ++row[kPictures];
    if (!report::HasPeak(*report)) return;
    ++row[kTimed];
    if (IsSmall(*report)) ++row[kAllMoments];
    if (report->has_value_list || !module) {
      CheckWhys(*picture, row);
      return;
    }
    // Who holds a value is known from its uses.
    const Result<report::Report> completed = WithProgram(*std::move(report), file, *module);
    ASSERT_TRUE(completed.has_value()) << Render(completed.error());
    const Result<Picture> full = MakePicture(*completed, &*module);
    ASSERT_TRUE(full.has_value()) << Render(full.error());
    CheckWhys(*full, row);
  };
  for (const std::string& file : FilesBelow(STOWPLAN_CORPUS_DIR, report::kAssignmentEnding)) {
    ASSERT_NO_FATAL_FAILURE(look(ArchiveOf(file), file, report::ReadAllOf(file))) << file;
  }
  for (const std::string& file : FilesBelow(STOWPLAN_TESTS_DIR "/../examples/seeds", ".txt")) {
    ASSERT_NO_FATAL_FAILURE(look("seeds", file, report::ReadFiles({file}))) << file;
  }
  // Every holder has a name.
  for (const auto& [archive, row] : rows) EXPECT_EQ(row[kHeld], row[kAsked]) << archive;
  // reports, of these with a peak, compared at all moments; values asked about, with a holder
  ExpectRows(rows, {
                       {"cpu", {54, 54, 52, 250, 250}},
                       {"cpu11", {54, 54, 52, 250, 250}},
                       {"dialects", {191, 177, 177, 805, 805}},
                       {"explain", {114, 114, 114, 512, 512}},
                       {"gpu", {50, 50, 48, 232, 232}},
                       {"oracle", {756, 756, 753, 3610, 3610}},
                       {"oracle_tpu", {9, 9, 9, 45, 45}},
                       {"scale", {3, 3, 0, 15, 15}},
                       {"seeds", {5, 5, 5, 23, 23}},
                       {"tpu", {54, 54, 52, 263, 263}},
                   });
  CountRow all;
  for (const auto& [archive, row] : rows) all += row;
  ExpectRows({{"all archives and the seeds", all}},
             DocTable("explain.md",
                      "| of the corpus | reports | with live ranges | compared at all moments | "
                      "values asked about | with a holder |"));
}

// Modules alone, planned as XLA does.
TEST(CorpusExplain, EveryModuleAddsUp) {
  CountRows rows;  // with a schedule, without
  for (const std::string& file : CorpusFiles("after_optimizations.txt")) {
    SCOPED_TRACE(file);
    const Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value());
    rows[ArchiveOf(file)] += module->header.is_scheduled ? CountRow{1, 0} : CountRow{0, 1};
    if (!module->header.is_scheduled) continue;
    const Rules rules = RulesOf(*FindTarget(TargetOf(file)), CompilerOf(file));
    const Result<Analysis> analysis = Analyze(*module, rules.analysis);
    ASSERT_TRUE(analysis.has_value()) << Render(analysis.error());
    const Result<Assignment> plan = Assign(*module, *analysis, rules, std::nullopt);
    ASSERT_TRUE(plan.has_value()) << Render(plan.error());
    const report::Report report =
        report::ReportOf(*module, *analysis, *plan, *report::FindReportStyle(CompilerOf(file)));
    const Result<Picture> picture = MakePicture(report, &*module, rules.target);
    ASSERT_TRUE(picture.has_value()) << Render(picture.error());
    CheckPicture(*picture);
    if (HasFatalFailure()) return;
  }
  ExpectRows(rows, {
                       {"cpu", {54, 0}},
                       {"cpu11", {54, 0}},
                       {"dialects", {142, 49}},
                       {"gpu", {50, 0}},
                       {"scale", {3, 0}},
                       {"tpu", {54, 0}},
                   });
}

// A .hlo.pb has no live ranges; what is found from its program equals what XLA wrote beside it.
TEST(CorpusExplain, ProtosAreCompletedAsXlaDoes) {
  CountRows rows;
  for (const std::string& file : CorpusProtos()) {
    SCOPED_TRACE(file);
    const Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value());
    ASSERT_NE(module->buffer_assignment.size, 0U);
    Result<report::Report> bare = report::ReportFromModule(*module);
    ASSERT_TRUE(bare.has_value());
    const Rules rules = RulesOf(*FindTarget(TargetOf(file)), VersionOf(file));
    const Result<Analysis> analysis = Analyze(*module, rules.analysis);
    ASSERT_TRUE(analysis.has_value()) << Render(analysis.error());
    const Completed full = Complete(*std::move(bare), *module, *analysis);
    EXPECT_TRUE(full.has_new_ranges && full.has_new_uses);
    EXPECT_EQ(full.strangers, 0);
    const Result<report::Report> said =
        report::ReadAllOf(report::Sibling(file, ".hlo.pb", report::kAssignmentEnding));
    ASSERT_TRUE(said && report::HasPeak(*said));
    const Result<report::TruePeak> peak = report::ComputeTruePeak(full.report);
    ASSERT_TRUE(peak.has_value());
    EXPECT_EQ(peak->all, report::ComputeTruePeak(*said)->all);
    EXPECT_EQ(report::ComputeLiveBytes(full.report)->curves.all.steps,
              report::ComputeLiveBytes(*said)->curves.all.steps);
    rows[ArchiveOf(file)] += {1};
  }
  ExpectRows(rows, {{"cpu", {54}}, {"cpu11", {54}}, {"gpu", {50}}, {"scale", {3}}, {"tpu", {54}}});
}

report::Report Seed(int number) {
  Result<report::Report> report =
      report::ReadFiles({std::string(STOWPLAN_TESTS_DIR) + "/../examples/seeds/seed_00" +
                         std::to_string(number) + ".txt"});
  EXPECT_TRUE(report.has_value());
  return *std::move(report);
}

TEST(CorpusExplain, TheSeeds) {
  const report::Report third = Seed(3);
  const Result<Picture> picture = MakePicture(third, nullptr);
  ASSERT_TRUE(picture.has_value());
  const Curves curves = report::ComputeLiveBytes(third)->curves;
  EXPECT_EQ(MomentAt(*picture, 11).bytes, 297796096);
  EXPECT_EQ(curves.all.peak, (report::Peak{.bytes = 297796132, .time = 9}));
  ASSERT_EQ(curves.spaces.size(), 3U);
  EXPECT_EQ(curves.spaces[0].peak, (report::Peak{.bytes = 209716256, .time = 12}));
  EXPECT_EQ(curves.spaces[1].peak, (report::Peak{.bytes = 90177536, .time = 7}));
  EXPECT_EQ(curves.spaces[2].peak, (report::Peak{.bytes = 8, .time = 6}));
  const std::optional<PeakGap> gap = GapToXla(*picture);
  ASSERT_TRUE(gap && gap->reasons);
  EXPECT_EQ(gap->xla.bytes, 239075356);
  EXPECT_EQ(gap->xla.time, 11);
  EXPECT_EQ(*gap->reasons, (PeakGap::Reasons{.tuples = 58720232, .padding = 508}));
  EXPECT_EQ(gap->other_moment, 36);
  const report::Report fourth = Seed(4);
  EXPECT_EQ(report::ComputeLiveBytes(fourth)->curves.all.peak,
            (report::Peak{.bytes = 1012613120, .time = 13}));
}

}  // namespace
}  // namespace stowplan::explain
