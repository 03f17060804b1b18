// SPDX-License-Identifier: Apache-2.0
#include "view/holes.h"

#include <algorithm>

#include "stowplan/explain/footprint.h"

namespace stowplan::view {
namespace {

using report::AllocationId;
using report::ValueId;

// The free ranges between values of one allocation; `values` by offset.
class HoleFinder {
 public:
  HoleFinder(const report::Report& report, int64_t time, int64_t alignment)
      : report_(report), time_(time), alignment_(alignment) {}

  void Look(AllocationId id, const std::vector<ValueId>& values, std::vector<Hole>& holes) const {
    Hole hole = {.allocation = id};
    for (const ValueId value : values) {
      const report::Value& row = report_.values[value];
      if (row.has_range && (row.start > time_ || row.end < time_)) continue;
      if (row.offset > hole.begin) {
        hole.end = row.offset;
        hole.above = value;
        Add(hole, values, holes);
      }
      if (row.offset + row.size > hole.begin || hole.below.is_none()) {
        hole.begin = std::max(hole.begin, row.offset + row.size);
        hole.below = value;
      }
    }
    hole.end = report_.allocations[id].size;
    hole.above = {};
    if (hole.begin < hole.end) Add(hole, values, holes);
  }

 private:
  void Add(Hole hole, const std::vector<ValueId>& values, std::vector<Hole>& holes) const {
    const bool is_used = std::ranges::any_of(values, [&](ValueId value) {
      const report::Value& row = report_.values[value];
      return row.offset < hole.end && hole.begin < row.offset + row.size;
    });
    const bool is_small = hole.end - hole.begin < alignment_ && hole.end % alignment_ == 0;
    hole.kind = is_small  ? HoleKind::kAlignment
                : is_used ? HoleKind::kDead
                          : HoleKind::kFragmentation;
    holes.push_back(hole);
  }

  const report::Report& report_;
  int64_t time_;
  int64_t alignment_;
};

}  // namespace

std::vector<Hole> FindHoles(const explain::Picture& picture, int64_t color, int64_t time) {
  const report::Report& report = *picture.report;
  std::vector<std::vector<ValueId>> values(report.allocations.size());
  for (uint32_t v = 0; v < report.values.size(); ++v) {
    const AllocationId allocation = report.values[ValueId(v)].allocation;
    if (!allocation.is_none()) values[allocation.index].push_back(ValueId(v));
  }
  const HoleFinder finder(report, time, explain::AlignmentOf(report, color));
  std::vector<Hole> holes;
  for (uint32_t a = 0; a < values.size(); ++a) {
    const report::Allocation& allocation = report.allocations[AllocationId(a)];
    if (allocation.color != color || allocation.is_thread_local) continue;
    std::ranges::stable_sort(values[a], {}, [&](ValueId v) { return report.values[v].offset; });
    finder.Look(AllocationId(a), values[a], holes);
  }
  return holes;
}

}  // namespace stowplan::view
