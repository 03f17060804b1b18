// SPDX-License-Identifier: Apache-2.0
// The page of `stowplan explain`, and its tables.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "explain/footprint.h"
#include "explain/padding.h"
#include "explain/xla_peak.h"
#include "page/explain_view.h"
#include "page/headline.h"
#include "page/order_page.h"
#include "page/text.h"
#include "report/derive.h"

namespace stowplan::page {

using explain::By;
using explain::Partition;
using explain::Row;

const explain::Curve& ExplainView::curve() const { return picture.curves.of(space); }

std::string SpaceName(const ExplainView& view, std::optional<int64_t> space) {
  return space ? SpaceText(view.picture.backend, *space) : "all memory spaces";
}

std::string TimeText(const explain::Picture& picture, int64_t time) {
  std::string text = "t=" + std::to_string(time);
  const std::vector<std::string_view>& sequence = picture.report->live_ranges->sequence;
  if (time < 0 || static_cast<size_t>(time) >= sequence.size()) return text;
  return text + " " + Printable(sequence[static_cast<size_t>(time)]);
}

void AppendParagraph(std::string_view words, size_t indent, std::string& out) {
  size_t width = 0;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    if (width != 0 && width + 1 + TextWidth(word) > kExplainWidth) {
      out += '\n';
      width = 0;
    }
    out += width == 0 ? std::string(indent, ' ') : " ";
    width += (width == 0 ? indent : 1) + TextWidth(word);
    out += word;
  }
  out += '\n';
}

namespace {

constexpr std::string_view kRowsFor[] = {"value",     "source line", "call stack", "op_name",
                                         "parameter", "kind",        "footprint"};

std::string_view WordsFor(By by) { return kRowsFor[static_cast<size_t>(by)]; }

// The width left over by sizes and shares.
constexpr size_t kNameWidth = 43;

// model.py:17 via linear.py:287
std::string SourceName(const explain::Picture& picture, const Row& row, size_t width) {
  std::string name = Printable(row.name);
  if (!row.library.is_none()) {
    std::string inner = Printable(explain::SourceText(picture, row.library));
    inner = " via " + inner.substr(inner.rfind('/') + 1);  // npos + 1 is 0
    if (TextWidth(inner) + 20 < width) return ShortenedPath(name, width - TextWidth(inner)) + inner;
  }
  return ShortenedPath(name, width);
}

std::string RowName(const ExplainView& view, const Partition& partition, const Row& row) {
  const size_t indent = 2 * std::min<size_t>(row.depth - 1, 14);
  const size_t width = indent + 16 < kNameWidth ? kNameWidth - indent : 16;
  std::string name = Printable(row.name);
  if (!row.value.is_none()) {
    const report::Value& value = view.picture.report->values[row.value];
    name += " " + Printable(value.shape);
    return std::string(indent, ' ') + ShortenedShape(name, width);
  }
  switch (partition.by) {
    case By::kSource:
      return SourceName(view.picture, row, width);
    case By::kStack:
      return std::string(indent, ' ') + ShortenedStack(name, width);
    case By::kOpName:
      return std::string(indent, ' ') + ShortenedOpName(name, width);
    default:
      return std::string(indent, ' ') + Shortened(name, width);
  }
}

// Where a value comes from: its kind, source and op_name, on a separate line.
std::string WordsOf(const explain::Picture& picture, report::ValueId id) {
  const explain::ValueFact& fact = picture.fact(id);
  std::string words(explain::Word(fact.kind));
  if (fact.slices > 1) words += fmt::format(", {} trips", fact.slices);
  const auto add = [&](const std::string& text) {
    if (!text.empty()) words += ", " + text;
  };
  const report::Value& value = picture.report->values[id];
  const std::string& path =
      value.allocation.is_none() ? std::string() : picture.parameter_paths[value.allocation.index];
  add(Printable(path));
  add(ShortenedPath(Printable(explain::SourceText(picture, picture.own_line(fact.frame))), 30));
  const bool is_path = picture.ops[fact.op].opcode == hlo::Opcode::kParameter;
  const size_t left = kExplainWidth - 36 - std::min<size_t>(kExplainWidth - 36, TextWidth(words));
  if (!is_path && left > 16) add(ShortenedOpName(Printable(fact.op_name), left - 2));
  return Shortened(words, kNameWidth - 2);
}

}  // namespace

