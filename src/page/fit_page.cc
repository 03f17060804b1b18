// SPDX-License-Identifier: Apache-2.0
#include "page/fit_page.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "base/json_writer.h"
#include "page/text.h"

namespace stowplan::page {
namespace {

// How many rows the tables have at most.
constexpr size_t kMostLines = 12;

std::string CostText(double cost) {
  return cost == 0 ? "0 %" : fmt::format("+{:.1f} %", 100 * cost);
}

std::string SavedText(int64_t before, int64_t after) {
  if (before <= 0 || before == after) return "";
  return fmt::format("{:+.1f} %",
                     100 * (static_cast<double>(after) / static_cast<double>(before) - 1));
}

bool Fits(const FitFacts& facts, const FitOptions& options) {
  return !options.budget || facts.bytes <= *options.budget;
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

// The cheapest points that are no dearer than round figures.
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

struct RepeatLine {
  std::string what;
  int64_t times = 0;
  int64_t bytes = 0;
  double cost = 0;
};

// By source line, the costliest first.
std::vector<RepeatLine> RepeatLines(const FitFacts& facts) {
  std::map<std::string, RepeatLine> by_source;
  for (const FitRepeat& repeat : facts.repeats) {
    RepeatLine& line = by_source[repeat.source.empty() ? repeat.instruction : repeat.source];
    if (line.what.empty()) {
      const size_t slash = repeat.op_name.rfind('/');
      const std::string op =
          repeat.op_name.empty()
              ? repeat.instruction
              : repeat.op_name.substr(slash == std::string::npos ? 0 : slash + 1);
      line.what = repeat.source.empty() ? repeat.instruction : op + " of " + repeat.source;
    }
    line.times += repeat.times;
    line.bytes += repeat.bytes;
    line.cost += repeat.cost;
  }
  std::vector<RepeatLine> lines;
  for (auto& [source, line] : by_source) lines.push_back(std::move(line));
  std::ranges::stable_sort(lines, std::greater(), &RepeatLine::bytes);
  return lines;
}

void AppendRepeats(const FitFacts& facts, std::string& out) {
  if (facts.repeats.empty()) return;
  out += "\nComputed again, by source line:\n";
  using Align = TextTable::Align;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.Add({"", "instructions", "of", "work"});
  const std::vector<RepeatLine> lines = RepeatLines(facts);
  RepeatLine rest;
  for (size_t k = 0; k < lines.size(); ++k) {
    if (k < kMostLines) {
      table.Add({"  " + Shortened(Printable(lines[k].what), 50), std::to_string(lines[k].times),
                 HumanBytes(lines[k].bytes), CostText(lines[k].cost)});
      continue;
    }
    rest.times += lines[k].times;
    rest.bytes += lines[k].bytes;
    rest.cost += lines[k].cost;
  }
  if (lines.size() > kMostLines)
    table.Add({fmt::format("  and {} more lines", lines.size() - kMostLines),
               std::to_string(rest.times), HumanBytes(rest.bytes), CostText(rest.cost)});
  table.Append(out);
  out += "The same instructions run again, so the results are the same to the last bit.\n";
}

void AppendBound(const FitFacts& facts, std::string& out) {
  if (facts.witness.empty()) return;
  out += fmt::format(
      "\nNo order and no recomputation needs less than {}: {} for arguments and constants that "
      "stay,\nand {} while `{}` runs, which itself reads and writes {}.\n",
      HumanAndExactBytes(facts.bound), HumanBytes(facts.bound_fixed),
      HumanBytes(facts.bound - facts.bound_fixed), Printable(facts.witness),
      HumanBytes(facts.bound_own));
}

}  // namespace

std::string FitPage(const Fitted& fitted, const FitOptions& options) {
  const FitFacts& facts = fitted.facts;
  std::string out =
      fmt::format("{}: {}\n\n", Printable(fitted.planned.name), Verdict(facts, options));
  using Align = TextTable::Align;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.Add({"", "memory", "", "extra work"});
  table.Add({"as compiled", HumanAndExactBytes(facts.given_bytes), "", ""});
  if (facts.ordered_bytes < facts.given_bytes)
    table.Add({"in a better order", HumanAndExactBytes(facts.ordered_bytes),
               SavedText(facts.given_bytes, facts.ordered_bytes), "0 %"});
  if (facts.bytes < facts.ordered_bytes)
    table.Add({"with recomputation", HumanAndExactBytes(facts.bytes),
               SavedText(facts.given_bytes, facts.bytes), CostText(facts.cost)});
  table.Append(out);
  if (facts.curve.size() > 1) {
    out += "\nWhat memory costs, by the model:\n";
    AppendCurve(facts, out);
  }
  AppendRepeats(facts, out);
  AppendBound(facts, out);
  return out;
}

std::string FitJson(const Fitted& fitted, const FitOptions& options) {
  const FitFacts& facts = fitted.facts;
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("schema", "stowplan.fit/1");
  json.Field("module", std::string_view(fitted.planned.name));
  if (options.budget) json.Field("budget", *options.budget);
  json.Field("fits", Fits(facts, options));
  json.Field("given_bytes", facts.given_bytes);
  json.Field("ordered_bytes", facts.ordered_bytes);
  json.Field("bytes", facts.bytes);
  json.Field("cost", facts.cost);
  json.Field("bound", facts.bound);
  if (!facts.witness.empty()) json.Field("witness", std::string_view(facts.witness));
  json.BeginArray("curve");
  for (const FitPoint& point : facts.curve) {
    json.BeginObject();
    json.Field("cost", point.cost);
    json.Field("bytes", point.bytes);
    json.End();
  }
  json.End();
  json.BeginArray("repeats");
  for (const FitRepeat& repeat : facts.repeats) {
    json.BeginObject();
    json.Field("instruction", std::string_view(repeat.instruction));
    if (!repeat.source.empty()) json.Field("source", std::string_view(repeat.source));
    if (!repeat.op_name.empty()) json.Field("op_name", std::string_view(repeat.op_name));
    json.Field("times", repeat.times);
    json.Field("bytes", repeat.bytes);
    json.Field("cost", repeat.cost);
    json.End();
  }
  json.End();
  json.End();
  return out;
}

}  // namespace stowplan::page
