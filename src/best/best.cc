// SPDX-License-Identifier: Apache-2.0
// One memory space after the other: XLA's plan is kept where none is found that is lower.
#include "best/best.h"

#include <algorithm>
#include <map>
#include <set>

#include "assign/sizes.h"
#include "base/checked_math.h"
#include "base/stable_sort.h"
#include "best/floor.h"
#include "best/host.h"
#include "best/move.h"
#include "best/pack_units.h"
#include "best/unit.h"

namespace stowplan {
namespace {

using hlo::InstrId;
using hlo::Opcode;

// The temporaries of a memory space as XLA has them.
struct Space {
  std::vector<AllocationId> blocks;
  std::vector<ValueId> temporaries;  // in the blocks
  std::vector<ValueId> guests;       // in hosts, and free to lie elsewhere
  std::vector<BufferId> tuples;      // in the blocks, to the end of the program
  std::vector<Host> hosts;           // with all residents
};

// A choice of who lies in a host.
struct Choice {
  Units units;
  std::vector<Spot> spots;  // by unit
  UnitBound bound;          // of what is left in the heap
};

class Planner {
 public:
  Planner(const hlo::Module& module, const Analysis& analysis, const Rules& rules,
          const BestOptions& options, BufferSizes measured, Assignment assignment)
      : module_(module),
        analysis_(analysis),
        rules_(rules),
        options_(options),
        measured_(std::move(measured)),
        share_(module, analysis, rules),
        best_{.assignment = std::move(assignment), .heaps = {}} {}

  BestPlan Run() && {
    FindKinds();
    for (const Allocation& allocation : best_.assignment.allocations.rows()) {
      if (allocation.color == rules_.lending_space && allocation.is_temp())
        lent_bytes_ = SaturatingAdd(lent_bytes_, allocation.size);
    }
    for (const auto& [color, space] : FindSpaces()) PlanSpace(color, space);
    Renumber();
    return std::move(best_);
  }

 private:
  // Some buffers have very many values: each is looked at once.
  void FindKinds() {
    is_tuple_.assign(analysis_.buffers.size(), 0);
    is_fixed_ = analysis_.buffers.is_live_out;
    for (size_t b = 0; b < analysis_.buffers.size(); ++b) {
      for (const ValueId value : analysis_.buffers.values_of(BufferId(b))) {
        const hlo::Instruction& row = module_.instructions[analysis_.flow.instruction(value)];
        if (module_.shapes.is_tuple(analysis_.flow.shape(value))) is_tuple_[b] = 1;
        if (row.opcode == Opcode::kParameter && row.parent == module_.entry) is_fixed_[b] = 1;
      }
    }
  }
  [[nodiscard]] bool IsTuple(BufferId id) const { return is_tuple_[id.index] != 0; }
  [[nodiscard]] bool IsFixed(BufferId id) const { return is_fixed_[id.index] != 0; }

  [[nodiscard]] std::map<int64_t, Space> FindSpaces() const {
    std::map<int64_t, Space> spaces;
    const Assignment& plan = best_.assignment;
    for (size_t a = 0; a < plan.allocations.size(); ++a) {
      const AllocationId id(a);
      const Allocation& allocation = plan.allocations[id];
      if (allocation.is_preset) continue;
      if (allocation.is_temp()) {
        Space& space = spaces[allocation.color];
        space.blocks.push_back(id);
        std::set<BufferId> tuples;
        for (const ValueId value : allocation.values) {
          const BufferId buffer = analysis_.buffers.of(value);
          if (!IsTuple(buffer)) {
            space.temporaries.push_back(value);
          } else if (tuples.insert(buffer).second) {
            space.tuples.push_back(buffer);
          }
        }
      } else if (IsHost(allocation)) {
        Space& space = spaces[allocation.color];
        Host& host = space.hosts.emplace_back(Host{id, allocation.size, {}});
        for (const ValueId value : allocation.values) {
          const Place& place = plan.places[value.index];
          if (!IsFixed(analysis_.buffers.of(value))) space.guests.push_back(value);
          if (analysis_.live.of(value).exists() && place.size != 0)
            host.residents.push_back({value, analysis_.live.of(value), place.offset, place.size});
        }
      }
    }
    std::erase_if(spaces, [](const auto& row) { return row.second.blocks.empty(); });
    return spaces;
  }

