// SPDX-License-Identifier: Apache-2.0
// Where values meet.
#include <algorithm>

#include "values/flow_builder.h"

namespace stowplan {

using hlo::InstrId;

bool FlowBuilder::Phi(InstrId id, std::span<const InstrId> inputs) {
  bool changed = false;
  for (uint32_t k = 0; k < flow_.positions.count(id); ++k) {
    inputs_.clear();
    for (const InstrId input : inputs) {
      if (k >= flow_.positions.count(input)) continue;
      const std::span<const ValueId> values = flow_.at(flow_.positions.At(input, k));
      inputs_.insert(inputs_.end(), values.begin(), values.end());
    }
    changed |= PhiAt(flow_.positions.At(id, k));
  }
  return changed;
}

// One value that arrives is handed on; two, even if they are the same, make a phi. Duplicates
// vanish in the end, but their numbers are gone by then.
bool FlowBuilder::PhiAt(PositionId id) {
  if (inputs_.empty()) return false;
  const std::span<const ValueId> held = flow_.at(id);
  const ValueId current = held.size() == 1 ? held[0] : ValueId();
  const bool is_born_here = !current.is_none() && flow_.values[current].position == id;
  if (inputs_.size() == 1) {
    if (current == inputs_[0]) return false;
    if (is_born_here) flow_.values[current].is_gone = true;
    return Set(id, inputs_);
  }
  if (is_born_here && flow_.values[current].is_phi) {
    const auto as_set = [](std::span<const ValueId> values) {
      std::vector<ValueId> sorted(values.begin(), values.end());
      std::ranges::sort(sorted);
      sorted.erase(std::ranges::unique(sorted).begin(), sorted.end());
      return sorted;
    };
    if (as_set(inputs_) == as_set(phis_.InputsOf(current))) return false;
    phis_.Register(current, inputs_);
    return true;
  }
  const ValueId phi = flow_.values.Add({.position = id, .is_phi = true});
  phis_.Register(phi, inputs_);
  flow_.single_[id.index] = phi;
  return true;
}

void FlowBuilder::RemovePhis() {
  phis_.Optimize();
  std::vector<ValueId> kept;
  for (size_t p = 0; p < flow_.single_.size(); ++p) {
    const std::span<const ValueId> held = flow_.at(PositionId(p));
    const bool is_replaced = std::ranges::any_of(
        held, [&](ValueId id) { return flow_.values[id].is_phi && phis_.Replacement(id) != id; });
    if (!is_replaced) continue;
    kept.clear();
    for (const ValueId id : held) {
      if (!flow_.values[id].is_phi) {
        kept.push_back(id);
        continue;
      }
      kept.push_back(phis_.Replacement(id));
      if (kept.back() != id) flow_.values[id].is_gone = true;
    }
    std::ranges::sort(kept);
    kept.erase(std::ranges::unique(kept).begin(), kept.end());
    Set(PositionId(p), kept);
  }
}

}  // namespace stowplan
