// SPDX-License-Identifier: Apache-2.0
// The memory-usage report, computed from the assignment, against the file that XLA wrote.
#include "report/usage.h"

#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "corpus/recorded.h"
#include "corpus/report_files.h"
#include "report/usage_proto.h"
#include "report/write.h"

namespace stowplan::report {
namespace {

constexpr std::string_view kEnding = "-memory-usage-report.txt";

struct Count {
  int equal = 0;
  int files = 0;
  void Add(bool is_equal) {
    ++files;
    if (is_equal) ++equal;
  }
};

// Folders are named after the wheel: cpu_082 is jaxlib 0.8.2. XLA has written ties in a fixed order
// since then.
bool HasFixedOrder(const std::string& file) {
  return file.find("_082") != std::string::npos || file.find("_090") != std::string::npos;
}

std::string_view FirstDifference(std::string_view a, std::string_view b) {
  size_t line = 0;
  for (size_t i = 0; i < a.size() && i < b.size() && a[i] == b[i]; ++i) {
    if (a[i] == '\n') line = i + 1;
  }
  a = a.substr(std::min(line, a.size()));
  return a.substr(0, a.find('\n'));
}

// All are equal, and there are so many of them.
void ExpectCounts(const std::map<std::string, Count>& counts, const CountRows& recorded) {
  CountRows rows;
  for (const auto& [name, count] : counts) {
    EXPECT_EQ(count.equal, count.files) << name;
    rows[name] = {count.files};
  }
  ExpectRows(rows, recorded);
}

TEST(CorpusUsage, FollowsFromTheAssignmentAlone) {
  std::map<std::string, Count> counts;
  int fixed_in_hash_order = 0;
  for (const std::string& file : CorpusFiles(kEnding)) {
    const auto usage = ReadSource(file);
    ASSERT_TRUE(usage.has_value()) << file;
    const bool has_spaces = (*usage)->bytes().starts_with("Memory Space: ");
    Result<Report> report = ReadFiles({Sibling(file, kEnding, kAssignmentEnding)});
    ASSERT_TRUE(report.has_value()) << Render(report.error());
    report->dialect.usage = has_spaces ? UsageReport::kSpaces : UsageReport::kSorted;
    const std::string written = WriteUsage(*report, report->dialect);
    const bool is_equal = written == (*usage)->bytes();
    if (!has_spaces && !HasFixedOrder(file)) {
      // Without ties, the order that was kept in no order comes out right, too.
      if (is_equal) ++fixed_in_hash_order;
      continue;
    }
    counts[ArchiveOf(file) + (has_spaces ? ", by space" : ", by size")].Add(is_equal);
    if (!is_equal) {
      ADD_FAILURE() << file << "\n  XLA: " << FirstDifference((*usage)->bytes(), written)
                    << "\n  got: " << FirstDifference(written, (*usage)->bytes());
    }
  }
  ExpectCounts(counts, {
                           {"cpu, by space", {54}},
                           {"cpu11, by space", {54}},
                           {"dialects, by size", {21}},
                           {"dialects, by space", {63}},
                           {"gpu, by space", {50}},
                           {"scale, by space", {3}},
                           {"tpu, by space", {54}},
                       });
  EXPECT_EQ(fixed_in_hash_order, 33);
}

TEST(CorpusUsage, ComesBackWithTheOrderThatWasRead) {
  std::map<std::string, Count> counts;
  for (const std::string& file : CorpusFiles(kEnding)) {
    const Result<Report> report = ReadFiles({Sibling(file, kEnding, kAssignmentEnding), file});
    ASSERT_TRUE(report.has_value()) << Render(report.error());
    const std::string written = WriteUsage(*report, report->dialect);
    const bool is_equal = written == report->usage->text;
    counts[ArchiveOf(file) +
           (report->usage->kind == UsageReport::kSpaces ? ", by space" : ", by size")]
        .Add(is_equal);
    if (!is_equal) {
      ADD_FAILURE() << file << "\n  XLA: " << FirstDifference(report->usage->text, written)
                    << "\n  got: " << FirstDifference(written, report->usage->text);
    }
    if (HasFixedOrder(file)) {
      EXPECT_EQ(FindUsageOrder(*report), UsageReport::kSorted) << file;
    }
  }
  ExpectCounts(counts, {
                           {"cpu, by space", {54}},
                           {"cpu11, by space", {54}},
                           {"dialects, by size", {72}},
                           {"dialects, by space", {63}},
                           {"gpu, by space", {50}},
                           {"scale, by space", {3}},
                           {"tpu, by space", {54}},
                       });
}

TEST(CorpusUsage, IsKeptWithoutItsAssignment) {
  CountRows rows;
  for (const std::string& file : CorpusFiles(kEnding)) {
    const Result<Report> report = ReadFiles({file});
    ASSERT_TRUE(report.has_value()) << Render(report.error());
    EXPECT_EQ(WriteUsage(*report, report->dialect), report->sources[0]->bytes()) << file;
    EXPECT_FALSE(report->usage->tables.empty()) << file;
    rows[ArchiveOf(file)] += {1, std::ssize(report->usage->tables)};
  }
  ExpectRows(rows, {
                       {"cpu", {54, 1037}},
                       {"cpu11", {54, 1154}},
                       {"dialects", {135, 1625}},
                       {"gpu", {50, 1190}},
                       {"scale", {3, 1798}},
                       {"tpu", {54, 1450}},
                   });
}

TEST(CorpusUsage, ProtoHasTheTablesOfTheText) {
  std::map<std::string, Count> counts;
  int64_t tables = 0;
  for (const std::string& file : CorpusFiles("-memory-usage-report.pb")) {
    const auto proto = ReadSource(file);
    const auto text = ReadSource(Sibling(file, ".pb", ".txt"));
    ASSERT_TRUE(proto.has_value() && text.has_value()) << file;
    EXPECT_TRUE(LooksLikeUsageProto(**proto)) << file;
    EXPECT_FALSE(LooksLikeUsageProto(**text)) << file;
    const Result<UsageProto> usage = ParseUsageProto(**proto);
    ASSERT_TRUE(usage.has_value()) << Render(usage.error());
    const std::string written = ToUsageText(*usage);
    counts[ArchiveOf(file)].Add(written == (*text)->bytes());

    const Result<Report> report =
        ReadFiles({Sibling(file, "-memory-usage-report.pb", kAssignmentEnding)});
    ASSERT_TRUE(report.has_value()) << Render(report.error());
    UsageComputer computer(*report, UsageOrder::kFixed);
    for (const UsageProtoSpace& space : usage->spaces) {
      const std::vector<AllocationId> ids = computer.SortedAllocations(space.color);
      ASSERT_LE(space.allocations.size(), ids.size()) << file;
      int64_t cumulative = 0;
      for (size_t i = 0; i < space.allocations.size(); ++i) {
        ++tables;
        const Allocation& allocation = report->allocations[ids[i]];
        cumulative += allocation.size;
        EXPECT_EQ(space.allocations[i].index, allocation.number) << file;
        EXPECT_EQ(space.allocations[i].size, allocation.size) << file;
        EXPECT_EQ(space.allocations[i].cumulative_size, cumulative) << file;
        EXPECT_EQ(space.allocations[i].positions.size(), allocation.values.size()) << file;
        if (space.total_bytes != 0) {
          EXPECT_DOUBLE_EQ(space.allocations[i].cumulative_share,
                           static_cast<double>(cumulative) / static_cast<double>(space.total_bytes))
              << file;
        }
      }
    }
  }
  ExpectCounts(counts, {
                           {"cpu", {54}},
                           {"cpu11", {54}},
                           {"gpu", {50}},
                           {"scale", {3}},
                           {"tpu", {54}},
                       });
  EXPECT_EQ(tables, 6629);
}

}  // namespace
}  // namespace stowplan::report
