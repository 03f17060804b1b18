// SPDX-License-Identifier: Apache-2.0
#include "repack/units.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace stowplan::repack {
namespace {

using executable::Executable;
using executable::Slice;
using executable::Thunk;
using hlo::InstrId;

// Sets of values with known distances: a value lies where the first of its set does, and so many
// bytes further.
class DistantSets {
 public:
  explicit DistantSets(size_t size) : parents_(size), distances_(size, 0) {
    std::iota(parents_.begin(), parents_.end(), 0U);
  }
  uint32_t Find(uint32_t i) {
    path_.clear();
    for (; parents_[i] != i; i = parents_[i]) path_.push_back(i);
    int64_t distance = 0;
    for (size_t k = path_.size(); k-- > 0;) {
      distance += distances_[path_[k]];
      distances_[path_[k]] = distance;
      parents_[path_[k]] = i;
    }
    return i;
  }
  int64_t DistanceOf(uint32_t i) {
    Find(i);
    return distances_[i];
  }
  // `b` lies `distance` bytes behind `a`. False if another distance is known.
  bool Join(uint32_t a, uint32_t b, int64_t distance) {
    const uint32_t root_a = Find(a);
    const uint32_t root_b = Find(b);
    const int64_t between = distances_[a] + distance - distances_[b];
    if (root_a == root_b) return between == 0;
    parents_[root_b] = root_a;
    distances_[root_b] = between;
    return true;
  }

 private:
  std::vector<uint32_t> parents_;
  std::vector<int64_t> distances_;  // from the parent; 0 for a root
  std::vector<uint32_t> path_;
};

class UnitFinder {
 public:
  UnitFinder(const Executable& executable, const PlannedModule& original,
             const SlotSources& sources, const Changed& changed)
      : executable_(executable),
        original_(original),
        sources_(sources),
        changed_(changed),
        flow_(changed.analysis->flow),
        sets_(flow_.values.size()) {}

  std::expected<Units, std::string> Run() {
    FindValues();
    FindFirsts();
    if (!JoinBuffers()) return std::unexpected("values of one buffer lie apart");
    out_.slot_values.assign(changed_.program.slots.size(), kNoUnit);
    out_.slot_distances.assign(changed_.program.slots.size(), 0);
    for (size_t row = 0; row < changed_.program.thunks.size(); ++row) {
      if (!JoinThunk(row)) {
        return std::unexpected(fmt::format("what `{}` shares would have to lie in two places",
                                           changed_.program.thunks[row].name));
      }
    }
    if (std::optional<std::string> failure = MakeUnits())
      return std::unexpected(*std::move(failure));
    return std::move(out_);
  }

 private:
  // Which buffers of the executable the values are, or are copies of.
  void FindValues() {
    const ValueFlow& before = original_.analysis->flow;
    out_.values.resize(flow_.values.size());
    places_.resize(flow_.values.size());
    for (uint32_t i = 0; i < flow_.values.size(); ++i) {
      const Value& value = flow_.values[ValueId(i)];
      if (value.is_gone) continue;
      const InstrId id = flow_.positions.instruction(value.position);
      const PositionId position =
          before.positions.At(changed_.origins[id.index], flow_.positions.offset(value.position));
      for (const ValueId origin : before.at(position)) {
        if (before.values[origin].position != position) continue;
        const auto place = executable_.assignment.places.find(origin.index);
        if (place == executable_.assignment.places.end()) continue;
        out_.values[i] = {.unit = 0,
                          .size = place->second.size,
                          .origin = origin.index,
                          .is_copy = changed_.is_copy[id.index] != 0};
        places_[i] = place->second;
      }
    }
  }
  // By row of the executable's module: the instruction that is no copy.
  void FindFirsts() {
    firsts_.resize(original_.module->instructions.size());
    for (size_t i = 0; i < changed_.origins.size(); ++i) {
      if (changed_.is_copy[i] == 0) firsts_[changed_.origins[i].index] = InstrId(i);
    }
  }
  [[nodiscard]] bool IsPlaced(uint32_t value) const { return out_.values[value].unit != kNoUnit; }