  // The lowest of what several rules make of it.
  [[nodiscard]] Choice Choose(const Space& space, std::span<const ValueId> values,
                              const std::vector<Host>& hosts, int64_t alignment) {
    Choice best = {.units = FindUnits(module_, analysis_, values, measured_.sizes, share_),
                   .spots = {},
                   .bound = {}};
    const std::vector<Unit> movable = best.units.units;
    for (const BufferId id : space.tuples) {
      const std::span<const ValueId> tuple = analysis_.buffers.values_of(id);
      best.units.units.push_back({.size = measured_.sizes[id.index],
                                  .segments = {{0, analysis_.schedule.end() + 1}},
                                  .values = {tuple.begin(), tuple.end()}});
    }
    for (const MoveRule& rule : kMoveRules) {
      std::vector<Spot> spots = MoveToHosts(hosts, movable, rule, alignment, analysis_, share_);
      spots.resize(best.units.units.size());
      const UnitBound bound = FindUnitBound(HeapUnits(best.units, spots), alignment);
      if (!best.spots.empty() && bound.bytes >= best.bound.bytes) continue;
      best.spots = std::move(spots);
      best.bound = bound;
      if (hosts.empty()) break;
    }
    return best;
  }

  [[nodiscard]] static std::vector<const Unit*> HeapUnits(const Units& units,
                                                          std::span<const Spot> spots) {
    std::vector<const Unit*> found;
    for (size_t u = 0; u < units.units.size(); ++u) {
      if (spots[u].is_heap()) found.push_back(&units.units[u]);
    }
    return found;
  }

  [[nodiscard]] static std::vector<ValueId> MovableOf(const Space& space) {
    std::vector<ValueId> values = space.temporaries;
    values.insert(values.end(), space.guests.begin(), space.guests.end());
    return values;
  }
  [[nodiscard]] std::vector<Host> WithoutGuests(std::vector<Host> hosts) const {
    for (Host& host : hosts) {
      std::erase_if(host.residents, [&](const Host::Resident& resident) {
        return !IsFixed(analysis_.buffers.of(resident.value));
      });
    }
    return hosts;
  }

  // XLA's guests stay where they are, and others join them; or all are free to go.
  [[nodiscard]] std::vector<Choice> Choices(const Space& space, int64_t alignment) {
    std::vector<Choice> choices;
    choices.push_back(Choose(space, space.temporaries, space.hosts, alignment));
    if (!space.guests.empty())
      choices.push_back(Choose(space, MovableOf(space), WithoutGuests(space.hosts), alignment));
    StableSort(choices, {}, [](const Choice& choice) { return choice.bound.bytes; });
    return choices;
  }

  // What the heap may take of the memory limit.
  [[nodiscard]] std::optional<int64_t> CapacityOf(int64_t color, int64_t xla_bytes) const {
    if (!options_.memory_limit || color != 0) return std::nullopt;
    return std::max<int64_t>(*options_.memory_limit - (MainMemory(best_.assignment) - xla_bytes),
                             0);
  }

  void PlanSpace(int64_t color, const Space& space) {
    const int64_t alignment = rules_.AlignmentOf(color);
    BestHeap heap = {.color = color};
    for (const AllocationId id : space.blocks)
      heap.xla_bytes += best_.assignment.allocations[id].size;
    heap.bytes = heap.xla_bytes;
    const std::optional<int64_t> capacity = CapacityOf(color, heap.xla_bytes);
    const std::vector<Choice> choices = Choices(space, alignment);
    const Choice* taken = nullptr;
    UnitPlan plan;
    for (const Choice& choice : choices) {
      if (choice.bound.bytes >= heap.bytes) continue;
      std::optional<UnitPlan> next = PackUnits(HeapUnits(choice.units, choice.spots), alignment,
                                               choice.bound, capacity, options_);
      if (!next || next->height >= heap.bytes || next->height > rules_.heap_limit) continue;
      heap.bytes = next->height;
      plan = *std::move(next);
      taken = &choice;
    }
    if (taken == nullptr) {
      const UnitBound bound = XlaBound(space, alignment);
      plan.bound = bound.bytes;
      plan.bound_time = bound.time;
    } else {
      Put(space, *taken, plan);
    }
    heap.floor = FloorOf(color, space, alignment);
    heap.xla_guests = static_cast<int64_t>(space.guests.size());
    heap.guests = CountGuests(space);
    heap.bound = plan.bound;
    heap.bound_time = plan.bound_time;
    best_.heaps.push_back(heap);
  }

  // Of what lies in XLA's blocks. Each of several begins anew, and is rounded up for itself.
  UnitBound XlaBound(const Space& space, int64_t alignment) {
    return Choose(space, space.temporaries, {}, space.blocks.size() > 1 ? 1 : alignment).bound;
  }

