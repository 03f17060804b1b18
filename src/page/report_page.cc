// SPDX-License-Identifier: Apache-2.0
#include "page/report_page.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/human_bytes.h"
#include "base/stable_sort.h"
#include "explain/picture.h"
#include "page/text.h"

namespace stowplan::page {
namespace {

using report::Allocation;
using report::AllocationId;
using report::Value;
using report::ValueId;

constexpr auto kLeft = TextTable::kLeft;
constexpr auto kRight = TextTable::kRight;
constexpr size_t kBarWidth = 20;
constexpr std::string_view kIndent = "      ";

class Page {
 public:
  Page(const report::Report& report, const report::Summary& summary, const hlo::Module* program,
       const PageOptions& options)
      : report_(report),
        summary_(summary),
        labels_(explain::MakeLabels(report, program, {.own = options.own})),
        options_(options) {}

  std::string Write() && {
    Head();
    Totals();
    Peaks();
    Heaps();
    Allocations();
    if (options_.sort == ReportSort::kDefault || options_.sort == ReportSort::kPeak) {
      if (summary_.peak) {
        LiveValues();
      } else {
        Values(ReportSort::kSize);
      }
    } else {
      Values(options_.sort);
    }
    return std::move(out_);
  }

 private:
  void Heading(std::string_view text) { out_ += "\n" + std::string(text) + "\n"; }
  [[nodiscard]] std::string Space(int64_t color) const {
    return SpaceText(options_.backend, color);
  }

  [[nodiscard]] std::string SpaceIfSeveral(int64_t color) const {
    return summary_.spaces.size() > 1 ? Space(color) : "";
  }

  // The instruction that runs at a moment; parameters and outputs are live before the first and
  // after the last.
  [[nodiscard]] std::string At(int64_t time) const {
    std::string text = "t=" + std::to_string(time);
    if (!report_.live_ranges) return text;
    const std::vector<std::string_view>& sequence = report_.live_ranges->sequence;
    if (time < 0 || static_cast<size_t>(time) >= sequence.size()) return text;
    return text + " " + Printable(sequence[static_cast<size_t>(time)]);
  }

  void Head() {
    out_ += Printable(options_.title) + ": " + HumanAndExactBytes(summary_.bytes) + " in " +
            CountOf(summary_.allocations, "allocation") + " of " +
            CountOf(summary_.values, "value");
    if (options_.backend != report::Backend::kUnknown) {
      out_ += ", " + std::string(report::Name(options_.backend));
      if (!options_.backend_reason.empty()) out_ += " (" + options_.backend_reason + ")";
    }
    out_ += "\n";
    if (options_.is_made) out_ += kOwnPlan;
  }

  void Totals() {
    Heading("Where it goes");
    TextTable table({kLeft, kRight, kRight, kRight, kLeft});
    const auto add = [&](std::string what, int64_t count, int64_t bytes) {
      table.Add({std::move(what), std::to_string(count), HumanAndExactBytes(bytes),
                 Percent(bytes, summary_.bytes), Bar(bytes, summary_.bytes, kBarWidth)});
    };
    for (const report::SpaceTotal& space : summary_.spaces) {
      add(Space(space.color), space.allocations, space.bytes);
      for (const report::KindTotal& kind : space.kinds) {
        add("  " + std::string(report::Name(kind.kind)), kind.allocations, kind.bytes);
      }
    }
    table.Add({"total", std::to_string(summary_.allocations), HumanAndExactBytes(summary_.bytes)});
    table.Append(out_);
  }

  [[nodiscard]] int64_t LiveBytesAt(int64_t time) const {
    int64_t bytes = 0;
    for (const report::LiveValue& row : report::LiveValuesAt(report_, time)) bytes += row.bytes;
    return bytes;
  }

