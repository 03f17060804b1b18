// SPDX-License-Identifier: Apache-2.0
// Buffers one by one: parameters, constants, tuples and the parts of the result have allocations of
// their own; some temporaries move into these; the rest is packed into a heap.
#include <algorithm>
#include <limits>
#include <ranges>
#include <tuple>

#include <fmt/format.h>

#include "assign/assigner.h"
#include "assign/combine.h"
#include "assign/fast_memory.h"
#include "base/checked_math.h"
#include "hlo/print.h"
#include "values/donations.h"

namespace stowplan {

using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;

Assigner::Assigner(const hlo::Module& module, const Analysis& analysis, const Rules& rules,
                   const std::optional<Preset>& preset)
    : module_(module),
      analysis_(analysis),
      rules_(rules),
      preset_(preset),
      share_(module, analysis, rules) {
  is_donated_.assign(analysis.flow.positions.size(), 0);
  for (const Donation& donation : FindDonations(module, analysis.flow.positions))
    is_donated_[donation.input.index] = 1;
}

Result<Assignment> Assigner::Run() {
  STOWPLAN_TRY(measured_, MeasureBuffers(module_, analysis_, rules_));
  FindComputationClasses();
  NumberPositions();
  STOWPLAN_TRY(Assignment assignment, RunOnce(rules_.order == AssignOrder::kEarliestFirst));
  if (!assignment.is_swept) return assignment;
  const auto total = [](const Assignment& of) {
    int64_t sum = 0;
    for (const Allocation& allocation : of.allocations.rows()) {
      if (allocation.color == 0) sum = SaturatingAdd(sum, allocation.size);
    }
    return sum;
  };
  if (total(assignment) <= rules_.sweep_limit) return assignment;
  // The other spaces keep what they have, and come first from now on.
  const auto plan_again = [&](const Assignment& from) {
    Start(/*sweeps=*/false);
    Keep(from, [](int64_t color) { return color != 0; });
    AssignAll();
    return std::move(assignment_);
  };
  const Assignment again = plan_again(assignment);
  // A better plan is made once more; that turns the order of the other spaces' blocks round.
  if (total(again) < total(assignment)) return plan_again(again);
  Start(/*sweeps=*/true);
  Keep(assignment, [](int64_t color) { return color != 0; });
  Keep(assignment, [](int64_t color) { return color == 0; });
  return std::move(assignment_);
}

void Assigner::Keep(const Assignment& from, bool (*keeps)(int64_t color)) {
  for (const auto& [color, bytes] : from.heap_peaks) {
    if (keeps(color)) assignment_.heap_peaks[color] = bytes;
  }
  for (size_t a = 0; a < from.allocations.size(); ++a) {
    const Allocation& allocation = from.allocations[AllocationId(a)];
    if (!keeps(allocation.color)) continue;
    const AllocationId id = assignment_.allocations.Add(allocation);
    for (const ValueId value : allocation.values) {
      assignment_.places[value.index] = from.places[value.index];
      assignment_.places[value.index].allocation = id;
      is_done_[analysis_.buffers.of(value).index] = 1;
    }
  }
}

void Assigner::Start(bool sweeps) {
  sweeps_ = sweeps;
  assignment_ = {.places = std::vector<Place>(analysis_.flow.values.size()),
                 .colors = measured_.colors,
                 .is_swept = sweeps};
  is_done_.assign(analysis_.buffers.size(), 0);
  delayed_.clear();
  stacks_.clear();
  stack_times_.clear();
  stack_ends_.clear();
  tenancies_.clear();
}

Result<Assignment> Assigner::RunOnce(bool sweeps) {
  Start(sweeps);
  if (std::optional<Diagnostics> errors = PlacePreset()) return std::unexpected(*std::move(errors));
  if (rules_.preset_space >= 0) {
    assignment_.heap_peaks[rules_.preset_space] = FastMemoryPeak(
        module_, analysis_, assignment_, assignment_.allocations[AllocationId(0)].values);
  }
  PlaceContexts();
  AssignAll();
  return std::move(assignment_);
}

void Assigner::AssignAll() {
  AssignPhase(Phase::kGlobal);
  PackTemporaries();
  AssignPhase(Phase::kThreadLocal);
  MarkLiveOut();
  CombineTemporaries(assignment_, rules_);
}

// What control flow reaches from the entry runs on the program's memory; what is called inside an
// instruction is on the stack of a thread.
void Assigner::FindComputationClasses() {
  classes_.assign(module_.computations.size(), kUnreached);
  classes_[module_.entry.index] = static_cast<uint8_t>(Phase::kGlobal);
  // Callers before callees.
  for (size_t c = module_.computations.size(); c-- != 0;) {
    if (classes_[c] == kUnreached) continue;
    const hlo::Computation& computation = module_.computations[CompId(c)];
    for (uint32_t k = 0; k < computation.count; ++k) {
      const InstrId id(size_t{computation.first.index} + k);
      for (const CompId callee : module_.called_by(id)) {
        classes_[callee.index] =
            ContextOfCallsBy(module_.instructions[id].opcode) == CallContext::kControlFlow
                ? classes_[c]
                : static_cast<uint8_t>(Phase::kThreadLocal);
      }
    }
  }
}

// Depth first through the call graph, by the lists of instructions: as texts are printed.
std::vector<CompId> Assigner::FinishedComputations() const {
  if (module_.format == hlo::Format::kText) return hlo::PrintOrder(module_);
  struct Frame {
    CompId computation;
    size_t next = 0;
    size_t next_callee = 0;
  };
  std::vector<uint8_t> is_seen(module_.computations.size(), 0);
  std::vector<CompId> finished;
  std::vector<Frame> stack;
  for (const CompId root : analysis_.orders.computations) {
    if (!analysis_.calls.callers_of(root).empty()) continue;
    stack.push_back({root});
    is_seen[root.index] = 1;
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const auto list =
          Orders::Of(analysis_.orders.listed, module_.computations[frame.computation]);
      if (frame.next == list.size()) {
        finished.push_back(frame.computation);
        stack.pop_back();
        continue;
      }
      const std::span<const CompId> called = module_.called_by(list[frame.next]);
      if (frame.next_callee == called.size()) {
        ++frame.next;
        frame.next_callee = 0;
        continue;
      }
      const CompId callee = called[frame.next_callee++];
      if (is_seen[callee.index] == 0) {
        is_seen[callee.index] = 1;
        stack.push_back({callee});
      }
    }
  }
  return finished;
}