  bool JoinBuffers() {
    const BufferSet& buffers = changed_.analysis->buffers;
    for (size_t i = 0; i < buffers.size(); ++i) {
      uint32_t first = kNoUnit;
      for (const ValueId value : buffers.values_of(BufferId(i))) {
        if (!IsPlaced(value.index)) continue;
        if (first != kNoUnit) {
          // What lies apart is of different memory, and of no concern.
          const bool is_copied = out_.values[first].is_copy || out_.values[value.index].is_copy;
          const bool is_near = places_[first].allocation == places_[value.index].allocation;
          const int64_t distance =
              is_copied ? 0 : places_[value.index].offset - places_[first].offset;
          if ((is_copied || is_near) && !sets_.Join(first, value.index, distance)) return false;
        }
        first = value.index;
      }
    }
    return true;
  }

  // The values that a slot of the changed program holds, and how far it is behind their begins.
  void FindHeld(size_t thunk, uint32_t slot, std::vector<std::pair<uint32_t, int64_t>>& out) const {
    out.clear();
    const InstrId self = changed_.thunk_instructions[thunk];
    for (const SlotSource& source : sources_[changed_.slot_origins[slot]]) {
      const bool is_own = !self.is_none() && changed_.origins[self.index] == source.instruction;
      const InstrId id = is_own ? self : firsts_[source.instruction.index];
      if (id.is_none()) continue;
      const InstrId owner = source.operand == SlotSource::kResult
                                ? id
                                : changed_.module->operands_of(id)[source.operand];
      if (source.part >= flow_.positions.count(owner)) continue;
      for (const ValueId value : flow_.at(flow_.positions.At(owner, source.part))) {
        if (IsPlaced(value.index)) out.emplace_back(value.index, source.distance);
      }
    }
  }

  // Finds the values of a thunk's slots, and joins those that share memory in it.
  bool JoinThunk(size_t row) {
    const Thunk& thunk = changed_.program.thunks[row];
    std::vector<uint32_t> order;
    std::vector<std::pair<uint32_t, int64_t>> held;
    for (uint32_t i = thunk.slots.begin; i < thunk.slots.begin + thunk.slots.count; ++i) {
      const Slice& slice = executable_.program.slots[changed_.slot_origins[i]].slice;
      FindHeld(row, i, held);
      if (slice.size == 0 || held.empty()) continue;
      for (const auto& [value, distance] : held) {
        if (!sets_.Join(held[0].first, value, held[0].second - distance)) return false;
      }
      out_.slot_values[i] = held[0].first;
      out_.slot_distances[i] = held[0].second;
      order.push_back(i);
    }
    const auto slice_of = [&](uint32_t i) {
      return executable_.program.slots[changed_.slot_origins[i]].slice;
    };
    std::ranges::sort(order, {}, slice_of);
    int64_t reach = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      const Slice slice = slice_of(order[i]);
      const bool shares =
          i != 0 && slice_of(order[i - 1]).allocation == slice.allocation && slice.offset < reach;
      if (shares) {
        const uint32_t a = order[i - 1];
        const uint32_t b = order[i];
        const int64_t distance =
            slice.offset - slice_of(a).offset + out_.slot_distances[a] - out_.slot_distances[b];
        if (!sets_.Join(out_.slot_values[a], out_.slot_values[b], distance)) return false;
      }
      reach = shares ? std::max(reach, slice.offset + slice.size) : slice.offset + slice.size;
    }
    return true;
  }

