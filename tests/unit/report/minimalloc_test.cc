// SPDX-License-Identifier: Apache-2.0
#include "report/minimalloc.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "unit/report/example_report.h"
#include "unit/report/packing_check.h"

namespace stowplan::report::test {
namespace {

struct Box {
  int64_t start;
  int64_t end;  // inclusive, as XLA prints it
  int64_t offset;
  int64_t size;
};

// One allocation with values 0, 1, ... in these places.
Report ReportOf(const std::vector<Box>& boxes) {
  Report report;
  report.has_assignment = true;
  Allocation allocation;
  for (const Box& box : boxes) {
    Value value;
    value.number = static_cast<int64_t>(report.values.size());
    value.instruction = "v";
    value.allocation = AllocationId(0);
    value.size = box.size;
    value.offset = box.offset;
    value.has_range = true;
    value.start = box.start;
    value.end = box.end;
    allocation.size = std::max(allocation.size, box.offset + box.size);
    allocation.values.push_back(report.values.Add(value));
  }
  report.allocations.Add(std::move(allocation));
  return report;
}

std::string Csv(const std::vector<Box>& boxes, const std::vector<SharedBuffer>& shared = {}) {
  return WriteMinimalloc(BuildPackingInstance(ReportOf(boxes), AllocationId(0), shared),
                         PackingOffsets::kWrite);
}

TEST(Minimalloc, EndsBecomeExclusive) {
  EXPECT_EQ(Csv({{0, 3, 0, 4}, {2, 2, 4, 8}}),
            "id,lower,upper,size,offset\n0,0,4,4,0\n1,2,3,8,4\n");
  EXPECT_EQ(WriteMinimalloc(BuildPackingInstance(ReportOf({{0, 3, 0, 4}}), AllocationId(0)),
                            PackingOffsets::kLeaveOut),
            "id,lower,upper,size\n0,0,4,4\n");
}

// b begins in the step in which a ends, in the same place; c begins one later, which is no
// hand-over.
TEST(Minimalloc, HandOverIsOneRow) {
  EXPECT_EQ(Csv({{0, 2, 0, 4}, {2, 5, 0, 4}}), "id,lower,upper,size,offset\n0,0,6,4,0\n");
  EXPECT_EQ(Csv({{0, 2, 0, 4}, {3, 5, 0, 4}}),
            "id,lower,upper,size,offset\n0,0,3,4,0\n1,3,6,4,0\n");
}

// The picture in minimalloc.h.
TEST(Minimalloc, SlicesThatBecomeAWhole) {
  EXPECT_EQ(Csv({{0, 2, 0, 1}, {1, 2, 1, 1}, {2, 4, 0, 2}}),
            "id,lower,upper,size,gaps,offset\n0,0,5,2,0-1@0:1,0\n");
}

//   2 |   b b
//   1 | a a a,c
//   0 | a a a,c d     c takes the place of a; d is a stranger below
TEST(Minimalloc, OnlyWhatMeetsIsJoined) {
  EXPECT_EQ(Csv({{0, 2, 0, 2}, {1, 2, 2, 1}, {2, 2, 1, 1}, {3, 3, 0, 1}}),
            "id,lower,upper,size,offset\n0,0,3,2,0\n1,1,3,1,2\n3,3,4,1,0\n");
}

TEST(Minimalloc, SeparateLivesOfOneBufferAreGaps) {
  // Value 7 is of another allocation.
  EXPECT_EQ(Csv({{0, 2, 0, 4}, {5, 6, 0, 4}, {3, 3, 2, 2}}, {{0, 1}, {0, 7}}),
            "id,lower,upper,size,gaps,offset\n0,0,7,4,3-5,0\n2,3,4,2,,2\n");
}

TEST(Minimalloc, WhatHasNoTimeOrBytesIsLeftOut) {
  Report report =
      ReportOf({{0, 3, 0, 4}, {1, 1, 0, 0}, {0, 3, 4, 4}, {5, 4, 8, 1}, {0, INT64_MAX, 8, 1}});
  report.values[ValueId(2)].has_range = false;
  const PackingInstance instance = BuildPackingInstance(report, AllocationId(0));
  EXPECT_EQ(instance.rows.size(), 1U);
  EXPECT_EQ(instance.values_left_out, 3);
  EXPECT_EQ(instance.capacity, 4);
}

TEST(Minimalloc, OfAReport) {
  const Report report = Example();
  EXPECT_EQ(WriteMinimalloc(BuildPackingInstance(report, AllocationId(2)), PackingOffsets::kWrite),
            "id,lower,upper,size,offset\n3,1,6,4,32\n1,2,6,16,0\n");
}

// Any values, in any places: two share a row if and only if there is a chain of values that meet,
// and each value's bytes belong to its row all its life.
RC_GTEST_PROP(Minimalloc, RowsAreWhatMeets, ()) {
  const auto count = *rc::gen::inRange(0, 12);
  std::vector<Box> boxes;
  for (int i = 0; i < count; ++i) {
    const auto start = *rc::gen::inRange<int64_t>(0, 8);
    boxes.push_back({start, start + *rc::gen::inRange<int64_t>(0, 4),
                     *rc::gen::inRange<int64_t>(0, 8), *rc::gen::inRange<int64_t>(1, 4)});
  }
  const std::string csv = Csv(boxes);
  const std::vector<CheckedRow> rows = ReadPackingCsv(csv);
  // The slow way.
  std::vector<size_t> group(boxes.size());
  for (size_t i = 0; i < boxes.size(); ++i) group[i] = i;
  for (size_t round = 0; round < boxes.size(); ++round) {
    for (size_t i = 0; i < boxes.size(); ++i) {
      for (size_t j = 0; j < boxes.size(); ++j) {
        const Box& a = boxes[i];
        const Box& b = boxes[j];
        const bool meets = a.start <= b.end && b.start <= a.end && a.offset < b.offset + b.size &&
                           b.offset < a.offset + a.size;
        if (meets) group[i] = group[j] = std::min(group[i], group[j]);
      }
    }
  }
  RC_ASSERT(rows.size() == std::set<size_t>(group.begin(), group.end()).size());
  for (const Box& box : boxes) {
    const auto holds = [&](const CheckedRow& row) {
      for (int64_t t = box.start; t <= box.end; ++t) {
        const auto [begin, end] = row.BytesAt(t);
        if (begin > box.offset || end < box.offset + box.size) return false;
      }
      return true;
    };
    RC_ASSERT(std::ranges::any_of(rows, holds));
  }
}

}  // namespace
}  // namespace stowplan::report::test
