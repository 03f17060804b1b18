// SPDX-License-Identifier: Apache-2.0
#include "report/usage.h"

#include "report/usage_proto.h"
#include "report/write.h"
#include "unit/report/example_report.h"

namespace stowplan::report::test {
namespace {

std::string Written(const Report& report, UsageReport form) {
  ReportDialect dialect = report.dialect;
  dialect.usage = form;
  return WriteUsage(report, dialect);
}

constexpr std::string_view kHead =
    "cumulative_size;       size;       offset; used_by_n_values; shapes_list\n";
const std::string kTwoBlanks = "  " + std::string(kHead) + "  " + std::string(60, '-') + "\n";
const std::string kTab = "\t" + std::string(kHead) + "\t" + std::string(60, '-') + "\n";

TEST(WriteUsage, BySpace) {
  EXPECT_EQ(Written(Example(), UsageReport::kSpaces),
            "Memory Space: default (color=0)\n"
            "Total bytes: 68 (68B)\n" +
                kTwoBlanks +
                "        16B( 80%);        16B;            0;                2; f32[2,2], f32[4]\n"
                "        20B(100%);         4B;           32;                1; f32[]\n"
                "\n" +
                kTwoBlanks +
                "        16B(100%);        16B;            0;                1; f32[4]\n"
                "\n" +
                kTwoBlanks +
                "        16B(100%);        16B;            0;                1; (f32[4], f32[])\n"
                "\n\n");
}

TEST(WriteUsage, BySize) {
  const std::string parameter =
      "allocation 0: size 16B, parameter 0, shape |f32[4]| at ShapeIndex {}:\n";
  const std::string output =
      "allocation 1: size 16B, output shape is |(f32[4], f32[])|, maybe-live-out:\n";
  const std::string temp = "allocation 2: size 36B, preallocated-temp:\n";
  EXPECT_EQ(Written(Example(), UsageReport::kSorted),
            "Total bytes used: 68 (68B)\n\nAllocations sorted by size:\n\n"
            "cumulative_size; total_size - cumulative_size; allocation\n" +
                std::string(78, '-') + "\n" + "       36B( 53%);        32B; " + temp +
                "       52B( 76%);        16B; " + parameter + "       68B(100%);         0B; " +
                output + "\n\nAllocations sorted by size with their values:\n" + temp + "\n" +
                kTab +
                "\t      16B( 80%);        16B;            0;                2; f32[2,2], f32[4]\n"
                "\t      20B(100%);         4B;           32;                1; f32[]\n"
                "\n" +
                parameter + output);
}

TEST(WriteUsage, NoBytesHaveNoShare) {
  const Report report =
      MustRead({"BufferAssignment:\nallocation 0: size 0, constant:\n value: <0 c @0> "
                "(size=0,offset=0): f32[0]{0}\n"});
  EXPECT_NE(Written(report, UsageReport::kSpaces).find("         0B(-nan%);         0B;"),
            std::string::npos);
}

TEST(WriteUsage, CountedShapesComeAfterSingleOnes) {
  const Report report =
      MustRead({"BufferAssignment:\nallocation 0: size 8, preallocated-temp:\n"
                " value: <0 a @0> (size=8,offset=0): f32[2]{0}\n"
                " value: <1 b @0> (size=8,offset=0): u32[2]{0}\n"
                " value: <2 c @0> (size=8,offset=0): f32[2]{0:T(256)}\n"});
  EXPECT_NE(Written(report, UsageReport::kSpaces).find("3; u32[2], 2×f32[2]\n"), std::string::npos);
}

std::string ManyValues(int count) {
  std::string text =
      "BufferAssignment:\nallocation 0: size 1000000, preallocated-temp:\n"
      " value: <0 big @0> (size=100000,offset=0): s8[100000]{0}\n";
  for (int i = 1; i < count; ++i) {
    const std::string n = std::to_string(i);
    text += " value: <" + n + " v" + n + " @0> (size=1,offset=" + std::to_string(100000 + i) +
            "): s8[]\n";
  }
  return text;
}

TEST(WriteUsage, SmallRowsAreCountedBehindFifty) {
  const std::string written = Written(MustRead({ManyValues(60)}), UsageReport::kSpaces);
  EXPECT_NE(
      written.find("100050;                1; s8[]\n  The rest 9 values are less than 5% of the "
                   "total size and not shown.\n\n\n"),
      std::string::npos)
      << written;
  EXPECT_EQ(Written(MustRead({ManyValues(50)}), UsageReport::kSpaces).find("The rest"),
            std::string::npos);
  // XLA asks after each row, the last too.
  EXPECT_NE(Written(MustRead({ManyValues(51)}), UsageReport::kSpaces).find("The rest 0 values"),
            std::string::npos);
}

TEST(WriteUsage, FivePercentInSinglePrecision) {
  // A twentieth of 2^40 is 54975581388.8. Single precision has every 4096th number there.
  constexpr int64_t kTotal = int64_t{1} << 40;
  EXPECT_TRUE(IsUsageRestHidden(51, 54975580000, kTotal));
  EXPECT_FALSE(IsUsageRestHidden(51, 54975581000, kTotal));
  EXPECT_FALSE(IsUsageRestHidden(50, 0, kTotal));
  // The allocations of a memory space: only the right side is rounded.
  std::string text = "BufferAssignment:\n";
  for (int i = 0; i < 54; ++i) {
    const int64_t size = i < 50    ? 20481098956
                         : i == 50 ? 20481098976
                         : i == 53 ? 18325193668
                                   : 18325193666;
    text += "allocation " + std::to_string(i) + ": size " + std::to_string(size) +
            ", preallocated-temp:\n";
  }
  const std::string written = Written(MustRead({text}), UsageReport::kSpaces);
  EXPECT_TRUE(written.starts_with(
      "Memory Space: default (color=0)\nTotal bytes: 1099511627776 (1.00TiB)\n"));
  size_t tables = 0;
  for (size_t at = 0; (at = written.find(kHead, at)) != std::string::npos; ++at) ++tables;
  EXPECT_EQ(tables, 51U);
}

TEST(WriteUsage, NamesOfSpaces) {
  EXPECT_EQ(UsageSpaceName(1), "vmem");
  EXPECT_EQ(UsageSpaceName(5), "cmem");
  EXPECT_EQ(UsageSpaceName(6), "color_6");
  EXPECT_EQ(UsageSpaceName(-1), "color_-1");
}

// Ties and shapes of the years without an order.
const std::string kUnordered =
    "Total bytes used: 8 (8B)\n\nAllocations sorted by size:\n\n"
    "cumulative_size; total_size - cumulative_size; allocation\n" +
    std::string(78, '-') +
    "\n        8B(100%);         0B; allocation 0: size 8B, preallocated-temp:\n"
    "\n\nAllocations sorted by size with their values:\n"
    "allocation 0: size 8B, preallocated-temp:\n\n" +
    kTab +
    "\t       4B( 50%);         4B;            4;                2; u32[], f32[]\n"
    "\t       8B(100%);         4B;            0;                3; 2×u32[], f32[]\n\n";
constexpr std::string_view kUnorderedAssignment =
    "BufferAssignment:\nallocation 0: size 8, preallocated-temp:\n"
    " value: <0 a @0> (size=4,offset=0): f32[]\n"
    " value: <1 b @0> (size=4,offset=4): f32[]\n"
    " value: <2 c @0> (size=4,offset=0): u32[]\n"
    " value: <3 d @0> (size=4,offset=0): u32[]\n"
    " value: <4 e @0> (size=4,offset=4): u32[]\n";

TEST(WriteUsage, KeepsTheOrderOfTies) {
  const Report report = MustRead({kUnorderedAssignment, kUnordered});
  EXPECT_EQ(report.usage->kind, UsageReport::kHashOrder);
  EXPECT_EQ(FindUsageOrder(report), UsageReport::kHashOrder);
  EXPECT_EQ(WriteUsage(report, report.dialect), kUnordered);
  EXPECT_NE(Written(report, UsageReport::kSorted), kUnordered);
}

TEST(WriteUsage, TheOrderOfTiesIsFound) {
  EXPECT_EQ(MustRead({kUnorderedAssignment, kUnordered}).dialect.usage, UsageReport::kHashOrder);
  const std::string sorted = Written(MustRead({kUnorderedAssignment}), UsageReport::kSorted);
  EXPECT_EQ(MustRead({kUnorderedAssignment, sorted}).dialect.usage, UsageReport::kSorted);
  // By itself, a file does not tell.
  EXPECT_EQ(MustRead({sorted}).dialect.usage, UsageReport::kHashOrder);
}

TEST(WriteUsage, FiguresAreComputed) {
  std::string wrong = kUnordered;
  wrong.replace(wrong.find("50%"), 3, "99%");
  const Report report = MustRead({kUnorderedAssignment, wrong});
  EXPECT_EQ(WriteUsage(report, report.dialect), kUnordered);
}

TEST(ReadUsage, RowsAndShapes) {
  const Report report = MustRead({kUnordered});
  EXPECT_EQ(WriteUsage(report, report.dialect), kUnordered);
  ASSERT_EQ(report.usage->tables.size(), 1U);
  const UsageTable& table = report.usage->tables[0];
  EXPECT_EQ(table.allocation, 0);
  EXPECT_EQ(table.head, "allocation 0: size 8B, preallocated-temp:");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].offset, 4);
  EXPECT_EQ(table.rows[1].value_count, 3);
  EXPECT_EQ(table.rows[1].size, "4B");
  ASSERT_EQ(table.rows[1].shapes.size(), 2U);
  EXPECT_EQ(table.rows[1].shapes[0].count, 2);
  EXPECT_EQ(table.rows[1].shapes[0].shape, "u32[]");
}

