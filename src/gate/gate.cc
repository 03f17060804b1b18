// SPDX-License-Identifier: Apache-2.0
#include "gate/gate.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "base/checked_math.h"

namespace stowplan::gate {
namespace {

constexpr int64_t kMillion = 1000000;

using Key = std::pair<std::string, int64_t>;

}  // namespace

int64_t Amount::Of(int64_t base) const {
  // base * millionths / 10^6 in two parts, since the product may not fit.
  const std::optional<int64_t> whole = CheckedMultiply(base / kMillion, millionths);
  const std::optional<int64_t> rest = CheckedMultiply(base % kMillion, millionths);
  if (!whole || !rest) return INT64_MAX;
  return std::max(bytes, SaturatingAdd(*whole, *rest / kMillion));
}

std::optional<Amount> ParsePercent(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  // Digits, and at most four after the point: a number in base ten stays what it is.
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string_view part =
      point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  const auto is_digits = [](std::string_view word) {
    return std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
  };
  if (whole.empty() || whole.size() > 7 || part.size() > 4 || !is_digits(whole) || !is_digits(part))
    return std::nullopt;
  if (point != std::string_view::npos && part.empty()) return std::nullopt;
  const std::string digits =
      std::string(whole) + std::string(part) + std::string(4 - part.size(), '0');
  int64_t millionths = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), millionths);
  if (millionths > kMillion * 10000) return std::nullopt;
  return Amount{.bytes = 0, .millionths = millionths};
}

std::string_view Name(Rule rule) {
  switch (rule) {
    case Rule::kBudget:
      return "budget";
    case Rule::kGrowth:
      return "growth";
    case Rule::kLock:
      break;
  }
  return "lock";
}

std::string_view Name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed:
      return "passed";
    case Outcome::kBreach:
      return "breach";
    case Outcome::kMissing:
      return "missing";
    case Outcome::kNew:
      return "new";
    case Outcome::kLess:
      return "less";
    case Outcome::kGone:
      break;
  }
  return "gone";
}

bool IsBreach(Outcome outcome) {
  return outcome == Outcome::kBreach || outcome == Outcome::kMissing;
}

std::vector<Verdict> CheckBudgets(const std::vector<Figure>& figures,
                                  const std::vector<Budget>& budgets) {
  std::vector<Verdict> verdicts;
  for (const Figure& figure : figures) {
    for (const Budget& budget : budgets) {
      const bool is_meant =
          budget.of == Budget::Of::kAll
              ? !figure.space
              : figure.space && (budget.of == Budget::Of::kEach || *figure.space == budget.space);
      if (!is_meant) continue;
      verdicts.push_back(
          {.rule = Rule::kBudget,
           .outcome = figure.bytes > budget.bytes ? Outcome::kBreach : Outcome::kPassed,
           .module = figure.module,
           .space = figure.space,
           .bytes = figure.bytes,
           .base = std::nullopt,
           .limit = budget.bytes});
    }
  }
  return verdicts;
}

std::vector<Verdict> CheckGrowth(const std::vector<Figure>& base,
                                 const std::vector<Figure>& figures, const Growth& growth,
                                 Rule rule) {
  std::map<Key, int64_t> bases;
  std::map<std::string, bool> modules;  // of the base: is it there?
  for (const Figure& figure : base) {
    if (!figure.space) continue;
    bases[{figure.module, *figure.space}] = figure.bytes;
    modules[figure.module] = false;
  }
  std::vector<Verdict> verdicts;
  for (const Figure& figure : figures) {
    if (!figure.space) continue;
    Verdict verdict{.rule = rule,
                    .outcome = Outcome::kPassed,
                    .module = figure.module,
                    .space = figure.space,
                    .bytes = figure.bytes,
                    .base = std::nullopt,
                    .limit = 0};
    const auto module = modules.find(figure.module);
    if (module == modules.end()) {
      verdict.outcome = rule == Rule::kLock ? Outcome::kMissing : Outcome::kNew;
      verdicts.push_back(std::move(verdict));
      continue;
    }
    module->second = true;
    const auto row = bases.find({figure.module, *figure.space});
    // A memory space that a known module did not use had nothing in it.
    const int64_t was = row == bases.end() ? 0 : row->second;
    if (row != bases.end()) bases.erase(row);
    const int64_t tolerance = growth.tolerance.Of(was);
    verdict.base = was;
    verdict.limit = SaturatingAdd(was, std::max(growth.most.Of(was), tolerance));
    if (figure.bytes > verdict.limit) {
      verdict.outcome = Outcome::kBreach;
    } else if (rule == Rule::kLock && was - figure.bytes > tolerance) {
      verdict.outcome = Outcome::kLess;
    }
    verdicts.push_back(std::move(verdict));
  }
  for (const auto& [key, bytes] : bases) {
    if (modules[key.first] && rule != Rule::kLock) continue;  // the space is empty now
    verdicts.push_back({.rule = rule,
                        .outcome = Outcome::kGone,
                        .module = key.first,
                        .space = key.second,
                        .bytes = 0,
                        .base = bytes,
                        .limit = bytes});
  }
  return verdicts;
}

}  // namespace stowplan::gate
