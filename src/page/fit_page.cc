// SPDX-License-Identifier: Apache-2.0
#include "page/fit_page.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "page/explain_view.h"
#include "page/text.h"
#include "session/fit_lines.h"

namespace stowplan::page {
namespace {

// How many rows the tables have at most.
constexpr size_t kMostLines = 12;

std::string CostText(double cost) {
  return cost == 0 ? "0 %" : fmt::format("+{:.1f} %", 100 * cost);
}

// Empty for a change of some bytes.
std::string SavedText(int64_t before, int64_t after) {
  if (before <= 0) return "";
  const double percent = 100 * (static_cast<double>(after) / static_cast<double>(before) - 1);
  return std::abs(percent) < 0.05 ? "" : fmt::format("{:+.1f} %", percent);
}

std::string Verdict(const FitFacts& facts, const FitOptions& options) {
  const std::string now =
      fmt::format("{} at {} work", HumanAndExactBytes(facts.bytes), CostText(facts.cost));
  if (!options.budget) {
    if (facts.bytes == facts.given_bytes) return "nothing that lowers its memory was found";
    return fmt::format("{} instead of {}", now, HumanBytes(facts.given_bytes));
  }
  if (Fits(facts, options)) {
    if (facts.given_bytes <= *options.budget)
      return fmt::format("fits into {} as it is: {}", HumanBytes(*options.budget),
                         HumanAndExactBytes(facts.given_bytes));
    return fmt::format("fits into {}: {} instead of {}", HumanBytes(*options.budget), now,
                       HumanBytes(facts.given_bytes));
  }
  if (*options.budget < facts.bound)
    return fmt::format("cannot fit into {}: whatever is reordered or computed again, it needs {}",
                       HumanBytes(*options.budget), HumanAndExactBytes(facts.bound));
  return fmt::format("no way to fit into {} was found: the least is {}",
                     HumanBytes(*options.budget), now);
}

// For each round figure, the point of least memory that costs no more.
std::vector<FitPoint> SomeOf(const std::vector<FitPoint>& curve) {
  constexpr double kCosts[] = {0, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.33, 0.5, 1};
  std::vector<FitPoint> some;
  for (const double cost : kCosts) {
    const auto end = std::ranges::find_if(curve, [&](const FitPoint& p) { return p.cost > cost; });
    if (end == curve.begin()) continue;
    const FitPoint& point = *std::prev(end);
    if (some.empty() || some.back().bytes != point.bytes) some.push_back(point);
  }
  return some;
}

void AppendCurve(const FitFacts& facts, std::string& out) {
  using Align = TextTable::Align;
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.Add({"extra work", "memory", "", ""});
  for (const FitPoint& point : SomeOf(facts.curve))
    table.Add({CostText(point.cost), HumanBytes(point.bytes),
               SavedText(facts.given_bytes, point.bytes), Bar(point.bytes, facts.given_bytes, 40)});
  table.Append(out);
}

// "`exp` of tfm.py:17 in layers 3 to 12"; if it is too long, the operations are shortened first.
std::string LineWords(const FitLine& line) {
  constexpr size_t kWidth = 60;
  constexpr size_t kLeastWidth = 12;
  std::string place;
  if (!line.source.empty()) place += " of " + line.source;
  if (!line.parts.empty()) place += " in " + line.parts;
  place = Printable(place);
  const size_t taken = std::min(TextWidth(place) + 2, kWidth - kLeastWidth);
  const std::string operations = Shortened(Printable(line.operations), kWidth - taken);
  return Shortened("`" + operations + "`" + place, kWidth);
}

void AppendLines(const FitFacts& facts, std::string& out) {
  if (facts.repeats.empty()) return;
  out += "\nComputed again, by source line:\n";
  using Align = TextTable::Align;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.Add({"", "instructions", "frees", "work"});
  const std::vector<FitLine> lines = LinesOf(facts.repeats);
  FitLine rest;
  for (size_t k = 0; k < lines.size(); ++k) {
    if (k < kMostLines) {
      table.Add({"  " + LineWords(lines[k]), std::to_string(lines[k].instructions),
                 HumanBytes(lines[k].freed), CostText(lines[k].cost)});
      continue;
    }
    rest.instructions += lines[k].instructions;
    rest.freed += lines[k].freed;
    rest.cost += lines[k].cost;
  }
  if (lines.size() > kMostLines)
    table.Add({fmt::format("  and {} more lines", lines.size() - kMostLines),
               std::to_string(rest.instructions), HumanBytes(rest.freed), CostText(rest.cost)});
  table.Append(out);
  out += "The same instructions run again, so the results are the same to the last bit.\n";
  if (std::ranges::any_of(lines, &FitLine::is_in_loop))
    AppendParagraph(
        "Loops that hand on less also write and read less, so the whole can be less work than its "
        "parts.",
        0, out);
}

void AppendObstacles(const FitFacts& facts, std::string& out) {
  if (facts.obstacles.empty()) return;
  out += fmt::format("\nWhat stands in the way of less: memory is fullest when `{}` runs\n",
                     Printable(facts.fullest));
  using Align = TextTable::Align;
  TextTable table({Align::kRight, Align::kLeft, Align::kLeft});
  for (const FitObstacle& obstacle : facts.obstacles) {
    std::string most;
    if (!obstacle.largest.empty()) {
      const std::string name = Printable(obstacle.largest);
      most = "most: " + (obstacle.source.empty()
                             ? Shortened(name, 36)
                             : fmt::format("{} ({})", obstacle.source, Shortened(name, 18)));
    }
    table.Add({"  " + HumanBytes(obstacle.bytes), std::string(obstacle.words), Printable(most)});
  }
  table.Append(out);
}

void AppendDonation(const FitFacts& facts, std::string& out) {
  if (facts.donated.empty()) return;
  out += '\n';
  AppendParagraph(
      fmt::format("Donated: {}. The caller may not use these arrays after the call; in JAX: {}",
                  Printable(DonatedNames(facts)), Printable(facts.donation_spelling)),
      0, out);
}

void AppendBound(const FitFacts& facts, std::string& out) {
  if (facts.witness.empty()) return;
  out += '\n';
  AppendParagraph(
      fmt::format(
          "No order and no recomputation needs less than {}: {} for arguments and constants "
          "that stay, and {} while `{}` runs, which itself reads and writes {}.",
          HumanAndExactBytes(facts.bound), HumanBytes(facts.bound_fixed),
          HumanBytes(facts.bound - facts.bound_fixed), Printable(facts.witness),
          HumanBytes(facts.bound_own)),
      0, out);
}

}  // namespace

bool Fits(const FitFacts& facts, const FitOptions& options) {
  return !options.budget || facts.bytes <= *options.budget;
}

std::string DonatedNames(const FitFacts& facts) {
  std::string names;
  for (const FitDonation& donation : facts.donated) {
    if (!names.empty()) names += ", ";
    names += donation.name.empty() ? fmt::format("parameter {}", donation.parameters.at(0))
                                   : donation.name;
  }
  return names;
}

std::string FitPage(const Fitted& fitted, const FitOptions& options) {
  const FitFacts& facts = fitted.facts;
  std::string out =
      fmt::format("{}: {}\n\n", Printable(fitted.planned.name), Verdict(facts, options));
  using Align = TextTable::Align;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.Add({"", "memory", "", "extra work"});
  table.Add({"as compiled", HumanAndExactBytes(facts.given_bytes), "", ""});
  if (!facts.donated.empty())
    table.Add({"with donation", HumanAndExactBytes(facts.donated_bytes),
               SavedText(facts.given_bytes, facts.donated_bytes), "0 %"});
  const int64_t before_order = facts.donated.empty() ? facts.given_bytes : facts.donated_bytes;
  const bool is_last = facts.bytes == facts.ordered_bytes;
  const bool is_worth_a_row = is_last || !SavedText(before_order, facts.ordered_bytes).empty();
  if (facts.ordered_bytes < before_order && is_worth_a_row)
    table.Add({"in a better order", HumanAndExactBytes(facts.ordered_bytes),
               SavedText(facts.given_bytes, facts.ordered_bytes), "0 %"});
  if (facts.bytes < facts.ordered_bytes)
    table.Add({"with recomputation", HumanAndExactBytes(facts.bytes),
               SavedText(facts.given_bytes, facts.bytes), CostText(facts.cost)});
  table.Append(out);
  if (facts.curve.size() > 1) {
    out += fmt::format("\nWhat memory costs, by the model ({}):\n",
                       facts.machine.empty() ? "plain" : facts.machine);
    AppendCurve(facts, out);
  }
  AppendLines(facts, out);
  AppendDonation(facts, out);
  AppendObstacles(facts, out);
  AppendBound(facts, out);
  return out;
}

}  // namespace stowplan::page
