// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "page/diff_view.h"
#include "page/explain_view.h"
#include "page/text.h"

namespace stowplan::page {

using diff::Cause;
using diff::SpaceDiff;
using diff::Term;

size_t DiffView::main_space() const {
  if (diff.spaces.size() == 2) return 1;  // the total is this one
  size_t best = 0;
  const auto key = [&](size_t i) {
    const SpaceDiff& space = diff.spaces[i];
    return std::pair(std::abs(space.peak_change()),
                     std::max(space.footprint_a.bytes, space.footprint_b.bytes));
  };
  for (size_t i = 1; i < diff.spaces.size(); ++i) {
    if (best == 0 || key(i) > key(best)) best = i;
  }
  return best;
}

DiffView MakeDiffView(std::string name, const explain::Picture& a, const explain::Picture& b,
                      diff::Diff diff, diff::Group group, size_t limit) {
  DiffView view{.name = std::move(name),
                .a = a,
                .b = b,
                .diff = std::move(diff),
                .group = group,
                .limit = limit,
                .causes = {}};
  view.causes = diff::AllCausesOf(view.diff, a, b, group);
  return view;
}

std::string SignedBytes(int64_t bytes) {
  return (bytes < 0 ? "-" : "+") + HumanBytes(std::abs(bytes));
}

namespace {

// What became of the largest value of a cause, if the kind of the cause says so.
std::string_view KindChange(const Cause& cause) {
  using explain::Kind;
  if (!cause.kind_a || !cause.kind_b || cause.kind_a == cause.kind_b) return {};
  if (cause.kind_a == Kind::kDonated) return "no longer donated";
  if (cause.kind_b == Kind::kDonated) return "now donated";
  if (cause.kind_b == Kind::kOutput) return "now an output";
  if (cause.kind_a == Kind::kOutput) return "no longer an output";
  return {};
}

std::string SpaceLabel(const DiffView& view, const SpaceDiff& space) {
  if (!space.space) return "all memory spaces together";
  return SpaceText(view.b.backend, *space.space);
}

}  // namespace

std::string CauseText(const Cause& cause) {
  if (cause.is_moved) return "the peak moved";
  std::string text = fmt::format("{}: {}", diff::Name(cause.main_term()), Printable(cause.name));
  if (cause.is_resize || cause.values > 1) text += " in " + CountOf(cause.values, "value");
  if (const std::string_view kind = KindChange(cause); !kind.empty())
    text += ", " + std::string(kind);
  return text;
}

std::string Headline(const DiffView& view) {
  const size_t main = view.main_space();
  const SpaceDiff& space = view.diff.spaces[main];
  // Names the memory space if there are several.
  const std::string of =
      view.diff.spaces.size() > 2 ? " of " + SpaceLabel(view, space) : std::string();
  std::string text;
  if (!view.diff.has_peak) {
    const int64_t change = space.footprint_change();
    text = fmt::format("footprint{} {} -> {}, ", of, HumanAndExactBytes(space.footprint_a.bytes),
                       HumanAndExactBytes(space.footprint_b.bytes));
    return text + (change == 0 ? "the same" : SignedBytes(change)) +
           (view.diff.is_empty() ? ": nothing differs" : "");
  }
  if (view.diff.is_empty())
    return fmt::format("peak{} {}: nothing differs", of, HumanAndExactBytes(space.a.bytes));
  const auto& causes = view.causes[main];
  if (space.peak_change() == 0) {
    text = fmt::format("peak{} {}, the same", of, HumanAndExactBytes(space.a.bytes));
    if (space.footprint_change() != 0)
      text += fmt::format("; footprint {}", SignedBytes(space.footprint_change()));
    if (!causes.empty()) text += "; other values: " + CauseText(causes[0]);
    return text;
  }
  text = fmt::format("peak{} {} -> {}, {}", of, HumanAndExactBytes(space.a.bytes),
                     HumanAndExactBytes(space.b.bytes), SignedBytes(space.peak_change()));
  if (!causes.empty()) text += ": " + CauseText(causes[0]);
  return text;
}

namespace {

void AppendTerms(const SpaceDiff& space, std::string& out) {
  TextTable table({TextTable::kLeft, TextTable::kRight, TextTable::kRight});
  for (size_t i = 0; i < diff::kPeakTerms; ++i) {
    if (space.terms[i] == 0) continue;
    table.Add({"  " + std::string(diff::Name(static_cast<Term>(i))), SignedBytes(space.terms[i]),
               fmt::format("{:+}", space.terms[i])});
  }
  table.Add({"  = change in the peak", SignedBytes(space.peak_change()),
             fmt::format("{:+}", space.peak_change())});
  table.Append(out);
}

// "f32[8,128] -> f32[16,128]  fusion.3 -> fusion.7"
std::string ChangeText(const DiffView& view, const diff::Change& change, size_t width) {
  const auto shape = [](const explain::Picture& picture, report::ValueId id) {
    const std::string_view text = picture.report->values[id].shape;
    return std::string(text.starts_with('(') ? "tuple" : text.substr(0, text.find('{')));
  };
  const auto both = [](const std::string& a, const std::string& b) {
    return a == b || b.empty() ? a : (a.empty() ? b : a + " -> " + b);
  };
  std::string shape_a;
  std::string shape_b;
  std::string name_a;
  std::string name_b;
  if (!change.a.is_none()) {
    shape_a = shape(view.a, change.a);
    name_a = explain::ValueName(*view.a.report, change.a);
  }
  if (!change.b.is_none()) {
    shape_b = shape(view.b, change.b);
    name_b = explain::ValueName(*view.b.report, change.b);
  }
  const std::string shapes = both(shape_a, shape_b);
  const std::string names = both(name_a, name_b);
  return Shortened(Printable(shapes.empty() ? names : shapes + "  " + names), width);
}

std::string TermsText(const diff::Terms& terms) {
  std::string text;
  for (size_t i = 0; i < diff::kTerms; ++i) {
    if (terms[i] == 0) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", diff::Name(static_cast<Term>(i)), SignedBytes(terms[i]));
  }
  return text;
}

void AppendCause(const DiffView& view, const SpaceDiff& space, const Cause& cause, size_t number,
                 std::string& out) {
  out += fmt::format("{:>3} {:>11}  {}\n", number, SignedBytes(cause.bytes),
                     Shortened(CauseText(cause), 62));
  if (std::ranges::count_if(cause.terms, [](int64_t b) { return b != 0; }) > 1)
    AppendParagraph(TermsText(cause.terms), 17, out);
  constexpr size_t kParts = 3;
  for (size_t i = 0; i < std::min(kParts, cause.parts.size()); ++i) {
    const diff::CausePart& part = cause.parts[i];
    // If all of it is in one place, the name already says so.
    const bool is_named = cause.is_resize || cause.parts.size() > 1;
    if (is_named)
      out += fmt::format("{:>17}{:>11}  {}\n", "", SignedBytes(part.bytes),
                         Shortened(Printable(part.place), 49));
    const size_t indent = is_named ? 30 : 17;
    out += fmt::format("{:>{}}{}\n", "", indent,
                       ChangeText(view, space.changes[part.largest], 80 - indent));
  }
  if (cause.parts.size() > kParts)
    out += fmt::format("{:>17}and at {} other places\n", "", cause.parts.size() - kParts);
}

void AppendDiffCauses(const DiffView& view, const SpaceDiff& space,
                      const std::vector<Cause>& causes, std::string& out) {
  const size_t limit = view.limit == 0 ? causes.size() : view.limit;
  size_t number = 0;
  size_t hidden = 0;
  int64_t rest = 0;
  for (const Cause& cause : causes) {
    if (cause.is_moved) continue;
    if (number < limit) {
      AppendCause(view, space, cause, ++number, out);
    } else {
      rest += cause.bytes;
      ++hidden;
    }
  }
  if (hidden != 0)
    out += fmt::format("    {:>11}  {} ({} shows all)\n", SignedBytes(rest),
                       CountOf(static_cast<int64_t>(hidden), "smaller one"),
                       view.speech == Speech::kPython ? "limit=0" : "--top=0");
  if (!causes.empty() && causes.back().is_moved)
    out += fmt::format("    {:>11}  the peak moved\n", SignedBytes(causes.back().bytes));
}

void AppendMoments(const DiffView& view, const SpaceDiff& space, std::string& out) {
  out += fmt::format("  A at {}{}\n", TimeText(view.a, space.time_a),
                     space.is_at_b ? ", the same moment" : ", its peak");
  out += fmt::format("  B at {}{}\n", TimeText(view.b, space.time_b),
                     space.is_at_b ? ", its peak" : ", the same moment");
}

bool Differs(const SpaceDiff& space) {
  return !space.changes.empty() || space.peak_change() != 0 || space.footprint_change() != 0 ||
         std::ranges::any_of(space.terms, [](int64_t bytes) { return bytes != 0; });
}

void AppendSpace(const DiffView& view, size_t index, std::string& out) {
  const SpaceDiff& space = view.diff.spaces[index];
  if (view.diff.spaces.size() > 2) {
    out += fmt::format("\n{}: peak {} -> {}\n", SpaceLabel(view, space),
                       HumanAndExactBytes(space.a.bytes), HumanAndExactBytes(space.b.bytes));
  } else {
    out += "\nThe moments compared\n";
  }
  AppendMoments(view, space, out);
  if (space.peak_change() == 0 && space.changes.empty()) return;
  out += "\nThe change in the peak\n";
  AppendTerms(space, out);
  if (view.causes[index].empty()) return;
  out += view.group == diff::Group::kCause
             ? "\nCauses, largest first\n"
             : fmt::format("\nBy {}, largest first\n", diff::Name(view.group));
  AppendDiffCauses(view, space, view.causes[index], out);
}

struct DiffRow {
  std::string name;
  int64_t a = 0;
  int64_t b = 0;
};

void AppendRows(const std::vector<DiffRow>& rows, std::string& out) {
  TextTable table({TextTable::kLeft, TextTable::kRight, TextTable::kRight, TextTable::kRight,
                   TextTable::kRight});
  for (const DiffRow& row : rows) {
    const bool is_same = row.a == row.b;
    table.Add({"  " + row.name, HumanBytes(row.a), HumanBytes(row.b),
               is_same ? "=" : SignedBytes(row.b - row.a),
               is_same ? "" : fmt::format("{:+}", row.b - row.a)});
  }
  table.Append(out);
}

// The total, and each memory space when there are several.
void AppendTotals(const DiffView& view, std::string& out) {
  const SpaceDiff& all = view.diff.spaces[0];
  if (view.diff.has_peak) {
    std::vector<DiffRow> rows;
    rows.reserve(view.diff.kinds.size() + 1);
    for (const diff::KindTotal& kind : view.diff.kinds)
      rows.push_back({std::string(kind.name), kind.a, kind.b});
    rows.push_back({"= peak", all.a.bytes, all.b.bytes});
    out += "\nLive at the peak of each, by kind\n";
    AppendRows(rows, out);
  }
  std::vector<DiffRow> rows;
  for (const diff::Total& total : view.diff.totals) {
    std::string name(diff::Name(total.use));
    if (view.diff.spaces.size() > 2) name = fmt::format("S({}) {}", total.space, name);
    rows.push_back({std::move(name), total.a, total.b});
  }
  rows.push_back({"= footprint", all.footprint_a.bytes, all.footprint_b.bytes});
  out += "\nAllocated, by kind of allocation\n";
  AppendRows(rows, out);
  if (!view.diff.has_peak) return;
  rows = {{"live at the peak", all.footprint_a.live, all.footprint_b.live},
          {"dead at that moment", all.footprint_a.dead, all.footprint_b.dead},
          {"fragmentation", all.footprint_a.fragmentation, all.footprint_b.fragmentation},
          {"alignment", all.footprint_a.alignment, all.footprint_b.alignment},
          {"without a live range", all.footprint_a.untimed, all.footprint_b.untimed},
          {"thread-local", all.footprint_a.thread_local_bytes, all.footprint_b.thread_local_bytes}};
  std::erase_if(rows, [](const DiffRow& row) { return row.a == 0 && row.b == 0; });
  rows.push_back({"= footprint", all.footprint_a.bytes, all.footprint_b.bytes});
  out += "\nAllocated, by what it is at the peak\n";
  AppendRows(rows, out);
}

void AppendCounts(const diff::Counts& counts, std::string& out) {
  std::string text = fmt::format("\nValues: {} in both", counts.pairs);
  if (counts.resized != 0) text += fmt::format(" ({} with a different size)", counts.resized);
  if (counts.other_space != 0)
    text += fmt::format(" ({} in a different memory space)", counts.other_space);
  text += fmt::format(", {} only in A, {} only in B.\n", counts.only_a, counts.only_b);
  out += text;
}

// What is known about one of them and not about the other.
void AppendUnknown(std::string_view name, const explain::Picture& picture,
                   const explain::Picture& other, std::string& out) {
  for (const std::string& sentence : picture.unknown) {
    if (std::ranges::find(other.unknown, sentence) == other.unknown.end())
      AppendParagraph(fmt::format("{}: {}", name, sentence), 0, out);
  }
}

}  // namespace

std::string DiffPage(const DiffView& view) {
  std::string out = Headline(view) + "\n";
  if (view.diff.is_empty()) return out;
  if (view.diff.has_peak) {
    const size_t main = view.main_space();
    AppendSpace(view, main, out);
    for (size_t i = 1; i < view.diff.spaces.size(); ++i) {
      if (i != main && Differs(view.diff.spaces[i])) AppendSpace(view, i, out);
    }
  } else {
    out += "\nThe peaks are not known: one side has no live ranges.\n";
  }
  AppendTotals(view, out);
  AppendCounts(view.diff.counts, out);
  AppendUnknown("A", view.a, view.b, out);
  AppendUnknown("B", view.b, view.a, out);
  return out;
}

std::string MarkdownCell(std::string_view text) {
  std::string out;
  for (const char c : Printable(text)) {
    if (c == '|' || c == '<' || c == '*' || c == '_' || c == '`' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string DiffMarkdown(const DiffView& view) {
  std::string out =
      fmt::format("**{}**: {}\n", MarkdownCell(view.name), MarkdownCell(Headline(view)));
  if (view.diff.is_empty() || !view.diff.has_peak) return out;
  for (size_t i = 1; i < view.diff.spaces.size(); ++i) {
    const SpaceDiff& space = view.diff.spaces[i];
    if (space.changes.empty() && space.peak_change() == 0) continue;
    out += fmt::format("\n{}: {}\n\n| change | bytes | cause | made of |\n|--:|--:|---|---|\n",
                       MarkdownCell(SpaceLabel(view, space)), SignedBytes(space.peak_change()));
    const std::vector<Cause>& causes = view.causes[i];
    const size_t limit = view.limit == 0 ? causes.size() : view.limit;
    size_t shown = 0;
    int64_t rest = 0;
    for (const Cause& cause : causes) {
      if (!cause.is_moved && shown++ >= limit) {
        rest += cause.bytes;
        continue;
      }
      out += fmt::format("| {} | {:+} | {} | {} |\n", SignedBytes(cause.bytes), cause.bytes,
                         MarkdownCell(CauseText(cause)), MarkdownCell(TermsText(cause.terms)));
    }
    if (shown > limit)
      out += fmt::format("| {} | {:+} | {} | |\n", SignedBytes(rest), rest,
                         CountOf(static_cast<int64_t>(shown - limit), "smaller one"));
    out += fmt::format("| **{}** | **{:+}** | **the peak** | |\n", SignedBytes(space.peak_change()),
                       space.peak_change());
  }
  return out;
}

}  // namespace stowplan::page
