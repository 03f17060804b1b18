// SPDX-License-Identifier: Apache-2.0
#include "report/check.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "base/line_counter.h"
#include "report/derive.h"
#include "report/lines.h"
#include "report/read.h"

namespace stowplan::report {
namespace {

// Goes through the lines of a file that was read without an error, so each is the next of its kind.
class Checker {
 public:
  Checker(const Report& report, const Source& source)
      : report_(report),
        lines_(source),
        source_(source),
        counter_(source.bytes()),
        is_guest_(FindGuests(report)) {}

  Diagnostics Run() && {
    const Parts parts = PartsIn(report_, source_);
    if (parts.assignment) CheckAssignment();
    if (parts.live_ranges) CheckRanges(*report_.live_ranges);
    return std::move(findings_);
  }

 private:
  // Up to the empty line that ends the assignment.
  void CheckAssignment() {
    size_t allocations = 0;
    size_t values = 0;
    for (lines_.Next(); !lines_.at_end() && !lines_.line().empty(); lines_.Next()) {
      if (lines_.line().starts_with("allocation ") && allocations < report_.allocations.size()) {
        CheckAllocation(allocations++);
        values = 0;
      } else if (lines_.line().starts_with(" value: ") && allocations > 0) {
        const Allocation& allocation = report_.allocations[AllocationId(allocations - 1)];
        if (values < allocation.values.size()) CheckPlace(allocation, allocation.values[values++]);
      }
    }
  }

  static int64_t EndOf(const Value& value) { return SaturatingAdd(value.offset, value.size); }

  void CheckAllocation(size_t row) {
    const Allocation& allocation = report_.allocations[AllocationId(row)];
    if (allocation.number != static_cast<int64_t>(row)) {
      Add("allocations are numbered from 0; this is number " + std::to_string(row));
    }
    if (allocation.is_temp() || allocation.values.empty()) return;
    int64_t end = 0;
    for (const ValueId id : allocation.values) end = std::max(end, EndOf(report_.values[id]));
    if (end < allocation.size) {
      Add("its values end at " + std::to_string(end) + ", " +
          std::to_string(allocation.size - end) + " bytes before the allocation does");
    }
  }

  void CheckPlace(const Allocation& allocation, ValueId id) {
    const Value& value = report_.values[id];
    if (EndOf(value) > allocation.size) {
      Add("this value ends at " + std::to_string(EndOf(value)) + ", beyond the " +
          std::to_string(allocation.size) + " bytes of its allocation");
    }
    if (value.color >= 0 && value.color != allocation.color && is_guest_[id.index] == 0) {
      Add("this value has color " + std::to_string(value.color) + ", but its allocation has " +
          std::to_string(allocation.color));
    }
    const bool may_lack_range = allocation.is_thread_local || allocation.is_constant ||
                                !report_.live_ranges || report_.live_ranges->is_unavailable;
    if (!value.has_range && !may_lack_range) Add("this value has no live range");
  }

  void CheckRanges(const LiveRanges& ranges) {
    const auto end = static_cast<int64_t>(ranges.sequence.size());
    while (!lines_.at_end() && lines_.line() != "  BufferLiveRange:") lines_.Next();
    for (const ValueId id : ranges.values) {
      lines_.Next();
      if (lines_.at_end()) return;
      const Value& value = report_.values[id];
      if (value.start > value.end) {
        Add("this live range ends before it begins");
      } else if (value.start < 0 || value.end > end) {
        Add("this live range is not within the schedule, 0-" + std::to_string(end));
      }
      if (report_.has_assignment && value.allocation.is_none()) {
        Add("this value is in no allocation");
      }
    }
  }

  // At the current line.
  void Add(std::string message) {
    Diagnostic finding;
    finding.severity = Severity::kWarning;
    finding.file = source_.name();
    finding.message = std::move(message);
    counter_.Locate(static_cast<size_t>(lines_.line().data() - source_.begin()),
                    lines_.line().size(), finding);
    findings_.push_back(std::move(finding));
  }

  const Report& report_;
  Lines lines_;
  const Source& source_;
  LineCounter counter_;
  std::vector<uint8_t> is_guest_;  // by value
  Diagnostics findings_;
};

}  // namespace

Diagnostics FindContradictions(const Report& report, const Source& source) {
  return Checker(report, source).Run();
}

}  // namespace stowplan::report
