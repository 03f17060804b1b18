// SPDX-License-Identifier: Apache-2.0
#include "check/linear.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace stowplan::check {
namespace {

// Products of two numbers below this, and sums of many of them, fit in 128 bits.
constexpr int64_t kLargest = int64_t{1} << 56U;

__extension__ using Wide = __int128;

struct WideInterval {
  Wide low = 0;
  Wide high = 0;
};

WideInterval Scaled(const Interval& range, int64_t factor) {
  const Wide a = static_cast<Wide>(range.low) * factor;
  const Wide b = static_cast<Wide>(range.high) * factor;
  return {std::min(a, b), std::max(a, b)};
}

WideInterval Sum(const Expr& expr, std::span<const Interval> ranges) {
  WideInterval sum = {expr.constant, expr.constant};
  for (const auto& [var, factor] : expr.terms) {
    const WideInterval term = Scaled(ranges[var], factor);
    sum.low += term.low;
    sum.high += term.high;
  }
  return sum;
}

Wide FloorDivide(Wide a, Wide b) {
  const Wide quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
Wide CeilingDivide(Wide a, Wide b) { return -FloorDivide(-a, b); }

int64_t Clamped(Wide a) {
  return static_cast<int64_t>(std::clamp<Wide>(a, std::numeric_limits<int64_t>::min(),
                                               std::numeric_limits<int64_t>::max()));
}

// Divides by the greatest common factor of the coefficients; the first becomes positive. False when
// no multiple of it is in reach.
bool Normalize(Constraint& constraint) {
  Expr& expr = constraint.expr;
  Wide low = static_cast<Wide>(constraint.range.low) - expr.constant;
  Wide high = static_cast<Wide>(constraint.range.high) - expr.constant;
  expr.constant = 0;
  if (expr.terms.empty()) return low <= 0 && high >= 0;
  int64_t divisor = 0;
  for (const auto& [var, factor] : expr.terms) divisor = std::gcd(divisor, factor);
  if (expr.terms[0].second < 0) divisor = -divisor;
  for (auto& [var, factor] : expr.terms) factor /= divisor;
  if (divisor < 0) std::swap(low, high);
  constraint.range = {Clamped(CeilingDivide(low, divisor)), Clamped(FloorDivide(high, divisor))};
  return constraint.range.low <= constraint.range.high;
}

}  // namespace

void Expr::Add(const Expr& other, int64_t factor) {
  is_too_large = is_too_large || other.is_too_large;
  const auto add = [&](int64_t& to, int64_t what) {
    int64_t product = 0;
    if (__builtin_mul_overflow(what, factor, &product) ||
        __builtin_add_overflow(to, product, &to) || to >= kLargest || to <= -kLargest) {
      is_too_large = true;
      to = 0;
    }
  };
  add(constant, other.constant);
  for (const auto& [var, amount] : other.terms) {
    auto at = std::ranges::lower_bound(terms, var, {}, &std::pair<Var, int64_t>::first);
    if (at == terms.end() || at->first != var) at = terms.insert(at, {var, 0});
    add(at->second, amount);
    if (at->second == 0) terms.erase(at);
  }
}

Interval RangeOf(const Expr& expr, std::span<const Interval> ranges) {
  if (expr.is_too_large)
    return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  const WideInterval sum = Sum(expr, ranges);
  return {Clamped(sum.low), Clamped(sum.high)};
}

LinearSystem::Step LinearSystem::Narrow(const Constraint& constraint,
                                        std::vector<Interval>& ranges) {
  const WideInterval sum = Sum(constraint.expr, ranges);
  const Wide low = constraint.range.low;
  const Wide high = constraint.range.high;
  if (sum.high < low || sum.low > high) return Step::kEmpty;
  if (sum.low >= low && sum.high <= high) return Step::kSame;
  Step step = Step::kSame;
  for (const auto& [var, factor] : constraint.expr.terms) {
    Interval& range = ranges[var];
    const WideInterval term = Scaled(range, factor);
    // What is left for this term when the others take as much, or as little, as they can.
    const Wide least = low - (sum.high - term.high);
    const Wide most = high - (sum.low - term.low);
    const Wide from = factor > 0 ? CeilingDivide(least, factor) : CeilingDivide(most, factor);
    const Wide to = factor > 0 ? FloorDivide(most, factor) : FloorDivide(least, factor);
    if (from <= range.low && to >= range.high) continue;
    range = {Clamped(std::max<Wide>(from, range.low)), Clamped(std::min<Wide>(to, range.high))};
    if (range.low > range.high) return Step::kEmpty;
    // The sums are those of wider ranges: correct, and made narrower in the next round.
    step = Step::kNarrowed;
  }
  return step;
}

bool LinearSystem::Propagate(Node& node, int64_t& effort) const {
  // Two constraints may narrow each other by one forever; halving is faster then.
  constexpr int kRounds = 32;
  bool is_empty = false;
  bool is_narrowed = true;
  const auto narrow = [&](const Constraint& constraint) {
    --effort;
    const Step step = Narrow(constraint, node.ranges);
    is_narrowed = is_narrowed || step == Step::kNarrowed;
    is_empty = is_empty || step == Step::kEmpty;
  };
  for (int round = 0; round < kRounds && is_narrowed && !is_empty && effort >= 0; ++round) {
    is_narrowed = false;
    for (const Constraint& constraint : constraints_) narrow(constraint);
    for (const Constraint& constraint : node.constraints) narrow(constraint);
  }
  return !is_empty;
}

bool LinearSystem::Split(Node& node, std::vector<Node>& stack) const {
  for (; node.box < excluded_.size(); ++node.box) {
    const std::vector<Constraint>& box = excluded_[node.box];
    const bool is_outside = std::ranges::any_of(box, [&](const Constraint& side) {
      const WideInterval sum = Sum(side.expr, node.ranges);
      return sum.high < side.range.low || sum.low > side.range.high;
    });
    if (is_outside) continue;
    for (const Constraint& side : box) {
      for (const Interval range :
           {Interval{-kLargest, side.range.low - 1}, Interval{side.range.high + 1, kLargest}}) {
        Node part = node;
        part.constraints.push_back({side.expr, range});
        ++part.box;
        stack.push_back(std::move(part));
      }
    }
    return true;
  }
  size_t best = node.ranges.size();
  const auto width = [&](size_t v) { return node.ranges[v].high - node.ranges[v].low; };
  for (size_t v = 0; v < node.ranges.size(); ++v) {
    if (width(v) > 0 && (best == node.ranges.size() || width(v) < width(best))) best = v;
  }
  if (best == node.ranges.size()) return false;
  const int64_t middle = node.ranges[best].low + width(best) / 2;
  Node upper = node;
  upper.ranges[best].low = middle + 1;
  node.ranges[best].high = middle;
  // The half nearer to 0 is on top: small numbers make the better example.
  if (middle >= 0) std::swap(node, upper);
  stack.push_back(std::move(node));
  stack.push_back(std::move(upper));
  return true;
}

bool LinearSystem::Merge() {
  std::map<std::vector<std::pair<Var, int64_t>>, Interval> ranges;
  for (Constraint& constraint : constraints_) {
    if (!Normalize(constraint)) return false;
    if (constraint.expr.terms.empty()) continue;
    const auto [row, is_new] =
        ranges.try_emplace(std::move(constraint.expr.terms), constraint.range);
    if (is_new) continue;
    Interval& range = row->second;
    range = {std::max(range.low, constraint.range.low),
             std::min(range.high, constraint.range.high)};
    if (range.low > range.high) return false;
  }
  constraints_.clear();
  for (const auto& [terms, range] : ranges) constraints_.push_back({{0, terms}, range});
  return true;
}

void LinearSystem::Substitute(Var var, const Expr& expr) {
  const auto substitute = [&](Constraint& constraint) {
    std::vector<std::pair<Var, int64_t>>& terms = constraint.expr.terms;
    const auto at = std::ranges::find(terms, var, &std::pair<Var, int64_t>::first);
    if (at == terms.end()) return;
    const int64_t factor = at->second;
    terms.erase(at);
    constraint.expr.Add(expr, factor);
  };
  std::ranges::for_each(constraints_, substitute);
  for (std::vector<Constraint>& box : excluded_) std::ranges::for_each(box, substitute);
  constraints_.push_back({expr, ranges_[var]});
  ranges_[var] = {};
  substituted_.emplace_back(var, expr);
}

bool LinearSystem::IsTooLarge() const {
  const auto is_too_large = [](const Constraint& constraint) {
    return constraint.expr.is_too_large;
  };
  return std::ranges::any_of(constraints_, is_too_large) ||
         std::ranges::any_of(
             excluded_, [&](const auto& box) { return std::ranges::any_of(box, is_too_large); });
}

bool LinearSystem::Simplify() {
  for (;;) {
    if (!Merge()) return false;
    // An equation that says what a variable is: the shortest, so that the others stay short.
    const Constraint* best = nullptr;
    const auto is_unit = [](const auto& term) { return term.second == 1 || term.second == -1; };
    for (const Constraint& constraint : constraints_) {
      if (constraint.range.low != constraint.range.high ||
          !std::ranges::any_of(constraint.expr.terms, is_unit))
        continue;
      if (best == nullptr || constraint.expr.terms.size() < best->expr.terms.size())
        best = &constraint;
    }
    if (best == nullptr) return true;
    const auto [var, factor] = *std::ranges::find_if(best->expr.terms, is_unit);
    // factor * var + rest = number
    Expr expr = Expr::Of(best->range.low).Times(factor);
    for (const auto& [other, amount] : best->expr.terms) {
      if (other != var) expr.Add(Expr::OfVar(other), -amount * factor);
    }
    constraints_.erase(constraints_.begin() + (best - constraints_.data()));
    Substitute(var, expr);
    if (IsTooLarge()) return true;
  }
}

bool LinearSystem::IsSolution(const Node& node) const {
  const auto holds = [&](const Constraint& constraint) {
    const WideInterval sum = Sum(constraint.expr, node.ranges);
    return sum.low >= constraint.range.low && sum.high <= constraint.range.high;
  };
  return std::ranges::all_of(constraints_, holds) && std::ranges::all_of(node.constraints, holds);
}

void LinearSystem::SetSolution(const Node& node) {
  std::vector<Interval> values = node.ranges;
  for (size_t k = substituted_.size(); k-- > 0;)
    values[substituted_[k].first] = RangeOf(substituted_[k].second, values);
  solution_.clear();
  for (const Interval& value : values) solution_.push_back(value.low);
}

LinearSystem::Answer LinearSystem::Solve(int64_t& effort) {
  for (const Interval& range : ranges_) {
    if (range.low > range.high) return Answer::kNo;
    if (range.low <= -kLargest || range.high >= kLargest) return Answer::kUnknown;
  }
  if (IsTooLarge()) return Answer::kUnknown;
  effort -= std::ssize(constraints_);
  if (!Simplify()) return Answer::kNo;
  if (IsTooLarge()) return Answer::kUnknown;
  std::vector<Node> stack;
  stack.push_back({.ranges = ranges_, .constraints = {}});
  while (!stack.empty()) {
    Node node = std::move(stack.back());
    stack.pop_back();
    const bool is_left = Propagate(node, effort);
    if (effort < 0) return Answer::kUnknown;
    if (!is_left || Split(node, stack) || !IsSolution(node)) continue;
    SetSolution(node);
    return Answer::kYes;
  }
  return Answer::kNo;
}

}  // namespace stowplan::check
