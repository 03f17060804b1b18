// SPDX-License-Identifier: Apache-2.0
// Two modules during a comparison: which parts correspond to each other, and what differs.
#pragma once

#include <string>
#include <vector>

#include "hlo/equal.h"
#include "stowplan/hlo/module.h"

namespace stowplan::hlo {

class Comparison {
 public:
  Comparison(const Module& x, const Module& y, const EqualOptions& o);

  const Module& a;
  const Module& b;
  const EqualOptions& options;
  std::vector<CompId> comp_twin;    // by computation of a: the one of b, or none
  std::vector<InstrId> instr_twin;  // by instruction of a: the one of b, or none
  std::vector<std::string> differences;

  [[nodiscard]] bool is_full() const { return differences.size() >= options.limit; }
  void Report(std::string difference) {
    if (!is_full()) differences.push_back(std::move(difference));
  }
  // "`name` in `computation`: what"
  void ReportAt(InstrId id_in_a, const std::string& what);

  [[nodiscard]] bool Same(Text x, Text y) const { return a.view(x) == b.view(y); }
  [[nodiscard]] bool Same(ShapeId x, ShapeId y) const {
    return shape_a_[x.index] == shape_b_[y.index];
  }
  // Whether the two stand for the same value; see EqualOptions::look_through_tuples.
  [[nodiscard]] bool Same(InstrId x, InstrId y) const;

 private:
  // By shape: the one in a table that holds the shapes of both modules.
  std::vector<ShapeId> shape_a_;
  std::vector<ShapeId> shape_b_;
};

void CompareAttributes(Comparison& comparison, InstrId x, InstrId y);
void CompareMetadata(Comparison& comparison, InstrId x, InstrId y);
void CompareHeaders(Comparison& comparison);
void CompareStackFrames(Comparison& comparison);

}  // namespace stowplan::hlo