TEST(ReadUsage, TuplesAreOneShape) {
  std::string text = Written(Example(), UsageReport::kSpaces);
  const Report report = MustRead({text});
  const std::vector<UsageTable>& tables = report.usage->tables;
  ASSERT_EQ(tables.size(), 3U);
  EXPECT_EQ(tables[2].color, 0);
  ASSERT_EQ(tables[2].rows[0].shapes.size(), 1U);
  EXPECT_EQ(tables[2].rows[0].shapes[0].shape, "(f32[4], f32[])");
  EXPECT_EQ(tables[0].rows[0].shapes.size(), 2U);
}

TEST(ReadUsage, NoLineIsLost) {
  const std::string text = Written(Example(), UsageReport::kSpaces);
  std::string changed = text;
  changed.insert(changed.find("        20B"), "  something else\n");
  EXPECT_EQ(Errors({changed}),
            "6:3: expected `sum(share%); size; offset; number of values; shapes`\n");
  changed = text;
  changed.insert(changed.find("Total"), "Note: hello\n");
  EXPECT_TRUE(Errors({changed}).starts_with("2:1: expected `Total bytes: N (size)`\n"))
      << Errors({changed});
  changed = kUnordered;
  changed += "more\n";
  EXPECT_EQ(Errors({changed}), "18:1: expected `allocation N: ...`\n");
}

