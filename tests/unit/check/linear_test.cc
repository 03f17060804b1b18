// SPDX-License-Identifier: Apache-2.0
#include "check/linear.h"

#include <random>

#include <gtest/gtest.h>

namespace stowplan::check {
namespace {

using Answer = LinearSystem::Answer;

Expr Sum(std::initializer_list<std::pair<Var, int64_t>> terms, int64_t constant = 0) {
  Expr sum = Expr::Of(constant);
  for (const auto& [var, factor] : terms) sum.Add(Expr::OfVar(var), factor);
  return sum;
}

Answer Solve(LinearSystem system, int64_t effort = 100'000) { return system.Solve(effort); }

TEST(Linear, ExpressionsAddUp) {
  Expr sum = Sum({{3, 2}, {1, 5}}, 7);
  sum.Add(Sum({{1, 5}, {2, 1}}, 1), -1);
  EXPECT_EQ(sum, Sum({{2, -1}, {3, 2}}, 6));
  EXPECT_TRUE(Expr::Of(int64_t{1} << 50).Times(int64_t{1} << 50).is_too_large);
}

TEST(Linear, DigitsOfANumberAreUnique) {
  // 768 a + b = 768 (a + d) + (b + e), and not both d and e are 0.
  LinearSystem system;
  const Var a = system.Add({0, 95});
  const Var b = system.Add({0, 767});
  const Var d = system.Add({-95, 95});
  const Var e = system.Add({-767, 767});
  system.Require(Sum({{a, 1}, {d, 1}}), {0, 95});
  system.Require(Sum({{b, 1}, {e, 1}}), {0, 767});
  system.Require(Sum({{d, 768}, {e, 1}}), {0, 0});
  EXPECT_EQ(Solve(system), Answer::kYes);
  for (const Var other : {d, e}) {
    LinearSystem above = system;
    above.Require(Expr::OfVar(other), {1, 1000});
    EXPECT_EQ(Solve(above), Answer::kNo);
  }
  // One more column than a row has.
  LinearSystem wide = system;
  const Var f = wide.Add({-1, 1});
  wide.Require(Sum({{d, 768}, {e, 1}, {f, 1}}), {0, 0});
  wide.Require(Expr::OfVar(d), {1, 95});
  EXPECT_EQ(Solve(wide), Answer::kNo);  // e is fixed by the first equation
}

TEST(Linear, EvenNumbersAreNotOdd) {
  LinearSystem system;
  const Var x = system.Add({0, 1'000'000'000});
  const Var y = system.Add({0, 1'000'000'000});
  system.Require(Sum({{x, 2}, {y, -2}}), {1, 1});
  EXPECT_EQ(Solve(system), Answer::kNo);
}

TEST(Linear, WhatDoesNotFitIsUnknown) {
  LinearSystem system;
  const Var x = system.Add({0, 10});
  system.Require(Expr::OfVar(x).Times(int64_t{1} << 55).Times(int64_t{1} << 55), {0, 0});
  EXPECT_EQ(Solve(system), Answer::kUnknown);
  LinearSystem wide;
  wide.Add({0, int64_t{1} << 60});
  EXPECT_EQ(Solve(wide), Answer::kUnknown);
}

TEST(Linear, NoEffortIsUnknown) {
  LinearSystem system;
  const Var x = system.Add({0, 100});
  const Var y = system.Add({0, 100});
  system.Require(Sum({{x, 7}, {y, -5}}), {3, 3});
  EXPECT_EQ(Solve(system, 0), Answer::kUnknown);
  EXPECT_EQ(Solve(system), Answer::kYes);
}

TEST(Linear, ExcludedBoxes) {
  LinearSystem system;
  const Var x = system.Add({0, 1'000'000});
  const Var y = system.Add({0, 1'000'000});
  system.Exclude({{Expr::OfVar(x), {0, 999'999}}, {Expr::OfVar(y), {0, 999'999}}});
  LinearSystem corner = system;
  int64_t effort = 10'000;
  ASSERT_EQ(corner.Solve(effort), Answer::kYes);
  EXPECT_TRUE(corner.solution()[0] == 1'000'000 || corner.solution()[1] == 1'000'000);
  system.Exclude({{Expr::OfVar(x), {1'000'000, 1'000'000}}});
  system.Exclude({{Expr::OfVar(y), {1'000'000, 1'000'000}}});
  EXPECT_EQ(Solve(system), Answer::kNo);
}

// Small systems, against trying all numbers.
TEST(Linear, AgreesWithEnumeration) {
  std::mt19937 random(7);
  const auto draw = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  int yes = 0;
  for (int round = 0; round < 4000; ++round) {
    LinearSystem system;
    std::vector<int64_t> sizes;
    for (int v = draw(1, 4); v > 0; --v) {
      sizes.push_back(draw(1, 5));
      system.Add({0, sizes.back() - 1});
    }
    const auto expr = [&] {
      Expr sum = Expr::Of(draw(-4, 4));
      for (size_t v = 0; v < sizes.size(); ++v)
        sum.Add(Expr::OfVar(static_cast<Var>(v)), draw(-6, 6));
      return sum;
    };
    std::vector<Constraint> constraints;
    for (int c = draw(1, 3); c > 0; --c) {
      const int low = draw(-3, 3);
      constraints.push_back({expr(), {low, low + draw(0, 2)}});
      system.Require(constraints.back().expr, constraints.back().range);
    }
    std::vector<Constraint> box;
    if (draw(0, 1) == 1) {
      for (int s = draw(1, 2); s > 0; --s) box.push_back({expr(), {draw(-9, 0), draw(0, 9)}});
      system.Exclude(box);
    }
    const auto holds = [](const Constraint& constraint, const std::vector<int64_t>& values) {
      int64_t sum = constraint.expr.constant;
      for (const auto& [var, factor] : constraint.expr.terms) sum += factor * values[var];
      return sum >= constraint.range.low && sum <= constraint.range.high;
    };
    const auto is_solution = [&](const std::vector<int64_t>& values) {
      bool is_inside = !box.empty();
      for (const Constraint& side : box) is_inside = is_inside && holds(side, values);
      bool is_good = !is_inside;
      for (const Constraint& c : constraints) is_good = is_good && holds(c, values);
      for (size_t v = 0; v < sizes.size(); ++v)
        is_good = is_good && values[v] >= 0 && values[v] < sizes[v];
      return is_good;
    };
    bool is_any = false;
    std::vector<int64_t> values(sizes.size(), 0);
    for (;;) {
      is_any = is_any || is_solution(values);
      size_t v = 0;
      while (v < values.size() && ++values[v] == sizes[v]) values[v++] = 0;
      if (v == values.size()) break;
    }
    int64_t effort = 100'000;
    ASSERT_EQ(system.Solve(effort), is_any ? Answer::kYes : Answer::kNo) << round;
    if (is_any) {
      ASSERT_TRUE(is_solution(system.solution())) << round;
    }
    yes += is_any ? 1 : 0;
  }
  EXPECT_GT(yes, 500);
  EXPECT_LT(yes, 3500);
}

}  // namespace
}  // namespace stowplan::check
