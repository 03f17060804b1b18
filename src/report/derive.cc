// SPDX-License-Identifier: Apache-2.0
#include "report/derive.h"

#include <algorithm>
#include <unordered_map>

#include "base/checked_math.h"
#include "report/shapes.h"

namespace stowplan::report {

std::string GroupedNumber(int64_t n) {
  const std::string digits = std::to_string(n);
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0 && digits[i - 1] != '-') out += ' ';
    out += digits[i];
  }
  return out;
}

std::vector<uint8_t> FindGuests(const Report& report) {
  std::vector<uint8_t> is_guest(report.values.size(), 0);
  for (size_t a = 0; a < report.allocations.size(); ++a) {
    const AllocationId id(a);
    for (const ValueId value : report.allocations[id].other_colors)
      is_guest[value.index] = report.values[value].allocation == id ? 1 : 0;
  }
  return is_guest;
}

int64_t TotalBytes(const Report& report) {
  int64_t total = 0;
  for (const Allocation& allocation : report.allocations.rows()) {
    total = SaturatingAdd(total, allocation.size);
  }
  return total;
}

namespace {

// Whether it is an instruction of this shape: `%x = f32[2]{0} add(...)`.
bool HasShape(std::string_view instruction, std::string_view shape) {
  const size_t equals = instruction.find(" = ");
  if (equals == std::string_view::npos) return false;
  instruction.remove_prefix(equals + 3);
  return instruction.starts_with(shape) && instruction.substr(shape.size()).starts_with(' ');
}

}  // namespace

PlainSizes ComputePlainSizes(const Report& report) {
  PlainSizes sizes;
  sizes.value.resize(report.values.size());
  sizes.instruction.resize(report.values.size());
  ShapeTexts shapes;
  // The shape of a tuple instruction stands at its value {} too; some dialects have no instruction
  // texts.
  std::unordered_map<std::string_view, std::string_view> whole;
  const bool has_parts = std::ranges::any_of(report.values.rows(), [](const Value& value) {
    return value.instruction_text.empty() &&
           (value.index.numbers.count != 0 || value.shape.empty());
  });
  if (has_parts) {
    for (const Value& value : report.values.rows()) {
      if (!value.shape.empty() && value.index.numbers.count == 0)
        whole.emplace(value.instruction, value.shape);
    }
  }
  for (size_t i = 0; i < report.values.size(); ++i) {
    const Value& value = report.values[ValueId(i)];
    // As a rule the instruction makes just this value.
    if (value.index.numbers.count == 0 && !value.shape.empty() &&
        (value.instruction_text.empty() || HasShape(value.instruction_text, value.shape))) {
      if (const std::optional<hlo::ShapeId> shape = shapes.Parse(value.shape))
        sizes.value[i] = sizes.instruction[i] = shapes.PlainBytes(*shape);
      continue;
    }
    std::optional<hlo::ShapeId> instruction;
    if (!value.instruction_text.empty()) {
      instruction = shapes.OfInstruction(value.instruction_text);
    } else if (const auto row = whole.find(value.instruction); row != whole.end()) {
      instruction = shapes.Parse(row->second);
    }
    std::optional<hlo::ShapeId> own;
    if (!value.shape.empty()) {
      own = shapes.Parse(value.shape);
    } else if (instruction) {
      own = shapes.Part(*instruction, report.numbers(value.index));
    }
    if (instruction) sizes.instruction[i] = shapes.PlainBytes(*instruction);
    if (own) sizes.value[i] = shapes.PlainBytes(*own);
  }
  return sizes;
}

namespace {

// The moment XLA calls the peak: events in order of time, additions before removals; the first time
// the sum exceeds all sums before.
std::optional<int64_t> PeakTime(const Report& report, const PlainSizes& sizes) {
  struct Event {
    int64_t time;
    bool is_removal;
    int64_t bytes;
  };
  std::vector<Event> events;
  for (const ValueId id : report.live_ranges->values) {
    const Value& value = report.values[id];
    const std::optional<int64_t> bytes = sizes.instruction[id.index];
    if (!bytes || value.end == INT64_MAX) return std::nullopt;
    events.push_back({value.start, false, *bytes});
    events.push_back({value.end + 1, true, *bytes});
  }
  std::ranges::stable_sort(events, [](const Event& a, const Event& b) {
    return std::pair(a.time, a.is_removal) < std::pair(b.time, b.is_removal);
  });
  int64_t live = 0;
  int64_t most = 0;
  int64_t peak = 0;
  for (const Event& event : events) {
    if (__builtin_add_overflow(live, event.is_removal ? -event.bytes : event.bytes, &live))
      return std::nullopt;
    if (live <= most) continue;
    most = live;
    peak = event.time;
  }
  return peak;
}

}  // namespace

std::optional<XlaPeak> ComputeXlaPeak(const Report& report, const PlainSizes& sizes,
                                      PeakLine order) {
  if (!report.live_ranges) return std::nullopt;
  const std::optional<int64_t> time = PeakTime(report, sizes);
  if (!time) return std::nullopt;
  XlaPeak peak;
  peak.time = *time;
  for (const ValueId id : report.live_ranges->values) {
    const Value& value = report.values[id];
    if (value.start > peak.time || value.end < peak.time) continue;
    const std::optional<int64_t> bytes =
        order == PeakLine::kName ? sizes.instruction[id.index] : sizes.value[id.index];
    if (!bytes) return std::nullopt;
    peak.rows.push_back({value.instruction, value.index, *bytes});
  }
  if (order == PeakLine::kCumulative) {
    std::ranges::stable_sort(peak.rows, [&](const PeakRow& a, const PeakRow& b) {
      if (a.bytes != b.bytes) return a.bytes > b.bytes;
      if (a.instruction != b.instruction) return a.instruction < b.instruction;
      return std::ranges::lexicographical_compare(report.numbers(a.index), report.numbers(b.index));
    });
  }
  return peak;
}

}  // namespace stowplan::report
