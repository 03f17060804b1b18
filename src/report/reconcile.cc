// SPDX-License-Identifier: Apache-2.0
#include "report/reconcile.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "base/checked_math.h"
#include "report/derive.h"
#include "report/usage.h"

namespace stowplan::report {
namespace {

using Role = ReconcileRow::Role;

constexpr int64_t kHostSpace = 5;
constexpr int64_t kTpuPage = 16384;

struct Sum {
  int64_t bytes = 0;
  int64_t allocations = 0;
};

// The sum of all allocations fits in 64 bits, or there would be no Summary.
template <class Predicate>
Sum SumOf(const Report& report, Predicate predicate) {
  Sum sum;
  for (const Allocation& allocation : report.allocations.rows()) {
    if (!predicate(allocation)) continue;
    sum.bytes += allocation.size;
    ++sum.allocations;
  }
  return sum;
}

std::string Count(int64_t count, std::string_view thing) {
  return std::to_string(count) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

bool IsHost(const Allocation& allocation) { return allocation.color == kHostSpace; }

// The numbers after `Total bytes: ` in the usage report, by memory space; the older form has one,
// `Total bytes used: `.
std::map<int64_t, int64_t> SaidUsageTotals(const Usage& usage) {
  std::map<int64_t, int64_t> totals;
  int64_t color = -1;  // -1: all of them
  std::string_view rest = usage.text;
  const auto number = [](std::string_view text, int64_t& n) {
    return std::from_chars(text.data(), text.data() + text.size(), n).ec == std::errc();
  };
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    constexpr std::string_view kColor = "(color=";
    constexpr std::string_view kTotal = "Total bytes: ";
    constexpr std::string_view kOldTotal = "Total bytes used: ";
    int64_t n = 0;
    if (const size_t at = line.find(kColor);
        line.starts_with("Memory Space: ") && at != std::string_view::npos) {
      if (number(line.substr(at + kColor.size()), n)) color = n;
    } else if (line.starts_with(kTotal) && number(line.substr(kTotal.size()), n)) {
      totals[color] = n;
    } else if (line.starts_with(kOldTotal) && number(line.substr(kOldTotal.size()), n)) {
      totals[-1] = n;
    }
  }
  return totals;
}

ReconcileGroup Totals(const Report& report, const Summary& summary) {
  ReconcileGroup group{.title = "-buffer-assignment-values.txt (or after the assignment)"};
  group.rows.push_back({.figure = "Total bytes used",
                        .said = report.said_total,
                        .computed = summary.bytes,
                        .how = "all " + Count(summary.allocations, "allocation")});
  return group;
}

ReconcileGroup UsageFigures(const Report& report, const Summary& summary) {
  ReconcileGroup group{.title = "-memory-usage-report.txt"};
  std::map<int64_t, int64_t> said;
  if (report.usage) said = SaidUsageTotals(*report.usage);
  const auto said_of = [&](int64_t color) {
    const auto row = said.find(color);
    return row == said.end() ? std::nullopt : std::optional(row->second);
  };
  if (said_of(-1)) {
    group.rows.push_back({.figure = "Total bytes used",
                          .said = said_of(-1),
                          .computed = summary.bytes,
                          .how = "all " + Count(summary.allocations, "allocation")});
  } else {
    for (const SpaceTotal& space : summary.spaces) {
      group.rows.push_back({.figure = "Total bytes, color=" + std::to_string(space.color),
                            .said = said_of(space.color),
                            .computed = space.bytes,
                            .how = Count(space.allocations, "allocation") + " of this color"});
    }
  }
  // Rows are what lies at one offset; over time other values lie there, so rows overlap.
  UsageComputer usage(report, UsageOrder::kFixed);
  size_t shown = 0;
  constexpr size_t kMost = 3;
  for (const AllocationId id : usage.SortedAllocations(std::nullopt)) {
    const Allocation& allocation = report.allocations[id];
    if (allocation.values.size() < 2 || shown == kMost) continue;
    const int64_t rows = usage.Compute(allocation).total;
    if (rows == allocation.size) continue;
    group.rows.push_back({.figure = "100% of allocation " + std::to_string(allocation.number),
                          .computed = rows,
                          .how = "sum of its rows, which overlap in time"});
    ++shown;
  }
  return group;
}

// Temporaries as memory_analysis() counts them. TPU compilers count whole pages of the main memory,
// and none where nothing really lies there.
ReconcileRow TempFigure(const Report& report, Backend backend, bool is_host,
                        const std::optional<Temporaries>& temporaries) {
  ReconcileRow row{.figure = "temp_size_in_bytes"};
  const bool is_tpu = backend == Backend::kTpu && !is_host;
  const Sum temp = SumOf(report, [&](const Allocation& allocation) {
    return IsHost(allocation) == is_host && allocation.is_temp() &&
           (!is_tpu || allocation.color == 0);
  });
  row.computed = temp.bytes;
  row.how = std::to_string(temp.allocations) + " preallocated-temp";
  if (!is_tpu) return row;
  row.how += " of color 0, in pages of 16KiB";
  if (temp.bytes == 0) return row;
  row.computed = std::nullopt;
  if (!temporaries) {
    row.how = "TPU: only the program has it";
  } else if (temporaries->are_in_main_memory) {
    row.computed = CheckedRoundUp(temp.bytes, kTpuPage);
  } else {
    row.computed = 0;
    row.how = "tuples and single numbers are not counted";
  }
  return row;
}

ReconcileRow PeakFigure(int64_t lasting, Backend backend,
                        const std::optional<Temporaries>& temporaries) {
  if (backend == Backend::kCpu) {
    return {.figure = "peak_memory_in_bytes (CPU)",
            .computed = lasting,
            .how = "all but thread-local and temporaries"};
  }
  if (!temporaries) {
    return {.figure = "peak_memory_in_bytes", .how = "only the program has the peaks of heaps"};
  }
  return {.figure = "peak_memory_in_bytes",
          .computed = CheckedAdd(lasting, temporaries->heap_peak),
          .how = "lasting allocations, plus the largest heap peak"};
}

ReconcileGroup MemoryAnalysis(const Report& report, Backend backend,
                              const std::optional<Temporaries>& temporaries) {
  ReconcileGroup group{.title = "compiled.memory_analysis() of JAX"};
  const auto add = [&](std::string figure, const Sum& sum, std::string how) {
    group.rows.push_back(
        {.figure = std::move(figure), .computed = sum.bytes, .how = std::move(how)});
  };
  const bool has_host = SumOf(report, IsHost).allocations != 0;
  // Of all memory spaces: arguments, outputs and temporaries, each allocation once.
  std::optional<int64_t> accounted = SumOf(report, [](const Allocation& allocation) {
                                       return allocation.parameter || allocation.is_maybe_live_out;
                                     }).bytes;
  for (const bool is_host : {false, true}) {
    if (is_host && !has_host) break;
    const std::string prefix = is_host ? "host_" : "";
    const std::string where = is_host ? " in S(5)" : has_host ? " but in S(5)" : "";
    const Sum argument = SumOf(report, [&](const Allocation& allocation) {
      return IsHost(allocation) == is_host && allocation.parameter;
    });
    const Sum output = SumOf(report, [&](const Allocation& allocation) {
      return IsHost(allocation) == is_host && allocation.is_maybe_live_out;
    });
    const Sum alias = SumOf(report, [&](const Allocation& allocation) {
      return IsHost(allocation) == is_host && allocation.parameter && allocation.is_maybe_live_out;
    });
    add(prefix + "argument_size_in_bytes", argument,
        Count(argument.allocations, "parameter") + where);
    add(prefix + "output_size_in_bytes", output,
        std::to_string(output.allocations) + " maybe-live-out, aliased ones too" + where);
    add(prefix + "alias_size_in_bytes", alias,
        std::to_string(alias.allocations) + " both parameter and maybe-live-out" + where);
    ReconcileRow temp = TempFigure(report, backend, is_host, temporaries);
    temp.figure = prefix + temp.figure;
    temp.how += where;
    accounted = accounted && temp.computed ? CheckedAdd(*accounted, *temp.computed) : std::nullopt;
    group.rows.push_back(std::move(temp));
  }
  group.rows.push_back({.figure = "argument + output - alias + temp",
                        .computed = accounted,
                        .how = "each of these once"});
  const Sum lasting = SumOf(report, [](const Allocation& allocation) {
    return !allocation.is_thread_local && !allocation.is_temp();
  });
  group.rows.push_back(PeakFigure(lasting.bytes, backend, temporaries));
  return group;
}

ReconcileGroup OomMessage(const Report& report, const Summary& summary) {
  ReconcileGroup group{.title = "`BufferAssignment OOM Debugging`, in the log"};
  const auto add = [&](std::string figure, int64_t bytes, std::string how) {
    group.rows.push_back({.figure = std::move(figure), .computed = bytes, .how = std::move(how)});
  };
  add("parameter allocation",
      SumOf(report, [](const Allocation& a) { return a.parameter.has_value(); }).bytes,
      "parameters, aliased ones too");
  add("constant allocation", SumOf(report, [](const Allocation& a) { return a.is_constant; }).bytes,
      "constants");
  add("maybe_live_out allocation",
      SumOf(report, [](const Allocation& a) { return a.is_maybe_live_out; }).bytes,
      "maybe-live-out, aliased ones again");
  add("preallocated temp allocation",
      SumOf(report, [](const Allocation& a) { return a.is_temp(); }).bytes, "preallocated-temp");
  add("total allocation", summary.bytes, "each allocation once");
  return group;
}

}  // namespace

std::optional<PeakSteps> StepsAt(const Report& report, const PlainSizes& plain, int64_t time,
                                 int64_t listed, int64_t live) {
  PeakSteps steps;
  int64_t own = 0;
  int64_t placed = 0;
  int64_t sizes = 0;
  bool fits = true;
  const auto add = [&](int64_t& sum, int64_t bytes) {
    fits = fits && !__builtin_add_overflow(sum, bytes, &sum);
  };
  for (const ValueId id : report.live_ranges->values) {
    const Value& value = report.values[id];
    if (value.start > time || value.end < time) continue;
    const std::optional<int64_t> bytes = plain.value[id.index];
    if (!bytes) return std::nullopt;
    add(own, *bytes);
    if (value.allocation.is_none() || report.allocations[value.allocation].is_thread_local)
      continue;
    add(placed, *bytes);
    add(sizes, value.size);
  }
  if (!fits) return std::nullopt;
  steps.live = live;
  steps.own_shapes = own - listed;
  steps.unplaced = placed - own;
  steps.padding = sizes - placed;
  steps.shared = steps.live - sizes;
  return steps;
}

namespace {

ReconcileGroup PeakFigures(const Report& report, const Summary& summary) {
  ReconcileGroup group{.title = "-live-range.txt (or after the assignment)"};
  const PrintedPeak& printed = *summary.printed_peak;
  const std::string at = std::to_string(printed.time);
  group.rows.push_back({.figure = "Live ranges at " + at + " (peak)",
                        .said = printed.bytes,
                        .how = "sum of its " + Count(printed.values, "row")});
  const PlainSizes plain = ComputePlainSizes(report);
  const std::optional<XlaPeak> computed = ComputeXlaPeak(report, plain, report.dialect.peak_line);
  if (computed) {
    int64_t sum = 0;
    for (const PeakRow& row : computed->rows) sum = CheckedAdd(sum, row.bytes).value_or(INT64_MAX);
    group.rows.back().computed = sum;
  }
  if (!summary.peak) return group;
  const auto step = [&](std::string figure, int64_t bytes, std::string how) {
    if (bytes == 0) return;
    group.rows.push_back({.role = Role::kStep,
                          .figure = std::move(figure),
                          .computed = bytes,
                          .how = std::move(how)});
  };
  const auto result = [&](std::string figure, int64_t bytes, std::string how) {
    group.rows.push_back({.role = Role::kResult,
                          .figure = std::move(figure),
                          .computed = bytes,
                          .how = std::move(how)});
  };
  int64_t live_then = 0;
  for (const LiveValue& row : LiveValuesAt(report, printed.time)) live_then += row.bytes;
  const std::optional<PeakSteps> steps =
      StepsAt(report, plain, printed.time, printed.bytes, live_then);
  int64_t live = printed.bytes;
  if (steps) {
    step("elements of tuples", steps->own_shapes, "listed as tables of pointers");
    step("values without memory", steps->unplaced, "thread-local, or not assigned");
    step("padding", steps->padding, "sizes as assigned, not as plain arrays");
    step("shared bytes", steps->shared, "under several values at once, counted once");
    result("live at " + at, steps->live, "each byte once");
    live = steps->live;
  }
  const Peak& peak = summary.peak->all;
  step("another moment", peak.bytes - live,
       "t=" + std::to_string(peak.time) + " instead of t=" + at);
  result("true peak", peak.bytes, "over all moments, first at t=" + std::to_string(peak.time));
  return group;
}

ReconcileRow TreeFigure(const Report& report) {
  int64_t sum = 0;
  for (const TreeNode& node : report.live_ranges->tree) {
    sum = CheckedAdd(sum, node.current).value_or(INT64_MAX);
  }
  return {
      .figure = "Stack trace breakdown", .computed = sum, .how = "the same list, by call stack"};
}

}  // namespace

std::vector<ReconcileGroup> Reconcile(const Report& report, const Summary& summary, Backend backend,
                                      const std::optional<Temporaries>& temporaries) {
  std::vector<ReconcileGroup> groups;
  groups.push_back(Totals(report, summary));
  groups.push_back(UsageFigures(report, summary));
  groups.push_back(MemoryAnalysis(report, backend, temporaries));
  if (summary.printed_peak) {
    groups.push_back(PeakFigures(report, summary));
    if (report.live_ranges->has_tree) groups.back().rows.push_back(TreeFigure(report));
  }
  groups.push_back(OomMessage(report, summary));
  return groups;
}

}  // namespace stowplan::report
