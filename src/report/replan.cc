// SPDX-License-Identifier: Apache-2.0
#include "report/replan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "assign/contexts.h"
#include "base/checked_math.h"
#include "report/derive.h"
#include "report/replanner.h"
#include "report/summary.h"
#include "report/write.h"
#include "target/size.h"

namespace stowplan::report {
namespace {

// The first line of `a` that is not that of `b`.
std::string_view FirstDifference(std::string_view a, std::string_view b) {
  const auto at = static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  const size_t begin = at == 0 ? 0 : a.rfind('\n', at - 1) + 1;
  return a.substr(begin, a.find('\n', begin) - begin);
}

}  // namespace

Result<Replan> Replanner::Run() && {
  const std::string before = Write();
  FindContexts();
  // Each step relies on what those before it have refused.
  for (const auto step : {&Replanner::CheckRanges, &Replanner::DeriveSizes, &Replanner::CheckPlaces,
                          &Replanner::DeriveRanges, &Replanner::RebuildAllocations,
                          &Replanner::Rewrite, &Replanner::CheckOverlaps}) {
    if (std::optional<Diagnostics> errors = (this->*step)()) {
      return std::unexpected(*std::move(errors));
    }
  }
  CompareFigures();
  // Whatever else may differ: a report without differences is the same, byte for byte.
  if (const std::string after = Write(); result_.differences.empty() && after != before) {
    Differs(fmt::format("`{}` comes out, `{}` is in the report", FirstDifference(after, before),
                        FirstDifference(before, after)));
  }
  if (!result_.differences.empty()) NameMissing();
  return std::move(result_);
}

void Replanner::NameMissing() {
  std::map<int64_t, int> blocks;  // by color
  for (const Allocation& allocation : report().allocations.rows()) {
    if (allocation.is_temp()) ++blocks[allocation.color];
  }
  if (rules_.heap_limit == std::numeric_limits<int64_t>::max() &&
      std::ranges::any_of(blocks, [](const auto& row) { return row.second > 1; }))
    result_.missing.emplace_back("how large a heap may be");
  if (unknown_handovers_ != 0) {
    result_.missing.push_back(
        fmt::format("whether fusions and custom calls update operands in place, or take their "
                    "places over: {}",
                    unknown_handovers_));
  }
  if (!is_order_taken_) {
    result_.missing.emplace_back(
        "which computation calls which, by which equally large buffers are ordered");
  }
}

std::string Replanner::Write() const { return WriteCombined(report(), report().dialect); }

void Replanner::Differs(const std::string& message) {
  Diagnostic difference;
  difference.severity = Severity::kNote;
  difference.file = FileName();
  difference.message = message;
  result_.differences.push_back(std::move(difference));
}

std::string Replanner::FileName() const {
  return report().sources.empty() ? std::string() : report().sources[0]->name();
}

Diagnostics Replanner::Refuse(std::string message) const {
  return Fail(FileName(), std::move(message)).error();
}

std::string Replanner::ShortNameOf(const Value& value) {
  return fmt::format("{} ({})", value.number, value.instruction);
}

bool Replanner::IsPreset(const Allocation& allocation) const {
  return allocation.is_temp() && (allocation.color == rules_.preset_space ||
                                  (rules_.has_sparse_core && IsSparseCoreSpace(allocation.color)));
}

bool Replanner::IsContext(const Value& value) const {
  const std::span<const int64_t> index = report().numbers(value.index);
  return index.size() == 2 && index[0] == 2 && contexts_.contains(value.instruction);
}

void Replanner::FindContexts() {
  if (!rules_.has_sparse_core) return;
  for (const Value& value : report().values.rows()) {
    if (IsSparseCoreSpace(value.color) && report().numbers(value.index).size() == 2)
      contexts_.insert(value.instruction);
  }
}

std::optional<Diagnostics> Replanner::CheckRanges() {
  const auto end = static_cast<int64_t>(report().live_ranges->sequence.size());
  for (const Value& value : report().values.rows()) {
    if (value.has_range && (value.start < 0 || value.start > value.end || value.end > end)) {
      return Refuse(fmt::format("{} is alive {}-{}, which is not within 0-{}", NameOf(value),
                                value.start, value.end, end));
    }
    if (value.has_range || value.allocation.is_none()) continue;
    const Allocation& allocation = report().allocations[value.allocation];
    if (allocation.is_temp() && !IsPreset(allocation))
      return Refuse(fmt::format("{} is a temporary without a live range", NameOf(value)));
  }
  return std::nullopt;
}

std::optional<Diagnostics> Replanner::CheckSum() const {
  std::optional<int64_t> sum = 0;
  const auto add = [&](int64_t size, int64_t color) {
    if (sum) sum = CheckedAdd(*sum, 2 * rules_.AlignmentOf(color));
    if (sum) sum = CheckedAdd(*sum, size);
  };
  for (size_t v = 0; v < report().values.size(); ++v) {
    const AllocationId allocation = report().values[ValueId(v)].allocation;
    if (!allocation.is_none()) add(sizes_[v], report().allocations[allocation].color);
  }
  for (const Allocation& allocation : report().allocations.rows()) {
    if (IsPreset(allocation)) add(allocation.size, allocation.color);
  }
  if (sum) return std::nullopt;
  return Refuse("the sizes of all values together do not fit in 64 bits");
}

std::optional<Diagnostics> Replanner::CheckPlaces() {
  // Where there are guests, all places are taken from the report.
  std::set<int64_t> colors_with_guests;
  for (const Allocation& allocation : report().allocations.rows()) {
    if (!allocation.other_colors.empty()) colors_with_guests.insert(allocation.color);
  }
  for (const Allocation& allocation : report().allocations.rows()) {
    if (!allocation.is_temp() && allocation.values.empty())
      return Refuse(fmt::format("allocation {} has no values", allocation.number));
    if (!IsPreset(allocation) && !colors_with_guests.contains(allocation.color)) continue;
    for (const ValueId id : allocation.values) {
      const Value& value = report().values[id];
      if (sizes_[id.index] > allocation.size || value.offset > allocation.size - sizes_[id.index]) {
        return Refuse(
            fmt::format("{} lies outside allocation {}", NameOf(value), allocation.number));
      }
    }
  }
  return std::nullopt;
}

void Replanner::CompareSizes(Table<AllocationId, Allocation>& allocations) {
  std::map<int64_t, const Allocation*> olds;  // by number
  for (const Allocation& old : report().allocations.rows()) olds.emplace(old.number, &old);
  for (size_t a = 0; a < allocations.size(); ++a) {
    Allocation& made = allocations[AllocationId(a)];
    const auto row = olds.find(made.number);
    if (row == olds.end()) {
      Differs(fmt::format("there is an allocation {}, but not in the report", made.number));
      continue;
    }
    const Allocation& old = *row->second;
    if (made.size != old.size) {
      Differs(fmt::format("allocation {} takes {} bytes, {} by the report", made.number, made.size,
                          old.size));
    }
    if (made.is_temp() && old.is_temp() && made.color == old.color) {
      made.address = old.address;
      made.page = old.page;
      made.other_colors = old.other_colors;
    }
  }
  if (allocations.size() != report().allocations.size()) {
    Differs(fmt::format("there are {} allocations, {} by the report", allocations.size(),
                        report().allocations.size()));
  }
}

std::optional<Diagnostics> Replanner::CheckOverlaps() {
  Diagnostics found;
  for (const Allocation& allocation : report().allocations.rows()) {
    if (!allocation.is_thread_local && !IsPreset(allocation)) FindOverlaps(allocation, found);
  }
  if (found.empty()) return std::nullopt;
  if (found.size() > kMaxErrors) found.resize(kMaxErrors);
  return found;
}

void Replanner::FindOverlaps(const Allocation& allocation, Diagnostics& found) const {
  struct Event {
    int64_t time = 0;
    bool is_begin = false;  // at one time, ends come first
    ValueId value;
    auto operator<=>(const Event&) const = default;
  };
  std::vector<Event> events;
  for (const ValueId id : allocation.values) {
    const Value& value = report().values[id];
    // Programs of the SparseCore work in one memory, one after the other.
    if (!value.has_range || value.size == 0 || value.start == value.end || IsContext(value))
      continue;
    events.push_back({value.start, true, id});
    events.push_back({value.end, false, id});
  }
  std::ranges::sort(events);
  std::map<int64_t, ValueId> alive;  // by offset; they are apart
  for (const Event& event : events) {
    const Value& value = report().values[event.value];
    if (!event.is_begin) {
      const auto row = alive.find(value.offset);
      if (row != alive.end() && row->second == event.value) alive.erase(row);
      continue;
    }
    const auto next = alive.lower_bound(value.offset);
    ValueId other;
    if (next != alive.end() && next->first - value.offset < value.size) {
      other = next->second;
    } else if (next != alive.begin()) {
      const Value& before = report().values[std::prev(next)->second];
      if (value.offset - before.offset < before.size) other = std::prev(next)->second;
    }
    if (other.is_none()) {
      alive.emplace(value.offset, event.value);
      continue;
    }
    const std::string message = fmt::format(
        "the report's values {} and {} are alive at the same time, and share bytes of "
        "allocation {}",
        ShortNameOf(report().values[other]), ShortNameOf(value), allocation.number);
    found.push_back(std::move(Refuse(message)[0]));
  }
}

void Replanner::CompareFigures() {
  const int64_t total = TotalBytes(report());
  if (report().said_total && *report().said_total != total) {
    Differs(fmt::format("all allocations take {} bytes, {} by the report", total,
                        *report().said_total));
  }
  result_.derived.emplace_back("the total");
  const LiveRanges& live = *report().live_ranges;
  if (live.has_tree) result_.taken.emplace_back("the stack trace breakdown");
  if (live.is_unbounded || !live.peak_time) return;
  const std::optional<XlaPeak> peak =
      ComputeXlaPeak(report(), ComputePlainSizes(report()), report().dialect.peak_line);
  if (!peak) {
    result_.taken.emplace_back("the peak: not all shapes are known");
    return;
  }
  const auto sum = [](const std::vector<PeakRow>& rows) {
    int64_t bytes = 0;
    for (const PeakRow& row : rows) bytes = SaturatingAdd(bytes, row.bytes);
    return bytes;
  };
  if (peak->time != *live.peak_time || sum(peak->rows) != sum(live.peak)) {
    Differs(fmt::format("the peak is {} bytes at {}, by the report {} at {}", sum(peak->rows),
                        peak->time, sum(live.peak), *live.peak_time));
  }
  result_.derived.emplace_back("the peak");
}

namespace {

// Whether the sizes of a report are those of a target. Values in one place are given what the
// largest of them takes: none takes more, and one takes as much. A shape that has no known size
// says nothing.
bool FitsSizes(const Report& report, const Target& target, ShapeTexts& shapes) {
  struct Fit {
    bool is_exact = false;
    bool is_known = true;
  };
  std::map<std::tuple<AllocationId, int64_t, int64_t>, Fit> places;
  for (const Value& value : report.values.rows()) {
    if (value.allocation.is_none()) continue;
    Fit& fit = places[{value.allocation, value.offset, value.size}];
    const std::optional<hlo::ShapeId> shape = shapes.Parse(value.shape);
    const ByteCount size = shape ? ByteSize(shapes.table(), *shape, target)
                                 : ByteCount(std::unexpected(SizeError::kMalformed));
    if (size && *size > value.size) return false;
    fit.is_known = fit.is_known && size.has_value();
    fit.is_exact = fit.is_exact || (size && *size == value.size);
  }
  return std::ranges::all_of(
      places, [](const auto& row) { return row.second.is_exact || !row.second.is_known; });
}

int64_t BytesOfSpace0(const Report& report) {
  int64_t sum = 0;
  for (const Allocation& allocation : report.allocations.rows()) {
    if (allocation.color == 0) sum = SaturatingAdd(sum, allocation.size);
  }
  return sum;
}

}  // namespace

std::optional<Target> FindReportTarget(const Report& report) {
  ShapeTexts shapes;
  const Backend backend = GuessBackend(report);
  // Fast memory whose places were chosen beforehand shows as a block of its own.
  const auto has_block = [&](int64_t space) {
    return std::ranges::any_of(report.allocations.rows(), [&](const Allocation& row) {
      return row.color == space && row.is_temp();
    });
  };
  // Of those that fit, the first whose fast memory is as the report has it.
  std::optional<Target> found;
  for (const Target& target : Targets()) {
    const Backend own = BackendOfTarget(target.name);
    if (backend != Backend::kUnknown && own != backend) continue;
    if (!FitsSizes(report, target, shapes)) continue;
    const int64_t space = RulesOf(target).preset_space;
    const bool fits_memory =
        space >= 0 ? has_block(space) : own != Backend::kTpu || (!has_block(1) && !has_block(3));
    if (fits_memory) return target;
    if (!found) found = target;
  }
  return found;
}

Result<Replan> ReplanReport(Report report, const Rules& rules) {
  const std::string file = report.sources.empty() ? std::string() : report.sources[0]->name();
  const auto lacks = [&](std::string_view part, std::string_view hint) {
    return Fail(file, fmt::format("replan needs {}, which the report lacks", part),
                std::string(hint));
  };
  constexpr std::string_view kFromProgram = "`stowplan assign` plans from the program instead";
  const bool is_apart = report.dialect.separate_files;
  if (!report.has_assignment)
    return lacks("a buffer assignment", "also give the -buffer-assignment.txt");
  if (!report.has_value_list) {
    return lacks("a value list", is_apart ? "also give the -buffer-assignment-values.txt; before "
                                            "2026-04 the list is in the same file"
                                          : kFromProgram);
  }
  if (!report.live_ranges && is_apart) {
    return lacks("live ranges", "also give the -live-range.txt");
  }
  if (!report.live_ranges) {
    return lacks("live ranges",
                 "XLA wrote none before TensorFlow 2.6; `stowplan assign` plans from the program");
  }
  if (report.live_ranges->is_unavailable || report.live_ranges->sequence.empty())
    return lacks("an instruction sequence", kFromProgram);
  const bool is_too_large =
      rules.order == AssignOrder::kEarliestFirst && BytesOfSpace0(report) > rules.sweep_limit;
  using Attempt = Replanner::Attempt;
  if (!is_too_large) return Replanner(std::move(report), rules, Attempt::kOnce).Run();
  // Which plan is smaller depends on who may share memory. The report has only the outcome.
  Result<Replan> first = Replanner(report, rules, Attempt::kOnce).Run();
  for (const Attempt attempt : {Attempt::kKept, Attempt::kAgain}) {
    if (first && first->differences.empty()) return first;
    Result<Replan> next = Replanner(report, rules, attempt).Run();
    if (!next || (first && !next->differences.empty())) continue;
    next->taken.emplace_back("that space 0 was planned twice, and which plan was taken");
    first = std::move(next);
  }
  return first;
}

}  // namespace stowplan::report