  std::optional<std::string> MakeUnits() {
    std::vector<uint32_t> unit_of(out_.values.size(), kNoUnit);  // by the root of a set
    std::vector<uint32_t> bases;  // by unit: the value whose place in the executable counts
    for (const bool is_copy : {false, true}) {
      for (uint32_t i = 0; i < out_.values.size(); ++i) {
        if (!IsPlaced(i) || out_.values[i].is_copy != is_copy) continue;
        uint32_t& unit = unit_of[sets_.Find(i)];
        if (unit == kNoUnit) {
          unit = static_cast<uint32_t>(bases.size());
          bases.push_back(i);
        }
        out_.values[i].unit = unit;
      }
    }
    out_.units.resize(bases.size());
    for (size_t u = 0; u < bases.size(); ++u) {
      const Slice& place = places_[bases[u]];
      Unit& unit = out_.units[u];
      const bool is_copied = out_.values[bases[u]].is_copy;
      const std::optional<int64_t> heap = is_copied
                                              ? HeapFor(executable_.assignment, place.allocation)
                                              : std::optional(place.allocation);
      if (!heap) return "there is no heap for what is computed again";
      unit.allocation = *heap;
      unit.is_fixed =
          !executable_.assignment.allocations[static_cast<size_t>(*heap)].is_temporary();
      unit.is_guest = unit.is_fixed && CanTakeGuests(*heap);
      unit.begin = place.offset;
      unit.end = place.offset;
    }
    for (uint32_t i = 0; i < out_.values.size(); ++i) {
      UnitValue& value = out_.values[i];
      if (!IsPlaced(i)) continue;
      Unit& unit = out_.units[value.unit];
      const uint32_t base = bases[value.unit];
      value.offset = places_[base].offset + sets_.DistanceOf(i) - sets_.DistanceOf(base);
      if (!value.is_copy &&
          (places_[i].allocation != unit.allocation || places_[i].offset != value.offset)) {
        return fmt::format("`{}` would have to lie in two places",
                           changed_.module->name(flow_.instruction(ValueId(i))));
      }
      if (value.is_copy && unit.is_fixed) {
        return fmt::format("a copy of `{}` would have to lie outside the heaps",
                           changed_.module->name(flow_.instruction(ValueId(i))));
      }
      unit.begin = std::min(unit.begin, value.offset);
      unit.end = std::max(unit.end, value.offset + value.size);
      unit.alive.push_back(AliveOf(ValueId(i)));
      if (IsPermanent(ValueId(i))) unit.is_guest = false;
    }
    for (Unit& unit : out_.units) Merge(unit);
    return std::nullopt;
  }
  [[nodiscard]] bool CanTakeGuests(int64_t index) const {
    const executable::Allocation& allocation =
        executable_.assignment.allocations[static_cast<size_t>(index)];
    return !allocation.is_thread_local && !allocation.is_constant && !allocation.is_tuple &&
           HeapFor(executable_.assignment, index).has_value();
  }
  // What the caller gives or gets, what is there all the time, and what belongs to a computation
  // that is called: one kernel may execute all of it, with the places that it was compiled for.
  [[nodiscard]] bool IsPermanent(ValueId id) const {
    const hlo::Instruction& row = changed_.module->instructions[flow_.instruction(id)];
    const bool is_given =
        row.opcode == hlo::Opcode::kParameter && row.parent == changed_.module->entry;
    return is_given || row.parent != changed_.module->entry ||
           row.opcode == hlo::Opcode::kConstant || flow_.is_live_out(id) ||
           changed_.module->shapes.is_tuple(flow_.shape(id)) ||
           !changed_.analysis->live.of(id).exists();
  }
  [[nodiscard]] Instants AliveOf(ValueId id) const {
    const LiveRange& range = changed_.analysis->live.of(id);
    if (!range.exists()) return {0, changed_.analysis->schedule.end() + 1};
    return {range.start, range.end + 1};
  }
  static void Merge(Unit& unit) {
    std::ranges::sort(unit.alive, {}, &Instants::start);
    std::vector<Instants> merged;
    for (const Instants& instants : unit.alive) {
      if (!merged.empty() && instants.start <= merged.back().end) {
        merged.back().end = std::max(merged.back().end, instants.end);
      } else {
        merged.push_back(instants);
      }
    }
    unit.alive = std::move(merged);
  }

  const Executable& executable_;
  const PlannedModule& original_;
  const SlotSources& sources_;
  const Changed& changed_;
  const ValueFlow& flow_;
  DistantSets sets_;
  std::vector<Slice> places_;    // by value: of the original, in the executable
  std::vector<InstrId> firsts_;  // by row of the executable's module
  Units out_;
};

}  // namespace

bool AreAliveTogether(const Unit& a, const Unit& b) {
  return std::ranges::any_of(a.alive, [&](const Instants& x) {
    return std::ranges::any_of(
        b.alive, [&](const Instants& y) { return x.start < y.end && y.start < x.end; });
  });
}

std::optional<int64_t> HeapFor(const executable::Assignment& assignment, int64_t allocation) {
  const executable::Allocation& given = assignment.allocations[static_cast<size_t>(allocation)];
  if (given.is_temporary()) return allocation;
  std::optional<int64_t> best;
  for (const executable::Allocation& other : assignment.allocations) {
    if (!other.is_temporary() || other.color != given.color) continue;
    if (!best || other.size > assignment.allocations[static_cast<size_t>(*best)].size)
      best = other.index;
  }
  return best;
}

std::expected<Units, std::string> FindUnits(const Executable& executable,
                                            const PlannedModule& original,
                                            const SlotSources& sources, const Changed& changed) {
  return UnitFinder(executable, original, sources, changed).Run();
}

}  // namespace stowplan::repack