  // Of all plans whose other spaces are not larger.
  int64_t FloorOf(int64_t color, const Space& space, int64_t alignment) {
    // Each of several blocks is rounded up for itself.
    FloorInput input = {.alignment = space.blocks.size() > 1 ? 1 : alignment};
    std::vector<ValueId> movable = MovableOf(space);
    // Who fills a hole of another space's heap could stay at home.
    std::erase_if(movable, [&](ValueId id) { return best_.assignment.colors[id.index] != color; });
    const std::vector<Host> hosts = WithoutGuests(space.hosts);
    input.movable = movable;
    input.hosts = hosts;
    input.sizes = measured_.sizes;
    std::vector<int64_t> tuples;
    tuples.reserve(space.tuples.size());
    for (const BufferId id : space.tuples) tuples.push_back(measured_.sizes[id.index]);
    input.always = tuples;
    // Whoever may be written over at some position counts.
    Rules every_position = rules_;
    every_position.reads_last_position = false;
    ShareRules share(module_, analysis_, every_position);
    const int64_t floor = FindFloor(module_, analysis_, input, share);
    return color == 0 ? std::max<int64_t>(floor - lent_bytes_, 0) : floor;
  }

  [[nodiscard]] int64_t CountGuests(const Space& space) const {
    return std::ranges::count_if(MovableOf(space), [&](ValueId id) {
      const AllocationId allocation = best_.assignment.places[id.index].allocation;
      return std::ranges::find(space.blocks, allocation) == space.blocks.end();
    });
  }

  void Put(const Space& space, const Choice& choice, const UnitPlan& plan) {
    std::vector<Place>& places = best_.assignment.places;
    const AllocationId block = space.blocks[0];
    size_t next = 0;
    for (size_t u = 0; u < choice.units.units.size(); ++u) {
      const Unit& unit = choice.units.units[u];
      const Spot& spot = choice.spots[u];
      const Place place = spot.is_heap()
                              ? Place{block, plan.offsets[next++], unit.size}
                              : Place{space.hosts[spot.host].allocation, spot.offset, unit.size};
      for (const ValueId id : unit.values) places[id.index] = place;
    }
    for (const ValueId id : choice.units.empty) places[id.index] = {block, 0, 0};
    for (const AllocationId id : space.blocks)
      best_.assignment.allocations[id].size = id == block ? plan.height : 0;
  }

  // Blocks that nothing lies in go away; the others get their numbers and values.
  void Renumber() {
    Assignment& plan = best_.assignment;
    std::vector<uint8_t> is_used(plan.allocations.size(), 0);
    for (const Place& place : plan.places) {
      if (!place.allocation.is_none()) is_used[place.allocation.index] = 1;
    }
    Table<AllocationId, Allocation> kept;
    std::vector<AllocationId> numbers(plan.allocations.size());
    for (size_t a = 0; a < plan.allocations.size(); ++a) {
      Allocation& allocation = plan.allocations[AllocationId(a)];
      if (is_used[a] == 0 && allocation.is_temp() && !allocation.is_preset) continue;
      allocation.values.clear();
      numbers[a] = kept.Add(std::move(allocation));
    }
    for (size_t v = 0; v < plan.places.size(); ++v) {
      Place& place = plan.places[v];
      if (place.allocation.is_none()) continue;
      place.allocation = numbers[place.allocation.index];
      kept[place.allocation].values.emplace_back(v);
    }
    plan.allocations = std::move(kept);
  }

  const hlo::Module& module_;
  const Analysis& analysis_;
  const Rules& rules_;
  const BestOptions& options_;
  BufferSizes measured_;
  ShareRules share_;
  std::vector<uint8_t> is_tuple_;  // by buffer
  std::vector<uint8_t> is_fixed_;  // by buffer: a part of the result, or given to the program
  BestPlan best_;
  int64_t lent_bytes_ = 0;  // that values of space 0 may take of another
};

}  // namespace

int64_t MainMemory(const Assignment& assignment) {
  int64_t sum = 0;
  for (const Allocation& allocation : assignment.allocations.rows()) {
    if (allocation.color == 0) sum = SaturatingAdd(sum, allocation.size);
  }
  return sum;
}

Result<BestPlan> AssignBest(const hlo::Module& module, const Analysis& analysis, const Rules& rules,
                            const std::optional<Preset>& preset, const BestOptions& options) {
  STOWPLAN_TRY(Assignment assignment, Assign(module, analysis, rules, preset));
  STOWPLAN_TRY(BufferSizes measured, MeasureBuffers(module, analysis, rules));
  return Planner(module, analysis, rules, options, std::move(measured), std::move(assignment))
      .Run();
}

}  // namespace stowplan
