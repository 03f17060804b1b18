// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "base/stable_sort.h"
#include "page/explain_view.h"
#include "page/gate_view.h"
#include "page/text.h"

namespace stowplan::page {

using gate::Outcome;
using gate::Rule;

int64_t GateView::breaches() const {
  return std::ranges::count_if(
      rows, [](const GateRow& row) { return gate::IsBreach(row.verdict.outcome); });
}

namespace {

// "1.50GiB (1610612736) is more than the budget of 1.00GiB (1073741824), by 512.00MiB"
std::string GateSentence(const GateRow& row) {
  const gate::Verdict& verdict = row.verdict;
  const std::string is = HumanAndExactBytes(verdict.bytes);
  const std::string limit = HumanAndExactBytes(verdict.limit);
  const std::string base = HumanAndExactBytes(verdict.base.value_or(0));
  switch (verdict.outcome) {
    case Outcome::kMissing:
      return fmt::format("{} {} is not in the lock file", row.figure, is);
    case Outcome::kNew:
      return fmt::format("{} {}, not in the base", row.figure, is);
    case Outcome::kGone:
      return fmt::format("had {}, no longer exists", base);
    case Outcome::kLess:
      return fmt::format("{} {} -> {}, {}: --update would lock it in", row.figure, base, is,
                         SignedBytes(verdict.bytes - *verdict.base));
    case Outcome::kBreach:
      if (verdict.rule == Rule::kBudget)
        return fmt::format("{} {} is over the budget of {} by {}", row.figure, is, limit,
                           HumanBytes(verdict.bytes - verdict.limit));
      return fmt::format("{} {} -> {}, {}; at most {} is allowed", row.figure, base, is,
                         SignedBytes(verdict.bytes - *verdict.base), limit);
    case Outcome::kPassed:
      break;
  }
  if (verdict.rule == Rule::kBudget)
    return fmt::format("{} {} of {}", row.figure, is, HumanBytes(verdict.limit));
  if (verdict.bytes == verdict.base) return fmt::format("{} {}, the same", row.figure, is);
  return fmt::format("{} {} -> {}, {}", row.figure, base, is,
                     SignedBytes(verdict.bytes - *verdict.base));
}

std::string Head(const GateView& view) {
  const auto all = static_cast<int64_t>(view.rows.size());
  const int64_t breaches = view.breaches();
  if (breaches == 0) return fmt::format("gate passed: {}", CountOf(all, "check"));
  return fmt::format("gate failed: {} of {}", breaches, CountOf(all, "check"));
}

// Breaches first; otherwise in the given order.
std::vector<const GateRow*> Sorted(const GateView& view) {
  std::vector<const GateRow*> rows;
  rows.reserve(view.rows.size());
  for (const GateRow& row : view.rows) rows.push_back(&row);
  StableSort(rows, [](const GateRow* a, const GateRow* b) {
    return gate::IsBreach(a->verdict.outcome) && !gate::IsBreach(b->verdict.outcome);
  });
  return rows;
}

std::string CauseLine(const diff::Cause& cause) {
  return fmt::format("{:>11}  {}", SignedBytes(cause.bytes), CauseText(cause));
}

// XML 1.0 allows no control characters, and only complete UTF-8 characters.
std::string XmlText(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      switch (byte) {
        case '<':
          out += "&lt;";
          break;
        case '>':
          out += "&gt;";
          break;
        case '&':
          out += "&amp;";
          break;
        case '"':
          out += "&quot;";
          break;
        default:
          out += byte >= 0x20 || byte == '\n' || byte == '\t' ? static_cast<char>(byte) : '?';
      }
      ++i;
      continue;
    }
    const size_t more = byte >= 0xf0 && byte < 0xf5 ? 3 : byte >= 0xe0 ? 2 : 1;
    size_t found = 0;
    while (found < more && i + found + 1 < text.size() &&
           (static_cast<unsigned char>(text[i + found + 1]) & 0xc0U) == 0x80U)
      ++found;
    // Surrogates, overlong forms and unassigned codes are rare enough to drop as well.
    const auto next = static_cast<unsigned char>(found == 0 ? 0 : text[i + 1]);
    const bool is_bad = byte < 0xc2 || byte >= 0xf5 || found != more ||
                        (byte == 0xe0 && next < 0xa0) || (byte == 0xed && next >= 0xa0) ||
                        (byte == 0xef && next >= 0xbf) || (byte == 0xf0 && next < 0x90) ||
                        (byte == 0xf4 && next >= 0x90);
    if (is_bad) {
      out += '?';
      ++i;
      continue;
    }
    out += text.substr(i, more + 1);
    i += more + 1;
  }
  return out;
}

}  // namespace

