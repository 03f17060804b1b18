// SPDX-License-Identifier: Apache-2.0
// Where values meet.
#include <algorithm>

#include "values/flow_builder.h"

namespace stowplan {

// One value that arrives is handed on; two, even if they are the same, make a phi. Duplicates
// vanish in the end, but their numbers are gone by then.
bool FlowBuilder::PhiAt(PositionId id) {
  if (inputs_.empty()) return false;
  const ValueId slot = flow_.single_[id.index];
  const ValueId current = ValueRows::IsRow(slot) ? ValueId() : slot;
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
    // The position still holds this phi: nobody needs to hear of it.
    phis_.Register(current, inputs_);
    return false;
  }
  const ValueId phi = flow_.values.Add({.position = id, .is_phi = true});
  phis_.Register(phi, inputs_);
  flow_.single_[id.index] = phi;
  return true;
}

// The same, where many arrive. What the phi joins is registered in the end; until then the graph
// only hears of new values, so that it numbers them as they come up.
bool FlowBuilder::PhiOfMany(PositionId at, const Arrivals& arrivals) {
  if (arrivals.total() == 0) return false;
  const ValueId slot = flow_.single_[at.index];
  const ValueId current = ValueRows::IsRow(slot) ? ValueId() : slot;
  const bool is_born_here = !current.is_none() && flow_.values[current].position == at;
  if (arrivals.total() == 1) {
    if (current == arrivals.only()) return false;
    if (is_born_here) flow_.values[current].is_gone = true;
    flow_.single_[at.index] = arrivals.only();
    return true;
  }
  if (is_born_here && flow_.values[current].is_phi) {
    phis_.Mention(arrivals.added());
    return false;
  }
  const ValueId phi = flow_.values.Add({.position = at, .is_phi = true});
  phis_.Register(phi, arrivals.InOrder(rows_));
  flow_.single_[at.index] = phi;
  return true;
}

void FlowBuilder::RegisterPhisOfMany() {
  for (const auto& [index, arrivals] : arrivals_) {
    const ValueId slot = flow_.single_[index];
    if (slot.is_none() || ValueRows::IsRow(slot)) continue;
    if (flow_.values[slot].is_phi && flow_.values[slot].position.index == index)
      phis_.Register(slot, arrivals.InOrder(rows_));
  }
}

void FlowBuilder::RemovePhis() {
  RegisterPhisOfMany();
  phis_.Optimize();
  std::vector<ValueId> kept;
  for (size_t p = 0; p < flow_.single_.size(); ++p) {
    const std::span<const ValueId> held = At(PositionId(p));
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