TEST(ReadUsage, SaysWhereAFileIsCutOff) {
  const std::string spaces = Written(Example(), UsageReport::kSpaces);
  for (size_t size = spaces.find('\n') + 1; size < spaces.size(); ++size) {
    EXPECT_NE(Errors({spaces.substr(0, size)}), "") << spaces.substr(0, size);
  }
  const std::string head = "with their values:\nallocation 0: size 8B, preallocated-temp:\n";
  for (size_t size = kUnordered.find('\n') + 1; size < kUnordered.size(); ++size) {
    // An allocation of one value has no table.
    if (kUnordered.substr(0, size).ends_with(head)) continue;
    EXPECT_NE(Errors({kUnordered.substr(0, size)}), "") << kUnordered.substr(0, size);
  }
  EXPECT_EQ(Errors({spaces.substr(0, spaces.size() - 1)}),
            "16:1: the file ends here; expected an empty line (3 tables read before)\n");
}

TEST(UsageProto, DamageHasAPlace) {
  const std::string bytes("\x0a\x04\x08\x10\x1a\x05", 6);
  const auto source = Source::FromBytes("usage.pb", bytes);
  const Result<UsageProto> usage = ParseUsageProto(*source);
  ASSERT_FALSE(usage.has_value());
  EXPECT_EQ(usage.error()[0].path, "memory_space_allocation_entries[0].allocation_entries[0]");
  EXPECT_EQ(usage.error()[0].offset, 5U);
  EXPECT_FALSE(LooksLikeUsageProto(*source));
}

}  // namespace
}  // namespace stowplan::report::test
