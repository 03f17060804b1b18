// SPDX-License-Identifier: Apache-2.0
#include "assign/temporaries.h"

#include <algorithm>

#include "assign/elementwise.h"

namespace stowplan {
namespace {

// Numbers that a TPU's scalar unit computes one at a time never leave it.
bool IsScalarUnits(const hlo::Module& module, const ValueFlow& flow, ValueId id) {
  const auto is_one = [](int64_t dimension) { return dimension == 1; };
  if (!std::ranges::all_of(module.shapes.dims(flow.shape(id)), is_one)) return false;
  if (flow.values[id].is_phi) return true;
  const hlo::InstrId instruction = flow.instruction(id);
  const hlo::Opcode opcode = module.instructions[instruction].opcode;
  return opcode == hlo::Opcode::kParameter ||
         (opcode != hlo::Opcode::kFusion && IsElementwise(module, instruction));
}

}  // namespace

Temporaries TemporariesOf(const hlo::Module& module, const Analysis& analysis,
                          const Assignment& assignment) {
  Temporaries temporaries;
  for (const auto& [color, bytes] : assignment.heap_peaks)
    temporaries.heap_peak = std::max(temporaries.heap_peak, bytes);
  for (const Allocation& allocation : assignment.allocations.rows()) {
    if (!allocation.is_temp() || allocation.color != 0) continue;
    temporaries.are_in_main_memory |= std::ranges::any_of(allocation.values, [&](ValueId id) {
      return !module.shapes.is_tuple(analysis.flow.shape(id)) &&
             !IsScalarUnits(module, analysis.flow, id);
    });
  }
  return temporaries;
}

}  // namespace stowplan