void AppendPartition(const ExplainView& view, By by, size_t limit, std::string& out) {
  const Partition whole = explain::PartitionOf(view.picture, view.moment, by);
  const Partition partition = explain::IsTree(by) ? explain::Folded(whole) : whole;
  const explain::TopRows top = explain::Largest(partition, limit);
  TextTable table({TextTable::kRight, TextTable::kRight, TextTable::kLeft});
  const int64_t total = partition.total();
  for (const uint32_t i : top.rows) {
    const Row& row = partition.rows[i];
    table.Add(
        {HumanAndExactBytes(row.total), Percent(row.total, total), RowName(view, partition, row)});
    if (!row.value.is_none()) table.Add({"", "", "  " + WordsOf(view.picture, row.value)});
  }
  if (top.hidden != 0)
    table.Add({HumanAndExactBytes(top.rest), Percent(top.rest, total),
               "and " + std::to_string(top.hidden) + " more"});
  table.Add({HumanAndExactBytes(total), "", "total"});
  table.Append(out);
}

std::string PartitionPage(const ExplainView& view, By by) {
  std::string out = by == By::kFootprint ? "The footprint of " : "What fills ";
  out += SpaceName(view, view.space) + (view.is_peak ? " at its peak, " : " at ") +
         TimeText(view.picture, view.moment.time);
  out += by == By::kFootprint ? "\n" : fmt::format(", by {}\n", WordsFor(by));
  if (explain::IsTree(by))
    out += "  (a row includes the rows below it; rows with one part are joined)\n";
  AppendPartition(view, by, view.limit, out);
  return out;
}

void AppendFootprint(const ExplainView& view, std::string& out) {
  const explain::Footprint split = explain::FootprintOf(view.picture, view.moment);
  TextTable table({TextTable::kRight, TextTable::kRight, TextTable::kLeft});
  const auto add = [&](int64_t bytes, std::string what) {
    if (bytes != 0)
      table.Add({HumanAndExactBytes(bytes), Percent(bytes, split.bytes), std::move(what)});
  };
  add(split.live, "live at t=" + std::to_string(view.moment.time));
  add(split.dead, "dead then: needed at other moments");
  add(split.fragmentation, "fragmentation: lost in packing");
  add(split.alignment, "alignment of offsets");
  add(split.untimed, "under values without a live range");
  add(split.thread_local_bytes, "thread-local, for nested calls");
  table.Add({HumanAndExactBytes(split.bytes), "", "total"});
  table.Append(out);
}

void AppendGapToXla(const ExplainView& view, std::string& out) {
  const std::optional<explain::PeakGap> gap = explain::GapToXla(view.picture);
  if (!gap) {
    out += "  not known: no file has its list of the peak, and shapes are missing\n";
    return;
  }
  TextTable table({TextTable::kLeft, TextTable::kRight, TextTable::kLeft});
  const auto step = [&](std::string what, int64_t bytes, std::string why) {
    if (bytes == 0) return;
    std::string size = HumanAndExactBytes(bytes < 0 ? -bytes : bytes);
    table.Add({"+ " + std::move(what), (bytes < 0 ? "-" : "+") + size, std::move(why)});
  };
  const auto result = [&](std::string what, int64_t bytes, std::string why) {
    table.Add({std::move(what), HumanAndExactBytes(bytes), std::move(why)});
  };
  const std::string then = "t=" + std::to_string(gap->xla.time);
  result("XLA's list at " + then, gap->xla.bytes,
         gap->is_printed && !view.is_made ? "as printed" : "as it would print it");
  if (gap->reasons) {
    step("elements of tuples", gap->reasons->tuples, "XLA counts 8B for each");
    step("no memory of its own", gap->reasons->unplaced, "");
    step("padding", gap->reasons->padding, "XLA counts plain arrays");
    step("shared bytes", gap->reasons->shared, "counted once");
  } else {
    step("not known", gap->live_then - gap->xla.bytes, "shapes are missing");
  }
  result("= live at " + then, gap->live_then, "all spaces, as XLA adds them");
  step("another moment", gap->other_moment, "XLA's moment is not the peak");
  if (gap->other_moment != 0)
    result("= live at t=" + std::to_string(gap->peak.time), gap->peak.bytes, "");
  table.Append(out);
}