  void Peaks() {
    Heading("The most that is live at once");
    if (!summary_.peak) {
      out_ += "  not known: no file has the live ranges (-live-range.txt)\n";
      return;
    }
    TextTable table({kLeft, kRight, kRight, kLeft});
    const auto add = [&](std::string what, const report::Peak& peak, int64_t whole) {
      table.Add({std::move(what), HumanAndExactBytes(peak.bytes), Percent(peak.bytes, whole),
                 "at " + At(peak.time)});
    };
    if (summary_.spaces.size() > 1) {
      for (const report::SpaceTotal& space : summary_.spaces) {
        if (space.peak->bytes != 0) add(Space(space.color), *space.peak, space.bytes);
      }
    }
    add(summary_.spaces.size() > 1 ? "together" : "true peak", summary_.peak->all, summary_.bytes);
    if (const auto& printed = summary_.printed_peak) {
      table.Add({"XLA's list", HumanAndExactBytes(printed->bytes), "", "at " + At(printed->time)});
      if (printed->time != summary_.peak->all.time) {
        add("live then", {.bytes = LiveBytesAt(printed->time), .time = printed->time},
            summary_.bytes);
      }
    }
    table.Append(out_);
    if (summary_.printed_peak && summary_.printed_peak->bytes != summary_.peak->all.bytes) {
      out_ += "  XLA counts differently; ";
      out_ += options_.speech == Speech::kPython ? "reconcile()" : "--reconcile";
      out_ += " explains the difference.\n";
    }
    if (summary_.peak->values_without_range != 0) {
      out_ += "  not counted: " + CountOf(summary_.peak->values_without_range, "value") +
              " without a live range, " + HumanAndExactBytes(summary_.peak->bytes_without_range) +
              "\n";
    }
  }

  void Heaps() {
    if (!summary_.peak) return;
    std::vector<AllocationId> heaps;
    for (size_t i = 0; i < report_.allocations.size(); ++i) {
      const Allocation& allocation = report_.allocations[AllocationId(i)];
      // A single value fills its allocation; one without values is memory that a TPU reserves.
      if (allocation.is_temp() && allocation.values.size() != 1) heaps.emplace_back(i);
    }
    if (heaps.empty()) return;
    SortBySize(heaps);
    Heading("Heaps of temporaries, and their fullest moments");
    TextTable table({kLeft, kLeft, kRight, kRight, kRight, kLeft});
    table.Add({"", "", "size", "load", "unused", ""});
    const size_t shown = Shown(heaps);
    for (size_t i = 0; i < shown; ++i) {
      const Allocation& heap = report_.allocations[heaps[i]];
      const report::Peak& load = summary_.peak->allocations[heaps[i].index];
      table.Add({"allocation " + std::to_string(heap.number), SpaceIfSeveral(heap.color),
                 HumanAndExactBytes(heap.size), HumanAndExactBytes(load.bytes),
                 Percent(heap.size - load.bytes, heap.size),
                 heap.values.empty() ? "holds no values" : "at t=" + std::to_string(load.time)});
    }
    AddRest(heaps, shown, std::nullopt, table);
    table.Append(out_);
  }

  void SortBySize(std::vector<AllocationId>& ids) const {
    StableSort(ids, std::greater(), [&](AllocationId id) { return report_.allocations[id].size; });
  }

  // How many of the allocations, sorted by size, to list.
  [[nodiscard]] size_t Shown(const std::vector<AllocationId>& ids) const {
    size_t count = 0;
    while (count < ids.size() && count < options_.limit &&
           report_.allocations[ids[count]].size >= options_.min_size) {
      ++count;
    }
    return count;
  }

  // The rest in one row; `first` is the cell before the text, if there is one.
  void AddRest(const std::vector<AllocationId>& ids, size_t shown,
               std::optional<std::string_view> first, TextTable& table) const {
    if (shown == ids.size()) return;
    int64_t bytes = 0;
    for (size_t i = shown; i < ids.size(); ++i) bytes += report_.allocations[ids[i]].size;
    std::vector<std::string> cells;
    if (first) cells.emplace_back(*first);
    cells.push_back("and " + std::to_string(ids.size() - shown) + " more");
    cells.emplace_back();
    cells.push_back(HumanAndExactBytes(bytes));
    if (first) cells.push_back(Percent(bytes, summary_.bytes));
    table.Add(std::move(cells));
  }

  void Allocations() {
    std::vector<AllocationId> ids;
    ids.reserve(report_.allocations.size());
    for (size_t i = 0; i < report_.allocations.size(); ++i) ids.emplace_back(i);
    SortBySize(ids);
    Heading("Allocations, largest first");
    TextTable table({kRight, kLeft, kLeft, kRight, kRight, kRight, kLeft});
    table.Add({"no.", "", "", "size", "share", "", "largest value"});
    const size_t shown = Shown(ids);
    for (size_t i = 0; i < shown; ++i) {
      const Allocation& allocation = report_.allocations[ids[i]];
      table.Add({std::to_string(allocation.number), AllocationText(report_, allocation),
                 SpaceIfSeveral(allocation.color), HumanAndExactBytes(allocation.size),
                 Percent(allocation.size, summary_.bytes),
                 CountOf(static_cast<int64_t>(allocation.values.size()), "value"),
                 LargestIn(allocation)});
    }
    AddRest(ids, shown, std::string_view(), table);
    table.Append(out_);
  }

