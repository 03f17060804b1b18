// SPDX-License-Identifier: Apache-2.0
// -live-range.txt: the order of execution, when values live, and what is alive at the peak.
#include "report/reader.h"

namespace stowplan::report {
namespace {

// Numbers with a blank before each group of three digits: `41 943 072`.
bool TakeGrouped(Piece& piece, int64_t& n) {
  if (!piece.TakeNumber(n) || n < 0) return false;
  while (piece.rest().size() >= 4 && piece.rest()[0] == ' ') {
    Piece group(piece.rest().substr(1, 3));
    int64_t part = 0;
    if (!group.TakeNumber(part) || !group.empty() || part < 0) break;
    if (__builtin_mul_overflow(n, int64_t{1000}, &n) || __builtin_add_overflow(n, part, &n))
      return false;
    piece = Piece(piece.rest().substr(4));
  }
  return true;
}

void ReadSequence(Lines& lines, LiveRanges& ranges) {
  for (lines.Next(); lines.line().starts_with("    ") && !lines.at_end(); lines.Next()) {
    Piece piece(lines.line());
    piece.Take("    ");
    int64_t number = 0;
    std::string_view name;
    if (!piece.TakeNumber(number) || !piece.Take(":") || !piece.TakeName(name) || !piece.empty()) {
      lines.Fail("expected `    N:name`", piece.rest());
      if (lines.is_full()) return;
      continue;
    }
    if (number != static_cast<int64_t>(ranges.sequence.size()))
      lines.Fail("the instructions are not numbered in order");
    ranges.sequence.push_back(name);
  }
}

void ReadRanges(Lines& lines, ReportBuilder& builder, LiveRanges& ranges) {
  Report& report = builder.report;
  for (lines.Next(); lines.line().starts_with("    ") && !lines.at_end(); lines.Next()) {
    Piece piece(lines.line());
    piece.Take("    ");
    std::string_view name;
    Index index;
    int64_t start = 0;
    int64_t end = 0;
    if (!piece.TakeName(name) || !piece.TakeIndex(report.ints, index) || !piece.Take(":") ||
        !piece.TakeNumber(start) || !piece.Take("-") || !piece.TakeNumber(end) || !piece.empty()) {
      lines.Fail("expected `    name{0}:start-end`", piece.rest());
      if (lines.is_full()) return;
      continue;
    }
    const ValueId id = builder.FindOrAddByPlace(name, index);
    Value& value = report.values[id];
    if (value.has_range) lines.Fail("this value already has a live range");
    value.has_range = true;
    value.start = start;
    value.end = end;
    ranges.values.push_back(id);
  }
}

// `    name{0}: 12 bytes (cumulative: 24 bytes)`, and its older forms.
void ReadPeak(Lines& lines, ReportBuilder& builder, LiveRanges& ranges) {
  Report& report = builder.report;
  PeakLine& form = report.dialect.peak_line;
  form = PeakLine::kName;
  for (lines.Next(); lines.line().starts_with("    ") && !lines.at_end(); lines.Next()) {
    Piece piece(lines.line());
    piece.Take("    ");
    PeakRow row;
    int64_t cumulative = 0;
    bool ok = piece.TakeName(row.instruction);
    if (piece.TakeIndex(report.ints, row.index)) form = PeakLine::kIndex;
    ok = ok && piece.Take(": ") && piece.TakeNumber(row.bytes) && piece.Take(" bytes");
    if (piece.Take(" (cumulative: ")) {
      form = PeakLine::kCumulative;
      ok = ok && piece.TakeNumber(cumulative) && piece.Take(" bytes)");
    }
    if (!ok || !piece.empty()) {
      lines.Fail("expected `    name: N bytes`", piece.rest());
      if (lines.is_full()) return;
      continue;
    }
    ranges.peak.push_back(row);
  }
}

// Removes the guides of a tree line and counts them; the connector before a top node is two blanks.
int TakeGuides(Piece& piece) {
  piece.Take("  ");
  int depth = 0;
  while (true) {
    if (piece.Take("├── ") || piece.Take("└── ")) return depth;
    if (piece.Take("│   ") || piece.Take("    ")) {
      ++depth;
    } else {
      piece.Take("  ");
      return depth;
    }
  }
}

void ReadTree(Lines& lines, ReportBuilder& builder, LiveRanges& ranges) {
  builder.report.dialect.stack_tree = true;
  ranges.has_tree = true;
  int64_t sum = 0;
  // Of several top nodes, only the last has children without a guide before them.
  const auto is_node = [](std::string_view line) {
    return line.starts_with("    ") || line.starts_with("  │");
  };
  for (lines.Next(); is_node(lines.line()) && !lines.at_end(); lines.Next()) {
    Piece piece(lines.line());
    TreeNode node;
    node.depth = TakeGuides(piece);
    // A name may hold anything; what follows it may not.
    const size_t at = piece.rest().rfind(" (");
    int64_t total = 0;
    std::string_view percent;
    if (at == std::string_view::npos) {
      lines.Fail("expected `name (P%, total: ...)`", piece.rest());
      continue;
    }
    node.name = piece.rest().substr(0, at);
    piece = Piece(piece.rest().substr(at));
    if (!piece.Take(" (") || !piece.TakeUntil("%", percent) || !piece.Take("%, total: ") ||
        !TakeGrouped(piece, total) || !piece.Take(" bytes, current: ") ||
        !TakeGrouped(piece, node.current) || !piece.Take(" bytes, remaining: ") ||
        !TakeGrouped(piece, total) || !piece.Take(" bytes)") || !piece.empty()) {
      lines.Fail("expected `name (P%, total: N bytes, current: N bytes, remaining: N bytes)`",
                 piece.rest());
      continue;
    }
    if (__builtin_add_overflow(sum, node.current, &sum)) {
      lines.Fail("the bytes of the tree do not fit in 64 bits");
      return;
    }
    ranges.tree.push_back(node);
  }
}

bool ReadHeadline(Lines& lines, LiveRanges& ranges) {
  Piece piece(lines.line());
  if (piece.Take("HloLiveRange not available")) {
    ranges.is_unavailable = true;
    lines.Next();
    return false;
  }
  if (!piece.Take("HloLiveRange (max ") || !piece.TakeNumber(ranges.end) || !piece.Take("):") ||
      !piece.empty()) {
    lines.Fail("expected `HloLiveRange (max N):`");
    return false;
  }
  lines.Next();
  return true;
}

}  // namespace

void ReadLiveRangeSection(Lines& lines, ReportBuilder& builder) {
  Report& report = builder.report;
  report.dialect.stack_tree = false;
  LiveRanges& ranges = report.live_ranges.emplace();
  if (!ReadHeadline(lines, ranges)) return;
  if (lines.line() == "  InstructionSequence:")
    ReadSequence(lines, ranges);
  else
    lines.Fail("expected `  InstructionSequence:`");
  if (lines.line() == "  BufferLiveRange:")
    ReadRanges(lines, builder, ranges);
  else
    lines.Fail("expected `  BufferLiveRange:`");
  Piece piece(lines.line());
  int64_t time = 0;
  if (lines.line() == "  Peak memory could not be determined due to unbounded dynamic shape.") {
    ranges.is_unbounded = true;
    lines.Next();
    return;
  }
  if (!piece.Take("  Live ranges at ") || !piece.TakeNumber(time) || !piece.Take(" (peak):")) {
    lines.Fail("expected `  Live ranges at T (peak):`");
    return;
  }
  ranges.peak_time = time;
  ReadPeak(lines, builder, ranges);
  if (lines.line().starts_with("  Stack trace breakdown for peak usage: "))
    ReadTree(lines, builder, ranges);
}

}  // namespace stowplan::report
