// SPDX-License-Identifier: Apache-2.0
// Whether a changed program computes what the given one does.
//
// A result is named by the operations that lead to it from the arguments. Two programs that apply
// the same operations to the same operands have results of the same names, however often they
// compute a value and wherever they keep it. Names look through fusions, calls, tuples and copies.
// A loop is an operation like any other; if that is not enough, loops whose trips can be counted
// are unrolled, and a slice of an array is what was written there.
//
// Names are about operations of HLO. A compiler may round differently if it fuses them anew.
#pragma once

#include <cstdint>
#include <memory>

#include "stowplan/hlo/module.h"

namespace stowplan::check {

class SameResults {
 public:
  // The module must outlive this. `most_steps`: how many instructions may be named, trips of loops
  // counted one by one, before a program is given up.
  explicit SameResults(const hlo::Module& given, int64_t most_steps = 3'000'000);
  ~SameResults();
  SameResults(const SameResults&) = delete;
  SameResults& operator=(const SameResults&) = delete;

  // True if all results are proved to be the same, and effects are as many as they were. False may
  // mean that a program is too long, or its loops cannot be counted.
  [[nodiscard]] bool AreThoseOf(const hlo::Module& changed);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stowplan::check
