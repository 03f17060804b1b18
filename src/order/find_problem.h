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

// What counts. Temporaries may lie in a buffer of the result while it is free, so neither choice is
// right for every program.
enum class Objective : uint8_t {
  kAll,          // temporaries, parts of the result and donated parameters
  kTemporaries,  // temporaries alone
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
  // It is decided what is written over what: a buffer has everything that shares its memory, and
  // nothing else may.
  bool is_frozen = false;
};
Result<Surroundings> FindSurroundings(const hlo::Module& module, const Analysis& analysis,
                                      const Rules& rules, Objective objective);

// Nodes that call computations need, inside, what the current order of those computations needs.
// `slacks`: by computation, how far its peak may be above the best of all its orders.
// `values`, if given: by life, the value whose life it is; those of a buffer follow each other.
Problem FindProblem(const Surroundings& around, const Graph& graph, std::span<const int64_t> slacks,
                    std::vector<ValueId>* values = nullptr);

}  // namespace stowplan::order
