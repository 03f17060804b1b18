// SPDX-License-Identifier: Apache-2.0
#include "buffers/buffer_set.h"

#include <algorithm>
#include <utility>

#include "values/donations.h"

namespace stowplan {
namespace {

using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;

// For a value, another one that must share its place.
using Tie = std::pair<ValueId, ValueId>;

class TieFinder {
 public:
  TieFinder(const hlo::Module& module, const ValueFlow& flow, const InPlacePairs& pairs)
      : module_(module), flow_(flow), pairs_(pairs) {}

  std::vector<Tie> Run() && {
    AddDonations();
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      const InstrId id(i);
      const std::span<const CompId> called = module_.called_by(id);
      if (called.empty()) continue;
      switch (module_.instructions[id].opcode) {
        case Opcode::kWhile:
          AddWhile(id);
          break;
        case Opcode::kConditional:
          for (const CompId branch : called) AddTrees(module_.computations[branch].root, id);
          break;
        default:
          break;
      }
    }
    AddInPlace();
    std::ranges::sort(ties_);
    ties_.erase(std::ranges::unique(ties_).begin(), ties_.end());
    return std::move(ties_);
  }

 private:
  void Add(PositionId from, PositionId to) {
    for (const ValueId a : flow_.at(from)) {
      for (const ValueId b : flow_.at(to)) ties_.emplace_back(a, b);
    }
  }
  // Each position of `from` with the same position of `to`.
  void AddTrees(InstrId from, InstrId to) {
    const uint32_t count = std::min(flow_.positions.count(from), flow_.positions.count(to));
    for (uint32_t k = 0; k < count; ++k)
      Add(flow_.positions.At(from, k), flow_.positions.At(to, k));
  }

  void AddDonations() {
    for (const Donation& donation : FindDonations(module_, flow_.positions))
      Add(donation.output, donation.input);
  }

  void AddWhile(InstrId id) {
    if (!module_.operands_of(id).empty()) AddTrees(module_.operands_of(id)[0], id);
    const std::span<const CompId> called = module_.called_by(id);
    for (const CompId callee : called) {
      for (const InstrId parameter : module_.parameters_of(callee)) {
        // Values that are born at the parameter: phis.
        const uint32_t count =
            std::min(flow_.positions.count(parameter), flow_.positions.count(id));
        for (uint32_t k = 0; k < count; ++k) {
          const PositionId position = flow_.positions.At(parameter, k);
          for (const ValueId value : flow_.at(position)) {
            if (flow_.values[value].position != position) continue;
            for (const ValueId other : flow_.at(flow_.positions.At(id, k)))
              ties_.emplace_back(value, other);
          }
        }
      }
    }
    AddTrees(module_.computations[called[0]].root, id);
  }

  void AddInPlace() {
    for (const InstrId id : pairs_.instructions) {
      const std::span<const InstrId> operands = module_.operands_of(id);
      for (const InPlacePair& pair : pairs_.of(id)) {
        if (pair.operand >= operands.size() || pair.output >= flow_.positions.count(id) ||
            pair.input >= flow_.positions.count(operands[pair.operand]))
          continue;
        const PositionId input = flow_.positions.At(operands[pair.operand], pair.input);
        const PositionId output = flow_.positions.At(id, pair.output);
        Add(output, input);
        Add(input, output);
      }
    }
  }

  const hlo::Module& module_;
  const ValueFlow& flow_;
  const InPlacePairs& pairs_;
  std::vector<Tie> ties_;
};

// Sets of values that grow together. A set keeps the place in order of the value it began with.
class Sets {
 public:
  explicit Sets(size_t count) : parents_(count), sizes_(count, 1), homes_(count) {
    for (size_t i = 0; i < count; ++i) parents_[i] = homes_[i] = static_cast<uint32_t>(i);
  }
  uint32_t Find(uint32_t x) {
    while (parents_[x] != x) x = parents_[x] = parents_[parents_[x]];
    return x;
  }
  [[nodiscard]] uint32_t size(uint32_t root) const { return sizes_[root]; }
  [[nodiscard]] uint32_t home(uint32_t root) const { return homes_[root]; }
  // `into` keeps its home.
  void Merge(uint32_t from, uint32_t into) {
    const uint32_t home = homes_[into];
    if (sizes_[into] < sizes_[from]) std::swap(from, into);
    parents_[from] = into;
    sizes_[into] += sizes_[from];
    homes_[into] = home;
  }

 private:
  std::vector<uint32_t> parents_;
  std::vector<uint32_t> sizes_;
  std::vector<uint32_t> homes_;
};

}  // namespace

BufferSet FindBuffers(const hlo::Module& module, const ValueFlow& flow, const InPlacePairs& pairs) {
  const std::vector<Tie> ties = TieFinder(module, flow, pairs).Run();
  const size_t count = flow.values.size();
  Sets sets(count);
  // Value by value, as XLA does: the largest of the sets that meet swallows the others.
  for (size_t begin = 0; begin < ties.size();) {
    size_t end = begin;
    while (end < ties.size() && ties[end].first == ties[begin].first) ++end;
    std::vector<uint32_t> members = {ties[begin].first.index};
    for (size_t k = begin; k < end; ++k) members.push_back(ties[k].second.index);
    std::ranges::sort(members);
    uint32_t target = sets.Find(members[0]);
    for (const uint32_t member : members) {
      const uint32_t set = sets.Find(member);
      if (sets.size(set) > sets.size(target)) target = set;
    }
    for (const uint32_t member : members) {
      const uint32_t set = sets.Find(member);
      const uint32_t into = sets.Find(target);
      if (set != into) sets.Merge(set, into);
    }
    begin = end;
  }

  BufferSet buffers;
  // Buffers in the order of their sets' homes.
  std::vector<uint32_t> set_at(count, 0xffffffffU);  // by home: the set
  for (size_t v = 0; v < count; ++v) {
    if (flow.values[ValueId(v)].is_gone) continue;
    const uint32_t set = sets.Find(static_cast<uint32_t>(v));
    set_at[sets.home(set)] = set;
  }
  std::vector<BufferId> buffer_of_set(count);
  size_t next = 0;
  for (const uint32_t set : set_at) {
    if (set != 0xffffffffU) buffer_of_set[set] = BufferId(next++);
  }
  buffers.buffers.resize(count);
  buffers.begins.assign(next + 1, 0);
  for (size_t v = 0; v < count; ++v) {
    if (flow.values[ValueId(v)].is_gone) continue;
    buffers.buffers[v] = buffer_of_set[sets.Find(static_cast<uint32_t>(v))];
    ++buffers.begins[buffers.buffers[v].index + 1];
  }
  for (size_t b = 0; b < next; ++b) buffers.begins[b + 1] += buffers.begins[b];
  buffers.values.resize(buffers.begins[next]);
  std::vector<uint32_t> fill(buffers.begins.begin(), buffers.begins.end() - 1);
  for (size_t v = 0; v < count; ++v) {
    if (!buffers.buffers[v].is_none())
      buffers.values[fill[buffers.buffers[v].index]++] = ValueId(v);
  }
  buffers.is_live_out.assign(next, 0);
  for (size_t v = 0; v < count; ++v) {
    if (!buffers.buffers[v].is_none() && flow.is_live_out(ValueId(v)))
      buffers.is_live_out[buffers.buffers[v].index] = 1;
  }
  return buffers;
}

}  // namespace stowplan
