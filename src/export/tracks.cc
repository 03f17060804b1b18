// SPDX-License-Identifier: Apache-2.0
#include "export/tracks.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

#include "base/stable_sort.h"

namespace stowplan::exporting {
namespace {

// First come, first served: each span takes the lowest lane that is free.
void ChooseLanes(AllocationSpans& spans) {
  using Busy = std::pair<int64_t, uint32_t>;  // free from here on, lane
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> free;
  for (ValueSpan& span : spans.spans) {
    while (!busy.empty() && busy.top().first <= span.start) {
      free.push(busy.top().second);
      busy.pop();
    }
    if (free.empty()) free.push(spans.lanes++);
    span.lane = free.top();
    free.pop();
    busy.emplace(span.start + span.length, span.lane);
  }
}

}  // namespace

std::vector<AllocationSpans> FindSpans(const report::Report& report,
                                       const std::vector<report::ValueId>& values) {
  std::vector<AllocationSpans> all(report.allocations.size());
  const int64_t last = report.live_ranges->end;
  for (const report::ValueId id : values) {
    const report::Value& value = report.values[id];
    // Ranges come from the input: no length may overflow.
    const int64_t start = std::max<int64_t>(value.start, 0);
    const int64_t end = std::min({value.end, last, INT64_MAX - 1});
    if (start > end) continue;
    all[value.allocation.index].spans.push_back(
        {.value = id, .start = start, .length = end - start + 1});
  }
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].allocation = report::AllocationId(i);
    std::ranges::sort(all[i].spans, {}, [&](const ValueSpan& span) {
      return std::tuple(span.start, report.values[span.value].offset, span.value.index);
    });
    ChooseLanes(all[i]);
  }
  std::erase_if(all, [](const AllocationSpans& spans) { return spans.spans.empty(); });
  StableSort(all, std::greater(), [&](const AllocationSpans& spans) {
    return report.allocations[spans.allocation].size;
  });
  return all;
}

std::vector<ComputationSpan> FindComputations(const explain::Picture& picture) {
  if (picture.module == nullptr) return {};
  const hlo::Module& module = *picture.module;
  std::vector<ComputationSpan> spans(module.computations.size());
  for (const explain::Op& op : picture.ops.rows()) {
    if (op.instruction.is_none() || op.time < 0) continue;
    const hlo::CompId parent = module.instructions[op.instruction].parent;
    ComputationSpan& span = spans[parent.index];
    if (span.length == 0) span = {.name = module.name(parent), .start = op.time, .length = 1};
    const int64_t end = std::max(span.start + span.length, op.time + 1);
    span.start = std::min(span.start, op.time);
    span.length = end - span.start;
  }
  std::erase_if(spans, [](const ComputationSpan& span) { return span.length == 0; });
  StableSort(spans, {},
             [](const ComputationSpan& span) { return std::pair(span.start, -span.length); });
  std::vector<ComputationSpan> nested;
  std::vector<int64_t> ends;  // of the spans around
  for (const ComputationSpan& span : spans) {
    const int64_t end = span.start + span.length;
    while (!ends.empty() && ends.back() <= span.start) ends.pop_back();
    if (!ends.empty() && ends.back() < end) continue;
    ends.push_back(end);
    nested.push_back(span);
  }
  return nested;
}

}  // namespace stowplan::exporting
