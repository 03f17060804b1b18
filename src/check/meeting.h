// SPDX-License-Identifier: Apache-2.0
// Two turns of a loop, one that writes an element and one that reads one: can both be in one place?
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "check/index_map.h"
#include "check/linear.h"
#include "check/reads.h"
#include "stowplan/hlo/module.h"

namespace stowplan::check {

// Farther apart than any two turns, and far from an overflow.
inline constexpr int64_t kFar = int64_t{1} << 55U;

// The dimensions of a turn that writes, and those of a turn that reads: all pairs are equal iff the
// turns are one.
using TurnPairs = std::vector<std::pair<Expr, Expr>>;

// Whether turn t reads exactly what turn t writes, and each turn writes another element. Then no
// turn reads what another one writes.
[[nodiscard]] bool IsOneToOne(const Access& written, const Access& read, const TurnPairs& pairs,
                              const Variables& variables);

// Expressions over the variables of a fusion as ones over the variables of a system. Common
// variables are the same for all instances; each instance has its own of the others.
class Instance {
 public:
  Instance(const Variables& variables, LinearSystem& system, std::map<Var, Expr>& common)
      : variables_(variables), system_(system), common_(common) {}

  void Bind(Var var, Expr expr) { bound_[var] = std::move(expr); }
  [[nodiscard]] Expr Of(const Expr& expr);
  // What must hold for the access to take place.
  void Require(const Access& access);

 private:
  const Variables& variables_;
  LinearSystem& system_;
  std::map<Var, Expr>& common_;
  std::map<Var, Expr> bound_;
};

class Meeting {
 public:
  Meeting(const hlo::ShapeTable& shapes, const Variables& variables)
      : shapes_(shapes),
        variables_(variables),
        writer_(variables, system_, common_),
        reader_(variables, system_, common_) {}

  void Pair(const TurnPairs& pairs);
  void Take(const Access& from, const Access& to, const std::vector<Reads::Twins>& twins);

  void MeetByIndex(const Access& from, const Access& to);
  struct Element {
    const Expr& number;
    int64_t bits = 0;
  };
  void MeetByPosition(const Element& from, const Element& to, int64_t distance);

  // Each is 0 when the turns are one.
  [[nodiscard]] const std::vector<Expr>& distances() const { return distances_; }

  [[nodiscard]] LinearSystem::Answer Solve(int64_t& effort) const;
  [[nodiscard]] LinearSystem::Answer SolveApart(const Expr& distance, Interval range,
                                                int64_t& effort) const;

 private:
  void StayInside(Instance& instance, const Access& access);

  const hlo::ShapeTable& shapes_;
  const Variables& variables_;
  LinearSystem system_;
  std::map<Var, Expr> common_;
  Instance writer_;
  Instance reader_;
  std::vector<Expr> distances_;
};

}  // namespace stowplan::check
