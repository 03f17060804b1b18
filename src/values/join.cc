// SPDX-License-Identifier: Apache-2.0
// What comes to an instruction from several others: to a parameter from all callers, to a loop from
// its operand and its body, to a conditional from its branches.
#include <algorithm>
#include <numeric>
#include <utility>

#include "values/flow_builder.h"

namespace stowplan {

using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;

namespace {

constexpr uint32_t kNoIndex = 0xffffffffU;
// From more inputs, or more values, on, what arrives is counted and not gathered each time.
constexpr size_t kFew = 32;

}  // namespace

FlowBuilder::Inputs FlowBuilder::InputsOf(InstrId id) const {
  const std::span<const CompId> called = module_.called_by(id);
  Inputs inputs;
  inputs.needs_phi = true;
  switch (module_.instructions[id].opcode) {
    case Opcode::kParameter:
      return InputsOfParameter(id);
    case Opcode::kWhile:
      if (called.empty() || module_.operands_of(id).empty()) break;
      // What the body returns comes first.
      inputs.Add(module_.computations[called[0]].root);
      inputs.Add(module_.operands_of(id)[0]);
      break;
    case Opcode::kConditional:
      for (const CompId branch : called) inputs.Add(module_.computations[branch].root);
      break;
    default:
      break;
  }
  return inputs;
}

// A parameter of a computation that control flow enters holds what its callers give it.
FlowBuilder::Inputs FlowBuilder::InputsOfParameter(InstrId id) const {
  const CompId computation = module_.instructions[id].parent;
  Inputs inputs;
  if (calls_.context(computation) != CallContext::kControlFlow) return inputs;
  const auto number =
      static_cast<size_t>(module_.NumberOr(id, hlo::AttributeKey::kParameterNumber, 0));
  InstrId last;
  for (const InstrId caller : calls_.callers_of(computation)) {
    const std::span<const InstrId> operands = module_.operands_of(caller);
    const std::span<const CompId> called = module_.called_by(caller);
    switch (module_.instructions[caller].opcode) {
      case Opcode::kCall:
        if (number < operands.size()) inputs.Add(operands[number]);
        break;
      case Opcode::kAsyncStart:
        if (const InstrId operand = AsyncOperand(caller, number); !operand.is_none())
          inputs.Add(operand);
        break;
      case Opcode::kWhile: {
        inputs.needs_phi = true;
        inputs.Add(operands[0]);
        const InstrId root = module_.computations[called[0]].root;
        if (root != id) inputs.Add(root);
        break;
      }
      case Opcode::kConditional: {
        inputs.needs_phi = true;
        // Each of its calls brings the operands of all of them. They stand one after the other.
        if (std::exchange(last, caller) == caller) break;
        AddBranchInputs(caller, computation, inputs);
        break;
      }
      default:
        break;
    }
  }
  return inputs;
}

void FlowBuilder::AddBranchInputs(InstrId conditional, CompId computation, Inputs& inputs) const {
  const std::span<const InstrId> operands = module_.operands_of(conditional);
  const std::span<const CompId> called = module_.called_by(conditional);
  if (const auto wide = branches_.find(conditional); wide != branches_.end()) {
    const auto same = std::ranges::equal_range(wide->second, computation, {},
                                               &std::pair<CompId, uint32_t>::first);
    for (const auto& [callee, branch] : same) {
      if (branch + 1 < operands.size())
        inputs.Add(operands[branch + 1], static_cast<uint32_t>(same.size()));
    }
    return;
  }
  const auto calls = static_cast<uint32_t>(std::ranges::count(called, computation));
  for (size_t branch = 0; branch < called.size(); ++branch) {
    if (called[branch] == computation && branch + 1 < operands.size())
      inputs.Add(operands[branch + 1], calls);
  }
}

void FlowBuilder::FindBranches() {
  for (size_t i = 0; i < module_.instructions.size(); ++i) {
    const InstrId id(i);
    const std::span<const CompId> called = module_.called_by(id);
    if (module_.instructions[id].opcode != Opcode::kConditional || called.size() <= kFew) continue;
    std::vector<std::pair<CompId, uint32_t>>& branches = branches_[id];
    for (uint32_t k = 0; k < called.size(); ++k) branches.emplace_back(called[k], k);
    std::ranges::sort(branches);
  }
}

void FlowBuilder::FindWideJoins() {
  FindBranches();
  const size_t count = module_.instructions.size();
  std::vector<uint32_t> input_of(count, kNoIndex);  // in the join being looked at
  const auto add = [&](InstrId id) {
    Inputs inputs = InputsOf(id);
    if (inputs.instructions.size() <= kFew &&
        std::ranges::all_of(inputs.weights, [](uint32_t weight) { return weight <= kFew; }))
      return;
    // Each instruction once: the root of a body that n loops share comes n times.
    Inputs once;
    once.needs_phi = inputs.needs_phi;
    for (size_t k = 0; k < inputs.instructions.size(); ++k) {
      const InstrId input = inputs.instructions[k];
      uint32_t& known = input_of[input.index];
      if (known == kNoIndex) {
        known = static_cast<uint32_t>(once.instructions.size());
        once.Add(input, 0);
      }
      once.weights[known] += inputs.weights[k];
    }
    for (const InstrId input : once.instructions) input_of[input.index] = kNoIndex;
    wide_join_of_.resize(count, kNoIndex);
    wide_join_of_[id.index] = static_cast<uint32_t>(wide_joins_.size());
    wide_joins_.push_back({.inputs = std::move(once)});
  };
  for (size_t i = 0; i < count; ++i) {
    const InstrId id(i);
    switch (module_.instructions[id].opcode) {
      case Opcode::kParameter:
        if (!calls_.callers_of(module_.instructions[id].parent).empty()) add(id);
        break;
      case Opcode::kConditional:
        add(id);
        break;
      default:
        break;
    }
  }
  if (wide_joins_.empty()) return;
  feed_begins_.assign(count + 1, 0);
  for (const WideJoin& join : wide_joins_) {
    for (const InstrId input : join.inputs.instructions) ++feed_begins_[input.index + 1];
  }
  for (size_t i = 0; i < count; ++i) feed_begins_[i + 1] += feed_begins_[i];
  feeds_.resize(feed_begins_[count]);
  std::vector<uint32_t> next(feed_begins_.begin(), feed_begins_.end() - 1);
  for (uint32_t join = 0; join < wide_joins_.size(); ++join) {
    const std::vector<InstrId>& inputs = wide_joins_[join].inputs.instructions;
    for (uint32_t k = 0; k < inputs.size(); ++k) feeds_[next[inputs[k].index]++] = {join, k};
  }
}

// The instruction holds other values than before.
void FlowBuilder::FeedJoins(InstrId id) {
  if (feed_begins_.empty()) return;
  for (uint32_t k = feed_begins_[id.index]; k < feed_begins_[id.index + 1]; ++k)
    wide_joins_[feeds_[k].join].changed.push_back(feeds_[k].input);
}

bool FlowBuilder::Join(InstrId id) {
  const uint32_t count = flow_.positions.count(id);
  bool changed = false;
  if (!wide_join_of_.empty() && wide_join_of_[id.index] != kNoIndex) {
    WideJoin& join = wide_joins_[wide_join_of_[id.index]];
    std::vector<uint32_t> inputs = std::move(join.changed);
    join.changed.clear();
    if (!std::exchange(join.is_begun, true)) {
      inputs.resize(join.inputs.instructions.size());
      std::iota(inputs.begin(), inputs.end(), 0U);
    }
    std::ranges::sort(inputs);
    inputs.erase(std::ranges::unique(inputs).begin(), inputs.end());
    for (uint32_t k = 0; k < count; ++k)
      changed |= JoinMany(flow_.positions.At(id, k), join.inputs, inputs);
    return changed;
  }
  const Inputs inputs = InputsOf(id);
  if (inputs.instructions.empty()) return false;
  if (inputs.instructions.size() == 1 && !inputs.needs_phi)
    return CopyTree(flow_.positions.top(id), flow_.positions.top(inputs.instructions[0]));
  for (uint32_t k = 0; k < count; ++k) changed |= JoinFew(flow_.positions.At(id, k), inputs);
  return changed;
}

bool FlowBuilder::JoinFew(PositionId at, const Inputs& inputs) {
  const uint32_t offset = flow_.positions.offset(at);
  inputs_.clear();
  bool is_many = arrivals_.contains(at.index);
  for (size_t k = 0; k < inputs.instructions.size() && !is_many; ++k) {
    const InstrId input = inputs.instructions[k];
    if (offset >= flow_.positions.count(input)) continue;
    const std::span<const ValueId> values = At(flow_.positions.At(input, offset));
    is_many = inputs_.size() + values.size() > kFew;
    if (is_many) break;
    const auto before = static_cast<std::ptrdiff_t>(inputs_.size());
    for (uint32_t time = 0; time < inputs.weights[k]; ++time)
      inputs_.insert(inputs_.end(), values.begin(), values.end());
    std::sort(inputs_.begin() + before, inputs_.end());
  }
  if (is_many) {
    std::vector<uint32_t> all(inputs.instructions.size());
    std::iota(all.begin(), all.end(), 0U);
    return JoinMany(at, inputs, all);
  }
  if (inputs.needs_phi) return PhiAt(at);
  std::ranges::sort(inputs_);
  inputs_.erase(std::ranges::unique(inputs_).begin(), inputs_.end());
  return Set(at, inputs_);
}

bool FlowBuilder::JoinMany(PositionId at, const Inputs& inputs, std::span<const uint32_t> changed) {
  const uint32_t offset = flow_.positions.offset(at);
  const auto [place, is_new] = arrivals_.try_emplace(at.index, inputs.instructions.size());
  Arrivals& arrivals = place->second;
  for (const uint32_t k : changed) {
    const InstrId input = inputs.instructions[k];
    if (offset >= flow_.positions.count(input)) continue;
    arrivals.Update(rows_, k, flow_.single_[flow_.positions.At(input, offset).index],
                    inputs.weights[k]);
  }
  arrivals.Finish();
  return inputs.needs_phi ? PhiOfMany(at, arrivals) : SetArrived(at, arrivals, is_new);
}

bool FlowBuilder::SetArrived(PositionId at, const Arrivals& arrivals, bool is_new) {
  if (!is_new && !arrivals.has_changed()) return false;
  ValueId& slot = flow_.single_[at.index];
  if (is_new || arrivals.has_lost() || !ValueRows::IsRow(slot)) return Set(at, arrivals.Sorted());
  slot = rows_.Grow(slot, arrivals.added());
  return true;
}

}  // namespace stowplan