// The last computation finished comes first.
void Assigner::NumberPositions() {
  numbers_.assign(module_.instructions.size(), 0);
  uint32_t next = 0;
  for (const CompId computation : std::views::reverse(FinishedComputations())) {
    for (const InstrId id :
         Orders::Of(analysis_.orders.post_order, module_.computations[computation]))
      numbers_[id.index] = next++;
  }
}

std::optional<Diagnostics> Assigner::PlacePreset() {
  if (rules_.preset_space < 0) return std::nullopt;
  if (!preset_) {
    PackPresetSpace();
    return std::nullopt;
  }
  const std::string file = module_.source ? module_.source->name() : std::string();
  const AllocationId allocation = assignment_.allocations.Add(
      {.size = preset_->size, .color = rules_.preset_space, .is_preset = true});
  for (const Preset::Chunk& chunk : preset_->chunks) {
    const std::span<const ValueId> values = analysis_.flow.at(chunk.position);
    if (values.size() != 1 || analysis_.flow.values[values[0]].position != chunk.position) {
      return Fail(file,
                  fmt::format("the preset places {}, which defines no value",
                              module_.name(analysis_.flow.positions.instruction(chunk.position))))
          .error();
    }
    const ValueId value = values[0];
    if (measured_.colors[value.index] != rules_.preset_space) {
      return Fail(file, fmt::format("the preset places {} in memory space {}, but its layout says "
                                    "{}",
                                    module_.name(analysis_.flow.instruction(value)),
                                    rules_.preset_space, measured_.colors[value.index]))
          .error();
    }
    const std::string_view name = module_.name(analysis_.flow.instruction(value));
    // Sizes are not compared: chips of two cores keep half of some values in each.
    if (chunk.offset < 0 || chunk.size < 0 || chunk.size > preset_->size - chunk.offset)
      return Fail(file, fmt::format("the preset places {} outside its block", name)).error();
    if (!assignment_.places[value.index].allocation.is_none())
      return Fail(file, fmt::format("the preset places {} twice", name)).error();
    assignment_.places[value.index] = {allocation, chunk.offset, chunk.size};
    assignment_.allocations[allocation].values.push_back(value);
    is_done_[analysis_.buffers.of(value).index] = 1;
  }
  // Whoever chose places there chose all of them.
  for (size_t v = 0; v < analysis_.flow.values.size(); ++v) {
    const ValueId value(v);
    if (measured_.colors[v] == rules_.preset_space && analysis_.live.of(value).exists() &&
        assignment_.places[v].allocation.is_none()) {
      return Fail(file, fmt::format("the preset does not place {}",
                                    module_.name(analysis_.flow.instruction(value))))
          .error();
    }
  }
  return std::nullopt;
}

