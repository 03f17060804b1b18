// SPDX-License-Identifier: Apache-2.0
// What policy best says about its plan.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/json_writer.h"
#include "stowplan/plan.h"

namespace stowplan::page {

// "optimal", or how far from the optimum at most, and why.
std::string Proof(const BestHeap& heap);

// One line per heap: XLA's height, Stowplan's, the bound, the proof.
std::string HeapTable(std::span<const BestHeap> heaps);

// Whether the plan fits --memory-limit.
struct MemoryFit {
  int64_t limit = 0;
  int64_t bytes = 0;  // that the plan needs
  int64_t floor = 0;  // that every plan needs

  [[nodiscard]] bool fits() const { return bytes <= limit; }
};
MemoryFit FitOf(const PlannedModule& planned, int64_t limit);
// One sentence, with its newline.
std::string Sentence(const MemoryFit& fit);

// The field `best` of a report.
void WriteBest(const PlannedModule& planned, const std::optional<MemoryFit>& fit, JsonWriter& json);

}  // namespace stowplan::page