  // The shape of the only value, or the name of the largest.
  [[nodiscard]] std::string LargestIn(const Allocation& allocation) const {
    const Value* largest = nullptr;
    for (const ValueId id : allocation.values) {
      const Value& value = report_.values[id];
      if (largest == nullptr || value.size > largest->size) largest = &value;
    }
    if (largest == nullptr) return {};
    return Shortened(ValueText(report_, *largest), 20);
  }

  [[nodiscard]] std::string SourceOf(const explain::ValueFact& fact) const {
    return explain::SourceText(labels_, labels_.own_line(fact.frame));
  }

  // Where a value comes from, on a line of its own.
  void AddOrigin(ValueId id, std::string note, TextTable& table) const {
    const explain::ValueFact& fact = labels_.fact(id);
    const std::string source = ShortenedPath(Printable(SourceOf(fact)), 40);
    std::string line = std::move(note);
    const auto add = [&](const std::string& text) {
      if (text.empty()) return;
      line += (line.empty() ? "" : "  ") + text;
    };
    const size_t taken = kIndent.size() + TextWidth(line) + TextWidth(source) + 4;
    add(ShortenedOpName(Printable(fact.op_name), kPageWidth - std::min(taken, kPageWidth - 30)));
    add(source);
    if (!line.empty()) table.AddLine(std::string(kIndent) + line);
  }

  [[nodiscard]] std::vector<std::string> ValueCells(const Value& value, int64_t bytes,
                                                    std::string share) const {
    const bool has_spaces = summary_.spaces.size() > 1 && !value.allocation.is_none();
    const auto color = [&] { return report_.allocations[value.allocation].color; };
    return {HumanAndExactBytes(bytes),
            std::move(share),
            Shortened(ValueText(report_, value), 28),
            ShortenedShape(Printable(value.shape), has_spaces ? 30 : 35),
            has_spaces ? "S(" + std::to_string(color()) + ")" : "",
            value.has_range ? std::to_string(value.start) + "-" + std::to_string(value.end) : ""};
  }

  // What is live at the peak. Adds up to it.
  void LiveValues() {
    const report::Peak& peak = summary_.peak->all;
    const std::vector<report::LiveValue> live = report::LiveValuesAt(report_, peak.time);
    Heading("Live at the peak, " + At(peak.time) + ": " + HumanAndExactBytes(peak.bytes) + " of " +
            CountOf(static_cast<int64_t>(live.size()), "value"));
    TextTable table({kRight, kRight, kLeft, kLeft, kLeft, kRight});
    table.Add({"", "", "", "", "", "live"});
    int64_t rest = peak.bytes;
    size_t shown = 0;
    for (const report::LiveValue& row : live) {
      if (shown == options_.limit || row.bytes < options_.min_size) break;
      const Value& value = report_.values[row.value];
      table.Add(ValueCells(value, row.bytes, Percent(row.bytes, peak.bytes)));
      AddOrigin(row.value,
                row.bytes == value.size
                    ? ""
                    : "shares " + HumanAndExactBytes(value.size - row.bytes) + " with others",
                table);
      rest -= row.bytes;
      ++shown;
    }
    if (shown != live.size()) {
      table.Add({HumanAndExactBytes(rest), Percent(rest, peak.bytes),
                 "and " + std::to_string(live.size() - shown) + " more"});
    }
    table.Append(out_);
    BySource(live);
  }

  // Values of one line of the user's program, or of no known line.
  struct SourceGroup {
    std::string source;
    int64_t bytes = 0;
    int64_t values = 0;
    std::string op_name = {};  // of the largest value
  };