std::vector<BufferId> Assigner::Candidates(Phase phase) const {
  const BufferSet& buffers = analysis_.buffers;
  std::vector<BufferId> candidates;
  for (size_t b = 0; b < buffers.size(); ++b) {
    const InstrId first = analysis_.flow.instruction(buffers.values_of(BufferId(b))[0]);
    const CompId computation = module_.instructions[first].parent;
    if (classes_[computation.index] == static_cast<uint8_t>(phase) &&
        analysis_.calls.is_fused[computation.index] == 0 && is_done_[b] == 0)
      candidates.emplace_back(b);
  }
  if (phase == Phase::kThreadLocal && rules_.thread_locals_by_number) return candidates;
  struct Key {
    int64_t start = 0;
    int64_t size = 0;
    bool is_inside = false;  // not a part of the result
    uint32_t number = 0;
    BufferId id;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> keys;
  keys.reserve(candidates.size());
  for (const BufferId id : candidates) {
    Key key = {.start = std::numeric_limits<int64_t>::max(),
               .size = -SizeOf(id),
               .is_inside = buffers.is_live_out[id.index] == 0,
               .number = std::numeric_limits<uint32_t>::max(),
               .id = id};
    for (const ValueId value : buffers.values_of(id)) {
      key.number = std::min(key.number, numbers_[analysis_.flow.instruction(value).index]);
      if (analysis_.live.of(value).exists())
        key.start = std::min(key.start, analysis_.live.of(value).start);
    }
    if (sweeps_) {
      key.number = 0;
    } else {
      key.start = 0;
    }
    keys.push_back(key);
  }
  std::ranges::sort(keys);
  std::ranges::transform(keys, candidates.begin(), &Key::id);
  return candidates;
}

void Assigner::AssignPhase(Phase phase) {
  reusable_.clear();
  for (const BufferId id : Candidates(phase)) AssignBuffer(id, phase);
}

AllocationId Assigner::NewAllocation(BufferId id) {
  const AllocationId allocation =
      assignment_.allocations.Add({.size = SizeOf(id), .color = ColorOf(id)});
  Put(id, allocation);
  return allocation;
}

void Assigner::Put(BufferId id, AllocationId allocation) {
  is_done_[id.index] = 1;
  for (const ValueId value : analysis_.buffers.values_of(id)) {
    assignment_.places[value.index] = {allocation, 0, SizeOf(id)};
    assignment_.allocations[allocation].values.push_back(value);
  }
  if (analysis_.buffers.is_live_out[id.index] != 0)
    assignment_.allocations[allocation].is_maybe_live_out = true;
}

bool Assigner::IsFixed(BufferId id) const {
  return std::ranges::any_of(analysis_.buffers.values_of(id), [&](ValueId value) {
    const hlo::Instruction& row = module_.instructions[analysis_.flow.instruction(value)];
    return row.opcode == Opcode::kConstant ||
           (row.opcode == Opcode::kParameter && row.parent == module_.entry) ||
           module_.shapes.is_tuple(analysis_.flow.shape(value));
  });
}

// Constants and parameters of the program.
bool Assigner::AssignFixed(BufferId id) {
  for (const ValueId value : analysis_.buffers.values_of(id)) {
    const InstrId instruction = analysis_.flow.instruction(value);
    const hlo::Instruction& row = module_.instructions[instruction];
    if (row.opcode == Opcode::kConstant) {
      assignment_.allocations[NewAllocation(id)].is_constant = true;
      return true;
    }
    if (row.opcode == Opcode::kParameter && row.parent == module_.entry) {
      const AllocationId made = NewAllocation(id);
      Allocation& allocation = assignment_.allocations[made];
      allocation.parameter = module_.NumberOr(instruction, hlo::AttributeKey::kParameterNumber, 0);
      allocation.parameter_position = analysis_.flow.values[value].position;
      allocation.is_aliased_parameter = IsDonated(allocation.parameter_position);
      if (allocation.is_aliased_parameter) AllowReuse(made, id);
      return true;
    }
  }
  return false;
}

void Assigner::AssignBuffer(BufferId id, Phase phase) {
  if (AssignFixed(id)) return;
  if (phase == Phase::kThreadLocal) {
    assignment_.allocations[NewAllocation(id)].is_thread_local = true;
    return;
  }
  const std::span<const ValueId> values = analysis_.buffers.values_of(id);
  if (std::ranges::any_of(values, [&](ValueId value) {
        return module_.shapes.is_tuple(analysis_.flow.shape(value));
      })) {
    assignment_.allocations[NewAllocation(id)].is_tuple = true;
    return;
  }
  if (IsContextBuffer(id)) {
    AssignContext(id);
    return;
  }
  if (ReuseOperand(id) || ReuseResult(id)) return;
  if (analysis_.buffers.is_live_out[id.index] == 0) {
    std::vector<ValueId>& delayed = delayed_[ColorOf(id)];
    delayed.insert(delayed.end(), values.begin(), values.end());
    return;
  }
  AllowReuse(NewAllocation(id), id);
}

void Assigner::MarkLiveOut() {
  for (size_t b = 0; b < analysis_.buffers.size(); ++b) {
    if (analysis_.buffers.is_live_out[b] == 0) continue;
    for (const ValueId value : analysis_.buffers.values_of(BufferId(b))) {
      const AllocationId allocation = assignment_.places[value.index].allocation;
      if (!allocation.is_none()) assignment_.allocations[allocation].is_maybe_live_out = true;
    }
  }
}

Result<Assignment> Assign(const hlo::Module& module, const Analysis& analysis, const Rules& rules,
                          const std::optional<Preset>& preset) {
  return Assigner(module, analysis, rules, preset).Run();
}

}  // namespace stowplan