std::string GatePage(const GateView& view) {
  std::string out = Head(view) + "\n";
  for (const GateRow* row : Sorted(view)) {
    const bool is_breach = gate::IsBreach(row->verdict.outcome);
    out += fmt::format("{}  {} {}, {}:\n", is_breach ? "FAIL" : "ok  ",
                       Printable(row->verdict.module), row->space, gate::Name(row->verdict.rule));
    AppendParagraph(GateSentence(*row), 6, out);
    for (const diff::Cause& cause : row->causes) out += "      " + CauseLine(cause) + "\n";
  }
  if (!view.lock.empty()) out += "wrote " + Printable(view.lock) + "\n";
  return out;
}

std::string GateMarkdown(const GateView& view) {
  std::string out = fmt::format("**Memory {}**\n\n", Head(view));
  if (view.rows.empty()) return out;
  out += "| | module | memory space | rule | result |\n|---|---|---|---|---|\n";
  for (const GateRow* row : Sorted(view)) {
    out += fmt::format("| {} | {} | {} | {} | {} |\n",
                       gate::IsBreach(row->verdict.outcome) ? "\u274c" : "\u2705",
                       MarkdownCell(row->verdict.module), MarkdownCell(row->space),
                       gate::Name(row->verdict.rule), MarkdownCell(GateSentence(*row)));
  }
  for (const GateRow* row : Sorted(view)) {
    if (row->causes.empty()) continue;
    out += fmt::format("\nWhy {} {} changed:\n\n| bytes | cause |\n|--:|---|\n",
                       MarkdownCell(row->verdict.module), MarkdownCell(row->space));
    for (const diff::Cause& cause : row->causes)
      out += fmt::format("| {} | {} |\n", SignedBytes(cause.bytes), MarkdownCell(CauseText(cause)));
  }
  return out;
}

std::string GateJunit(const GateView& view) {
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites tests=\"{0}\" failures=\"{1}\">\n"
      "  <testsuite name=\"stowplan gate\" tests=\"{0}\" failures=\"{1}\">\n",
      view.rows.size(), view.breaches());
  for (const GateRow& row : view.rows) {
    const std::string sentence = XmlText(GateSentence(row));
    out +=
        fmt::format("    <testcase classname=\"{}\" name=\"{} {}\">\n", XmlText(row.verdict.module),
                    XmlText(row.space), gate::Name(row.verdict.rule));
    if (gate::IsBreach(row.verdict.outcome)) {
      out += fmt::format("      <failure message=\"{}\">", sentence);
      for (const diff::Cause& cause : row.causes) out += XmlText(CauseLine(cause)) + "\n";
      out += "</failure>\n";
    } else {
      out += fmt::format("      <system-out>{}</system-out>\n", sentence);
    }
    out += "    </testcase>\n";
  }
  return out + "  </testsuite>\n</testsuites>\n";
}

std::string GateJson(const GateView& view) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("schema", "stowplan.gate/1");
  json.Field("passed", view.breaches() == 0);
  // Of all checks; with several, each says its own.
  const auto is_first = [&](const GateRow& row) { return row.figure == view.rows[0].figure; };
  if (!view.rows.empty() && std::ranges::all_of(view.rows, is_first))
    json.Field("figure", std::string_view(view.rows[0].figure));
  json.Field("breaches", view.breaches());
  json.BeginArray("checks");
  for (const GateRow& row : view.rows) {
    const gate::Verdict& verdict = row.verdict;
    json.BeginObject();
    json.Field("module", std::string_view(verdict.module));
    if (verdict.space) {
      json.Field("space", *verdict.space);
    } else {
      json.Field("space", "all");
    }
    json.Field("rule", gate::Name(verdict.rule));
    json.Field("figure", std::string_view(row.figure));
    json.Field("outcome", gate::Name(verdict.outcome));
    json.Field("passed", !gate::IsBreach(verdict.outcome));
    json.Field("bytes", verdict.bytes);
    if (verdict.base) json.Field("base", *verdict.base);
    json.Field("limit", verdict.limit);
    json.BeginArray("causes");
    for (const diff::Cause& cause : row.causes) {
      json.BeginObject();
      WriteCauseJson(cause, json);
      json.End();
    }
    json.End();
    json.End();
  }
  json.End();
  json.End();
  return out + "\n";
}

}  // namespace stowplan::page