  [[nodiscard]] std::vector<SourceGroup> GroupBySource(
      const std::vector<report::LiveValue>& live) const {
    std::vector<SourceGroup> groups;
    std::unordered_map<std::string, size_t> rows;
    for (const report::LiveValue& row : live) {
      const Value& value = report_.values[row.value];
      const explain::ValueFact& fact = labels_.fact(row.value);
      std::string source = SourceOf(fact);
      const bool has_source = !source.empty();
      if (!has_source) {
        const bool is_parameter = report_.allocations[value.allocation].parameter.has_value();
        source = is_parameter ? "parameters" : "not known";
      }
      const auto [group, is_new] = rows.try_emplace(source, groups.size());
      if (is_new)
        groups.push_back(
            {.source = source, .op_name = has_source ? std::string(fact.op_name) : std::string()});
      groups[group->second].bytes += row.bytes;
      ++groups[group->second].values;
    }
    StableSort(groups, std::greater(), &SourceGroup::bytes);
    return groups;
  }

  // The live values again, grouped, if that says more than the list. Adds up to the peak.
  void BySource(const std::vector<report::LiveValue>& live) {
    const std::vector<SourceGroup> groups = GroupBySource(live);
    const bool has_sources = std::ranges::any_of(
        groups, [](const SourceGroup& group) { return !group.op_name.empty(); });
    if (!has_sources || groups.size() == live.size()) return;
    Heading("The same by source line, with the operation of the largest value");
    TextTable table({kRight, kRight, kRight, kLeft, kLeft});
    const int64_t whole = summary_.peak->all.bytes;
    int64_t rest = whole;
    size_t shown = 0;
    for (const SourceGroup& group : groups) {
      if (shown == options_.limit || group.bytes < options_.min_size) break;
      table.Add({HumanAndExactBytes(group.bytes), Percent(group.bytes, whole),
                 CountOf(group.values, "value"), ShortenedPath(Printable(group.source), 26),
                 ShortenedOpName(Printable(group.op_name), 26)});
      rest -= group.bytes;
      ++shown;
    }
    if (shown != groups.size()) {
      table.Add({HumanAndExactBytes(rest), Percent(rest, whole), "",
                 "and " + std::to_string(groups.size() - shown) + " more"});
    }
    table.Append(out_);
  }

  [[nodiscard]] std::vector<ValueId> SortedValues(ReportSort sort) const {
    std::vector<ValueId> ids;
    for (size_t i = 0; i < report_.values.size(); ++i) {
      const Value& value = report_.values[ValueId(i)];
      if (!value.allocation.is_none() && value.size >= options_.min_size) ids.emplace_back(i);
    }
    const auto value = [&](ValueId id) -> const Value& { return report_.values[id]; };
    switch (sort) {
      case ReportSort::kName:
        StableSort(ids, {}, [&](ValueId id) { return value(id).instruction; });
        break;
      case ReportSort::kTime:
        StableSort(ids, {},
                   [&](ValueId id) { return std::pair(!value(id).has_range, value(id).start); });
        break;
      default:
        StableSort(ids, std::greater(), [&](ValueId id) { return value(id).size; });
    }
    return ids;
  }

  void Values(ReportSort sort) {
    const std::vector<ValueId> ids = SortedValues(sort);
    Heading(sort == ReportSort::kName   ? "Values by name"
            : sort == ReportSort::kTime ? "Values in order of execution"
                                        : "Values, largest first");
    TextTable table({kRight, kRight, kLeft, kLeft, kLeft, kRight});
    if (report_.live_ranges) table.Add({"", "", "", "", "", "live"});
    const size_t shown = std::min(ids.size(), options_.limit);
    for (size_t i = 0; i < shown; ++i) {
      const Value& value = report_.values[ids[i]];
      const bool is_live = summary_.peak && value.has_range &&
                           value.start <= summary_.peak->all.time &&
                           summary_.peak->all.time <= value.end;
      table.Add(ValueCells(value, value.size, is_live ? "peak" : ""));
      AddOrigin(ids[i], "", table);
    }
    const size_t more = static_cast<size_t>(summary_.values) - shown;
    if (more != 0) table.Add({"", "", "and " + std::to_string(more) + " more"});
    table.Append(out_);
  }

  const report::Report& report_;
  const report::Summary& summary_;
  const explain::Picture labels_;
  const PageOptions& options_;
  std::string out_;
};

}  // namespace

std::string ReportPage(const report::Report& report, const report::Summary& summary,
                       const hlo::Module* program, const PageOptions& options) {
  return Page(report, summary, program, options).Write();
}

}  // namespace stowplan::page
