// SPDX-License-Identifier: Apache-2.0
#include "check/meeting.h"

#include <algorithm>
#include <optional>
#include <span>

namespace stowplan::check {
namespace {

// The one variable that an expression is; none for 0.
std::optional<Var> VarOf(const Expr& expr) {
  if (expr.constant != 0 || expr.terms.size() != 1 || expr.terms[0].second != 1)
    return std::nullopt;
  return expr.terms[0].first;
}

bool AreVars(const TurnPairs& pairs) {
  return std::ranges::all_of(
      pairs, [](const auto& pair) { return VarOf(pair.first) && VarOf(pair.second); });
}

}  // namespace

bool IsOneToOne(const Access& written, const Access& read, const TurnPairs& pairs,
                const Variables& variables) {
  if (!AreVars(pairs)) return false;
  std::map<Var, Var> turns;  // of the reader to those of the writer
  for (const auto& [a, b] : pairs) turns.emplace(*VarOf(b), *VarOf(a));
  for (size_t d = 0; d < read.index.size(); ++d) {
    Expr same = Expr::Of(read.index[d].constant);
    for (const auto& [var, factor] : read.index[d].terms) {
      const auto turn = turns.find(var);
      if (turn == turns.end() && !variables.is_common(var)) return false;
      same.Add(Expr::OfVar(turn == turns.end() ? var : turn->second), factor);
    }
    if (same != written.index[d]) return false;
  }
  return std::ranges::all_of(pairs, [&](const auto& pair) {
    return std::ranges::any_of(written.index, [&](const Expr& index) {
      size_t own = 0;
      for (const auto& [var, factor] : index.terms) own += variables.is_common(var) ? 0U : 1U;
      return own == 1 && std::ranges::any_of(index.terms, [&](const auto& term) {
               return term.first == *VarOf(pair.first);
             });
    });
  });
}

Expr Instance::Of(const Expr& expr) {
  Expr result = Expr::Of(expr.constant);
  result.is_too_large = expr.is_too_large;
  for (const auto& [var, factor] : expr.terms) {
    const bool is_common = variables_.is_common(var);
    const auto [row, is_new] = (is_common ? common_ : bound_).try_emplace(var);
    if (is_new) row->second = Expr::OfVar(system_.Add(variables_.range(var)));
    result.Add(row->second, factor);
  }
  return result;
}

void Instance::Require(const Access& access) {
  for (const Constraint& constraint : access.constraints)
    system_.Require(Of(constraint.expr), constraint.range);
  for (const std::vector<Constraint>& box : access.outside) {
    std::vector<Constraint> sides;
    sides.reserve(box.size());
    for (const Constraint& side : box) sides.push_back({Of(side.expr), side.range});
    system_.Exclude(std::move(sides));
  }
}

// The reader's turn is the writer's and a distance, so that what both have in common cancels.
void Meeting::Pair(const TurnPairs& pairs) {
  for (const auto& [a, b] : pairs) {
    if (!AreVars(pairs)) {
      distances_.push_back(reader_.Of(b).Plus(writer_.Of(a), -1));
      continue;
    }
    const Interval range = variables_.range(*VarOf(a));
    const Expr turn = Expr::OfVar(system_.Add(range));
    const Expr distance = Expr::OfVar(system_.Add({-range.high, range.high}));
    writer_.Bind(*VarOf(a), turn);
    reader_.Bind(*VarOf(b), turn.Plus(distance));
    system_.Require(turn.Plus(distance), range);
    distances_.push_back(distance);
  }
}

void Meeting::Take(const Access& from, const Access& to, const std::vector<Reads::Twins>& twins) {
  writer_.Require(from);
  reader_.Require(to);
  if (!from.view.is_none()) StayInside(writer_, from);
  StayInside(reader_, to);
  for (const auto& [low, high] : twins) {
    if (!common_.contains(low) || !common_.contains(high)) continue;
    // low is high, or its own bound where high is above it.
    const Expr apart = common_[high].Plus(common_[low], -1);
    const int64_t bound = variables_.range(low).high;
    system_.Require(apart, {0, variables_.range(high).high - bound});
    system_.Exclude({{apart, {1, kFar}}, {common_[low], {0, bound - 1}}});
  }
}

void Meeting::MeetByIndex(const Access& from, const Access& to) {
  for (size_t d = 0; d < from.index.size(); ++d)
    system_.Require(writer_.Of(from.index[d]).Plus(reader_.Of(to.index[d]), -1), {0, 0});
}

void Meeting::MeetByPosition(const Element& from, const Element& to, int64_t distance) {
  Expr apart = reader_.Of(to.number).Times(to.bits);
  apart.Add(writer_.Of(from.number), -from.bits);
  apart.Add(Expr::Of(distance), 8);
  system_.Require(std::move(apart), {1 - to.bits, from.bits - 1});
}

LinearSystem::Answer Meeting::Solve(int64_t& effort) const {
  LinearSystem system = system_;
  return system.Solve(effort);
}

LinearSystem::Answer Meeting::SolveApart(const Expr& distance, Interval range,
                                         int64_t& effort) const {
  LinearSystem system = system_;
  system.Require(distance, range);
  return system.Solve(effort);
}

void Meeting::StayInside(Instance& instance, const Access& access) {
  const std::span<const int64_t> dims = shapes_.dims(access.view);
  for (size_t d = 0; d < dims.size(); ++d)
    system_.Require(instance.Of(access.index[d]), {0, dims[d] - 1});
}

}  // namespace stowplan::check
