// SPDX-License-Identifier: Apache-2.0
// A computation as a problem: what must lie in memory while each of its instructions runs, as the
// planner has it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assign/rules.h"
#include "assign/sizes.h"
#include "live/analysis.h"
#include "order/graph.h"
#include "order/problem.h"
#include "stowplan/base/diagnostic.h"

namespace stowplan::order {

// What counts. Temporaries may lie in a buffer of the result while that is free, so neither of the
// two is right for every program.
enum class Objective : uint8_t {
  kAll,          // temporaries, parts of the result and donated parameters
  kTemporaries,  // only these
};
inline constexpr Objective kObjectives[] = {Objective::kAll, Objective::kTemporaries};

// What all computations of a module have in common.
struct Surroundings {
  const hlo::Module& module;
  const Analysis& analysis;
  const Rules& rules;
  BufferSizes measured;
  enum class Counting : uint8_t { kNot, kCounts, kCapped };
  std::vector<Counting> countings;  // by buffer
  std::vector<int64_t> loads;       // by time, of the order that the module has
  std::vector<uint8_t> effects;     // FindEffects
  // Who writes over whom is decided: buffers have all that shares memory, and nothing else may.
  bool is_frozen = false;
};
Result<Surroundings> FindSurroundings(const hlo::Module& module, const Analysis& analysis,
                                      const Rules& rules, Objective objective);

// The inner bytes of nodes that call computations are those of the order in which these are now.
// `slacks`: by computation, how far its peak may be above the best of all its orders.
// `values`, if given: by life, the value whose life it is; those of a buffer follow each other.
Problem FindProblem(const Surroundings& around, const Graph& graph, std::span<const int64_t> slacks,
                    std::vector<ValueId>* values = nullptr);

}  // namespace stowplan::order
