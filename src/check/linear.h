// SPDX-License-Identifier: Apache-2.0
// Integers that satisfy linear constraints: which elements of an array are read for which elements
// of another is such a question.
//
//     0 <= x < 64,  0 <= d < 64,  1 <= d,  8 x - 8 (x + d) = 0       no: d would be 0
//     0 <= x < 8,   0 <= y < 8,   x - y = 3                          yes: x = 3, y = 0
//
// An answer "yes" comes with numbers, and an answer "no" is a proof. Equations are solved for a
// variable first. Then the search narrows the ranges of the variables until nothing changes, and
// halves one of them; when that takes too long, the answer is "unknown". How long it takes depends
// on how the variables are coupled, hardly on how large their ranges are.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace stowplan::check {

using Var = uint32_t;

// constant + coefficient * variable + ...
struct Expr {
  int64_t constant = 0;
  std::vector<std::pair<Var, int64_t>> terms;  // by variable; no coefficient is 0
  bool is_too_large = false;                   // a number does not fit

  static Expr Of(int64_t constant) { return {.constant = constant, .terms = {}}; }
  static Expr OfVar(Var var) { return {.terms = {{var, 1}}}; }

  [[nodiscard]] bool is_constant() const { return terms.empty() && !is_too_large; }
  // Adds `factor` times the other one.
  void Add(const Expr& other, int64_t factor = 1);
  [[nodiscard]] Expr Plus(const Expr& other, int64_t factor = 1) const {
    Expr sum = *this;
    sum.Add(other, factor);
    return sum;
  }
  [[nodiscard]] Expr Times(int64_t factor) const { return Expr().Plus(*this, factor); }
  friend bool operator==(const Expr&, const Expr&) = default;
};

// Both ends are inside.
struct Interval {
  int64_t low = 0;
  int64_t high = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

struct Constraint {
  Expr expr;
  Interval range;
  friend bool operator==(const Constraint&, const Constraint&) = default;
};

// Where an expression lies when its variables lie anywhere in their ranges; wider than 64 bits: all
// of them.
Interval RangeOf(const Expr& expr, std::span<const Interval> ranges);

class LinearSystem {
 public:
  enum class Answer : uint8_t { kNo, kYes, kUnknown };

  Var Add(Interval range) {
    ranges_.push_back(range);
    return static_cast<Var>(ranges_.size() - 1);
  }
  void Require(Expr expr, Interval range) {
    constraints_.push_back({.expr = std::move(expr), .range = range});
  }
  // At least one of these does not hold.
  void Exclude(std::vector<Constraint> box) { excluded_.push_back(std::move(box)); }

  // Whether there are numbers that satisfy everything; to be called once. `effort` counts down;
  // none left: unknown.
  [[nodiscard]] Answer Solve(int64_t& effort);
  // Of an answer "yes": the variables' values.
  [[nodiscard]] const std::vector<int64_t>& solution() const { return solution_; }

 private:
  enum class Step : uint8_t { kSame, kNarrowed, kEmpty };
  struct Node {
    std::vector<Interval> ranges;
    std::vector<Constraint> constraints;  // besides the common ones: of the excluded boxes
    size_t box = 0;                       // excluded boxes before this one are left
  };
  // Divides by common factors, merges what is said twice, and puts what equations say into the
  // rest. False when they contradict each other.
  [[nodiscard]] bool Simplify();
  [[nodiscard]] bool Merge();
  void Substitute(Var var, const Expr& expr);
  [[nodiscard]] bool IsTooLarge() const;
  // Narrows the ranges by one constraint.
  [[nodiscard]] static Step Narrow(const Constraint& constraint, std::vector<Interval>& ranges);
  // Whether something may be left.
  [[nodiscard]] bool Propagate(Node& node, int64_t& effort) const;
  // Splits the node: outside the next excluded box, on one side of it each; or into halves of
  // the smallest range. False when there is nothing to split.
  [[nodiscard]] bool Split(Node& node, std::vector<Node>& stack) const;
  // Of ranges that are one number each: whether they satisfy everything.
  [[nodiscard]] bool IsSolution(const Node& node) const;
  void SetSolution(const Node& node);

  std::vector<Interval> ranges_;
  std::vector<Constraint> constraints_;
  std::vector<std::vector<Constraint>> excluded_;
  std::vector<std::pair<Var, Expr>> substituted_;
  std::vector<int64_t> solution_;
};

}  // namespace stowplan::check
