// SPDX-License-Identifier: Apache-2.0
// Every allocation of the corpus as an instance for packers: XLA's own offsets must be a valid plan
// of it.
#include "report/minimalloc.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "corpus/recorded.h"
#include "corpus/report_files.h"
#include "report/from_proto.h"
#include "stowplan/session.h"
#include "unit/report/packing_check.h"

namespace stowplan::report {
namespace {

struct Count {
  int64_t valid = 0;
  int64_t instances = 0;
  int64_t values = 0;
  int64_t rows = 0;
  int64_t rows_with_gaps = 0;
};

// Each value's bytes belong to a row, all its life.
bool HoldsAllValues(const Report& report, const Allocation& allocation,
                    const std::vector<test::CheckedRow>& rows, Count& count) {
  for (const ValueId id : allocation.values) {
    const Value& value = report.values[id];
    if (!value.has_range || value.size == 0) continue;
    ++count.values;
    const bool is_held = std::ranges::any_of(rows, [&](const test::CheckedRow& row) {
      if (value.start < row.lower || value.end >= row.upper || value.offset < row.offset ||
          value.offset + value.size > row.offset + row.size) {
        return false;
      }
      for (int64_t time = value.start; time <= value.end; ++time) {
        const auto [begin, end] = row.BytesAt(time);
        if (begin > value.offset || end < value.offset + value.size) return false;
      }
      return true;
    });
    if (!is_held) return false;
  }
  return true;
}

void Check(const Report& report, const std::vector<SharedBuffer>& shared, const std::string& file,
           Count& count) {
  for (size_t i = 0; i < report.allocations.size(); ++i) {
    const Allocation& allocation = report.allocations[AllocationId(i)];
    const PackingInstance instance = BuildPackingInstance(report, AllocationId(i), shared);
    if (instance.rows.empty()) continue;
    ++count.instances;
    const std::vector<test::CheckedRow> rows =
        test::ReadPackingCsv(WriteMinimalloc(instance, PackingOffsets::kWrite));
    count.rows += static_cast<int64_t>(rows.size());
    for (const test::CheckedRow& row : rows) {
      if (!row.gaps.empty()) ++count.rows_with_gaps;
    }
    const auto overlaps = test::FindOverlaps(rows);
    const bool is_valid = overlaps.empty() && instance.capacity <= allocation.size &&
                          HoldsAllValues(report, allocation, rows, count);
    if (is_valid) {
      ++count.valid;
    } else {
      ADD_FAILURE() << file << ": allocation " << allocation.number << ", overlaps "
                    << overlaps.size() << ", capacity " << instance.capacity << " of "
                    << allocation.size;
    }
  }
}

// instances, values, rows, rows with gaps
CountRows RowsOf(const std::map<std::string, Count>& counts) {
  CountRows rows;
  for (const auto& [archive, count] : counts) {
    EXPECT_EQ(count.valid, count.instances) << archive;
    rows[archive] = {count.instances, count.values, count.rows, count.rows_with_gaps};
  }
  return rows;
}

TEST(CorpusMinimalloc, XlasOffsetsAreAPlan) {
  std::map<std::string, Count> counts;
  for (const std::string& file : CorpusFiles(kAssignmentEnding)) {
    const Result<Report> report = ReadAllOf(file);
    ASSERT_TRUE(report.has_value()) << Render(report.error());
    Check(*report, {}, file, counts[ArchiveOf(file)]);
  }
  ExpectRows(RowsOf(counts), {
                                 {"cpu", {1325, 7745, 6576, 0}},
                                 {"cpu11", {1328, 7120, 5879, 0}},
                                 {"dialects", {1628, 3421, 2452, 0}},
                                 {"gpu", {1196, 5501, 4626, 0}},
                                 {"scale", {3389, 16524, 15207, 0}},
                                 {"tpu", {1502, 16042, 13280, 425}},
                             });
}

// With the buffers that the proto tells of: separate lives become gaps.
TEST(CorpusMinimalloc, XlasOffsetsAreAPlanForWholeBuffers) {
  std::map<std::string, Count> counts;
  for (const std::string& file : CorpusProtos()) {
    const Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value()) << Render(module.error());
    const auto shared = SharedBuffersFromModule(*module);
    ASSERT_TRUE(shared.has_value()) << Render(shared.error());
    const Result<Report> report = ReadAllOf(Sibling(file, ".hlo.pb", kAssignmentEnding));
    ASSERT_TRUE(report.has_value()) << Render(report.error());
    Check(*report, *shared, file, counts[ArchiveOf(file)]);
  }
  ExpectRows(RowsOf(counts), {
                                 {"cpu", {1325, 7745, 6101, 464}},
                                 {"cpu11", {1328, 7120, 5405, 463}},
                                 {"gpu", {1196, 5501, 4212, 405}},
                                 {"scale", {3389, 16524, 13519, 1688}},
                                 {"tpu", {1502, 16042, 12933, 753}},
                             });
}

}  // namespace
}  // namespace stowplan::report