std::string PaddingPage(const ExplainView& view) {
  const explain::Picture& picture = view.picture;
  std::string out = "Padding: the cost of tiles and granules, worst first\n";
  int64_t padding = 0;
  for (const explain::Share& share : view.moment.shares) padding += share.padding;
  if (picture.report->live_ranges)
    out += fmt::format("  {} of what is live in {} at t={} is padding\n",
                       HumanAndExactBytes(padding), SpaceName(view, view.space), view.moment.time);
  const std::vector<explain::PaddingTax> taxes = explain::PaddingTaxes(picture, view.limit);
  if (taxes.empty()) out += "  no value has any\n";
  for (const explain::PaddingTax& tax : taxes) {
    const report::Value& value = picture.report->values[tax.value];
    out += fmt::format("\n  {} of {} ({}): {}\n", HumanAndExactBytes(tax.padding),
                       HumanBytes(tax.size), Percent(tax.padding, tax.size),
                       Printable(explain::ValueName(*picture.report, tax.value)));
    out += "    " + ShortenedShape(Printable(value.shape), kExplainWidth - 4) + "\n";
    out += "    " + WordsOf(picture, tax.value) + "\n";
    if (tax.cheaper) {
      out += fmt::format("    {}: {} takes {}\n", explain::Name(tax.cheaper->change),
                         tax.cheaper->shape, HumanBytes(tax.cheaper->bytes));
    }
    if (!tax.free_shape.empty())
      out += fmt::format("    {} takes as much as now\n", tax.free_shape);
  }
  return out;
}

