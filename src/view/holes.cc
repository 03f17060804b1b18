// SPDX-License-Identifier: Apache-2.0
#include "view/holes.h"

#include <algorithm>
#include <span>

#include "base/radix_sort.h"

namespace stowplan::view {
namespace {

using report::AllocationId;
using report::ValueId;

// The free ranges between values of one allocation; `values` by offset.
class HoleFinder {
 public:
  HoleFinder(const report::Report& report, int64_t time, int64_t alignment)
      : report_(report), time_(time), alignment_(alignment) {}

  void Look(AllocationId id, std::span<const ValueId> values, std::vector<Hole>& holes) {
    Hole hole = {.allocation = id};
    reach_ = 0;
    size_t next = 0;  // that begins behind the holes so far
    const auto add = [&] {
      for (; next < values.size() && report_.values[values[next]].offset < hole.end; ++next) {
        const report::Value& row = report_.values[values[next]];
        reach_ = std::max(reach_, row.offset + row.size);
      }
      Add(hole, holes);
    };
    for (const ValueId value : values) {
      const report::Value& row = report_.values[value];
      if (row.has_range && (row.start > time_ || row.end < time_)) continue;
      if (row.offset > hole.begin) {
        hole.end = row.offset;
        hole.above = value;
        add();
      }
      if (row.offset + row.size > hole.begin || hole.below.is_none()) {
        hole.begin = std::max(hole.begin, row.offset + row.size);
        hole.below = value;
      }
    }
    hole.end = report_.allocations[id].size;
    hole.above = {};
    if (hole.begin < hole.end) add();
  }

 private:
  void Add(Hole hole, std::vector<Hole>& holes) const {
    const bool is_small = hole.end - hole.begin < alignment_ && hole.end % alignment_ == 0;
    hole.kind = is_small              ? HoleKind::kAlignment
                : hole.begin < reach_ ? HoleKind::kDead
                                      : HoleKind::kFragmentation;
    holes.push_back(hole);
  }

  const report::Report& report_;
  int64_t time_;
  int64_t alignment_;
  int64_t reach_ = 0;  // where the last of the values ends that begin before the hole ends
};

}  // namespace

std::vector<Hole> FindHoles(const explain::Picture& picture, int64_t color, int64_t time) {
  const report::Report& report = *picture.report;
  std::vector<Hole> holes;
  const explain::Space* const space = picture.FindSpace(color);
  if (space == nullptr) return holes;
  // By allocation, and there by offset.
  std::vector<ValueId> values = space->values;
  RadixSort(values, [&](ValueId value) { return RadixKey(report.values[value].offset); });
  const auto allocation_of = [&](ValueId value) {
    return uint64_t{report.values[value].allocation.index};
  };
  RadixSort(values, allocation_of);
  HoleFinder finder(report, time, space->alignment);
  size_t begin = 0;
  for (const AllocationId id : space->allocations) {
    size_t end = begin;
    while (end < values.size() && allocation_of(values[end]) == id.index) ++end;
    if (!report.allocations[id].is_thread_local)
      finder.Look(id, std::span(values).subspan(begin, end - begin), holes);
    begin = end;
  }
  return holes;
}

}  // namespace stowplan::view