namespace {

void AppendOrder(const ExplainView& view, std::string& out) {
  if (view.order.facts) AppendParagraph(GlanceSentence(*view.order.facts), 2, out);
  if (view.order.reason.empty()) return;
  AppendParagraph(view.order.reason + (view.speech == Speech::kPython ? "; r.order() looks"
                                                                      : "; `stowplan order` looks"),
                  2, out);
}

// The user's own line, the library's line that it leads to, and the user's own lines that lead to
// it, three lines in all.
void AppendOwnStack(const explain::Picture& picture, explain::FrameId innermost, std::string& out) {
  int lines = 0;
  const auto add = [&](std::string_view word, explain::FrameId frame) {
    const std::string_view function = picture.frames[frame].function;
    const std::string in = function.empty() ? "" : " in " + Printable(function);
    const std::string source = Printable(explain::SourceText(picture, frame));
    // Neither takes more than half from the other.
    const size_t room = kExplainWidth - 3 - word.size();
    const std::string end = Shortened(in, room - std::min(TextWidth(source), room / 2));
    out += fmt::format("  {} {}{}\n", word, ShortenedPath(source, room - TextWidth(end)), end);
    ++lines;
  };
  if (innermost.is_none()) return;
  explain::FrameId at = picture.own_line(innermost);
  add("by", at);
  if (at != innermost) add("   via", innermost);
  while (lines < 3 && !(at = picture.own_line(picture.frames[at].parent)).is_none())
    add("   from", at);
}

void AppendHead(const ExplainView& view, std::string& out) {
  const explain::Picture& picture = view.picture;
  const explain::Footprint split = explain::FootprintOf(picture, view.moment);
  out += fmt::format("{}: {}\n", Printable(view.name), HumanAndExactBytes(view.moment.bytes));
  out += fmt::format("  {} in {}, out of {} allocated\n",
                     view.is_peak ? "live at the peak" : "live at this moment",
                     SpaceName(view, view.space), HumanAndExactBytes(split.bytes));
  const std::vector<std::string_view>& sequence = picture.report->live_ranges->sequence;
  out += fmt::format("  at {} (of {})\n", TimeText(picture, view.moment.time),
                     picture.report->live_ranges->end);
  if (view.moment.time >= 0 && static_cast<size_t>(view.moment.time) < sequence.size()) {
    const explain::OpId id = picture.FindOp(sequence[static_cast<size_t>(view.moment.time)]);
    if (!id.is_none()) {
      const explain::Op& op = picture.ops[id];
      AppendOwnStack(picture, op.frame, out);
      if (!op.op_name.empty())
        out += "  op " + ShortenedOpName(Printable(op.op_name), kExplainWidth - 5) + "\n";
    }
  }
  if (view.is_made) out += kOwnPlan;
  AppendOrder(view, out);
}

void AppendSpaces(const ExplainView& view, std::string& out) {
  if (view.picture.curves.spaces.size() < 2) return;
  out += "\nMemory spaces\n";
  TextTable table({TextTable::kLeft, TextTable::kRight, TextTable::kLeft});
  for (const explain::Curve& curve : view.picture.curves.spaces) {
    if (curve.peak.bytes == 0) continue;
    table.Add({SpaceName(view, curve.space), HumanAndExactBytes(curve.peak.bytes),
               Shortened(TimeText(view.picture, curve.peak.time), 34)});
  }
  table.Add({"together", HumanAndExactBytes(view.picture.curves.all.peak.bytes),
             Shortened(TimeText(view.picture, view.picture.curves.all.peak.time), 34)});
  table.Append(out);
}

void AppendNextInPython(const ExplainView& view, std::string& out) {
  out += "\nNext, where r is the result of analyze\n";
  TextTable table({TextTable::kLeft, TextTable::kLeft});
  if (!view.moment.shares.empty()) {
    const std::string name = explain::ValueName(*view.picture.report, view.moment.shares[0].value);
    if (TextWidth(name) < 22) table.Add({"r.why(\"" + Printable(name) + "\")", "why it is alive"});
  }
  table.Add({"r.peak_by(\"op_name\")", "the same as a tree; also stack, parameter"});
  table.Add({"r.explain(T)", "a different moment; r.at(T) as rows"});
  table.Add({"r.advice()", "what would save memory, each change tried"});
  table.Add({"r.save(\"view.html\")", "every value at its place, in a browser"});
  table.Append(out);
}

void AppendNext(const ExplainView& view, std::string& out) {
  if (view.speech == Speech::kPython) return AppendNextInPython(view, out);
  out += "\nNext\n";
  const std::string command = "  stowplan explain " + view.input;
  TextTable table({TextTable::kLeft, TextTable::kLeft});
  const auto add = [&](const std::string& option, std::string what) {
    table.Add({"  " + option, std::move(what)});
  };
  out += Shortened(command, kExplainWidth - 4) + " ...\n";
  if (!view.moment.shares.empty()) {
    const std::string name = explain::ValueName(*view.picture.report, view.moment.shares[0].value);
    if (TextWidth(name) < 22) add("--value='" + Printable(name) + "'", "why it is alive");
  }
  add("--by=op_name", "the same as a tree; also stack, parameter");
  add("--at=T --top=30", "a different moment, more rows");
  add("--advice", "what would save memory, each change tried");
  add("--padding", "what tiling costs");
  add("--source-root=DIR", "your source code with live bytes");
  table.Append(out);
}

}  // namespace

std::string ExplainPage(const ExplainView& view) {
  std::string out;
  for (const std::string& line : Headline(view)) out += line + '\n';
  out += '\n';
  AppendHead(view, out);
  AppendSpaces(view, out);
  out += "\nLive bytes over the program\n";
  out += Sparkline(view.curve(), view.picture.report->live_ranges->end, view.moment.time,
                   kExplainWidth - 4);
  out += "\nBy source line\n";
  AppendPartition(view, By::kSource, view.limit, out);
  out += "\nBy kind\n";
  AppendPartition(view, By::kKind, 0, out);
  out += "\nLargest values\n";
  AppendPartition(view, By::kValue, view.limit == 0 ? 0 : (view.limit + 1) / 2, out);
  out += "\nThe footprint of " + SpaceName(view, view.space) + "\n";
  AppendFootprint(view, out);
  out += "\nXLA's own peak\n";
  AppendGapToXla(view, out);
  if (!view.picture.unknown.empty()) {
    out += "\nNot known\n";
    for (const std::string& sentence : view.picture.unknown) AppendParagraph(sentence, 2, out);
  }
  AppendNext(view, out);
  return out;
}

}  // namespace stowplan::page
