// SPDX-License-Identifier: Apache-2.0
#include "repack/layout.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "executable/sharing.h"
#include "stowplan/pack.h"

namespace stowplan::repack {
namespace {

using executable::Executable;
using executable::Slice;
using executable::Thunk;

// Pairs of slots are looked at one by one; no thunk with more is expected.
constexpr uint32_t kMostSlotsApart = 512;

class LayoutFinder {
 public:
  LayoutFinder(const Executable& executable, const Changed& changed, const Units& units)
      : executable_(executable), changed_(changed), units_(units), begins_(units.units.size(), 0) {
    for (size_t u = 0; u < begins_.size(); ++u) begins_[u] = units.units[u].begin;
  }

  std::expected<Layout, std::string> Run() {
    EvictGuests();
    apart_ = FindApart();
    Layout layout;
    for (const executable::Allocation& allocation : executable_.assignment.allocations) {
      if (!allocation.is_temporary()) continue;
      std::optional<HeapLayout> heap = Pack(allocation);
      if (!heap) return std::unexpected("the packer failed");
      layout.heaps.push_back(*heap);
    }
    Fill(layout);
    return layout;
  }

 private:
  // Guests stay where they are, the largest first, as long as nobody else is there then. The others
  // go to a heap.
  void EvictGuests() {
    std::map<int64_t, std::vector<uint32_t>> hosted;  // by allocation: who stays
    std::vector<uint32_t> guests;
    for (uint32_t u = 0; u < units_.units.size(); ++u) {
      const Unit& unit = units_.units[u];
      if (!unit.is_fixed) continue;
      if (unit.is_guest) {
        guests.push_back(u);
      } else {
        hosted[unit.allocation].push_back(u);
      }
    }
    std::ranges::stable_sort(guests, std::greater(), [&](uint32_t u) {
      return units_.units[u].end - units_.units[u].begin;
    });
    for (const uint32_t u : guests) {
      Unit& unit = units_.units[u];
      std::vector<uint32_t>& others = hosted[unit.allocation];
      const bool meets = std::ranges::any_of(others, [&](uint32_t other) {
        const Unit& host = units_.units[other];
        return host.begin < unit.end && unit.begin < host.end && AreAliveTogether(unit, host);
      });
      if (!meets) {
        others.push_back(u);
        continue;
      }
      unit.allocation = *HeapFor(executable_.assignment, unit.allocation);
      unit.is_fixed = false;
    }
  }

  // Units that meet in one thunk without being alive together: a kernel that executes a whole
  // computation has all of its values as arguments, and was compiled for places apart.
  std::vector<std::pair<uint32_t, uint32_t>> FindApart() const {
    std::vector<std::pair<uint32_t, uint32_t>> out;
    for (const Thunk& thunk : changed_.program.thunks) {
      if (thunk.slots.count > kMostSlotsApart) continue;  // the check of the thunks decides
      std::vector<uint32_t> met;
      for (uint32_t i = thunk.slots.begin; i < thunk.slots.begin + thunk.slots.count; ++i) {
        const uint32_t value = units_.slot_values[i];
        if (value != kNoUnit) met.push_back(units_.values[value].unit);
      }
      std::ranges::sort(met);
      met.erase(std::unique(met.begin(), met.end()), met.end());
      for (size_t a = 0; a < met.size(); ++a) {
        for (size_t b = a + 1; b < met.size(); ++b) {
          const Unit& first = units_.units[met[a]];
          const Unit& second = units_.units[met[b]];
          if (first.allocation == second.allocation && !AreAliveTogether(first, second))
            out.emplace_back(met[a], met[b]);
        }
      }
    }
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  // Offsets for the units of one heap.
  std::optional<HeapLayout> Pack(const executable::Allocation& allocation) {
    std::vector<bool> is_heap(executable_.assignment.allocations.size());
    is_heap[static_cast<size_t>(allocation.index)] = true;
    const int64_t most = executable_.platform() == executable::Platform::kCpu ? 64 : 256;
    const int64_t alignment = executable::AlignmentOf(executable_.program, is_heap, most);
    pack::Problem problem;
    std::vector<size_t> packed;
    std::vector<uint32_t> buffers(units_.units.size(), kNoUnit);
    std::vector<int64_t> shifts;
    for (size_t row = 0; row < units_.units.size(); ++row) {
      const Unit& unit = units_.units[row];
      if (unit.allocation != allocation.index) continue;
      // A unit that begins between two aligned places stays as far behind one of them.
      const int64_t shift = ((unit.begin % alignment) + alignment) % alignment;
      const auto buffer = static_cast<uint32_t>(packed.size());
      problem.buffers.push_back({.size = unit.end - unit.begin + shift,
                                 .start = unit.alive.front().start,
                                 .end = unit.alive.back().end,
                                 .alignment = alignment});
      for (size_t i = 1; i < unit.alive.size(); ++i) {
        problem.gaps.push_back(
            {.buffer = buffer, .start = unit.alive[i - 1].end, .end = unit.alive[i].start});
      }
      buffers[row] = buffer;
      packed.push_back(row);
      shifts.push_back(shift);
    }
    for (const auto& [a, b] : apart_) {
      if (buffers[a] != kNoUnit) problem.apart.emplace_back(buffers[a], buffers[b]);
    }
    const Result<pack::Answer> answer = pack::Solve(problem);
    if (!answer || answer->plan.offsets.size() != packed.size()) return std::nullopt;
    for (size_t i = 0; i < packed.size(); ++i)
      begins_[packed[i]] = answer->plan.offsets[i] + shifts[i];
    return HeapLayout{
        .allocation = allocation.index, .bytes = answer->plan.height, .bound = answer->bound};
  }

  [[nodiscard]] Slice PlaceOf(const UnitValue& value) const {
    const Unit& unit = units_.units[value.unit];
    return {unit.allocation, value.offset - unit.begin + begins_[value.unit], value.size};
  }

  void Fill(Layout& layout) const {
    layout.values.resize(units_.values.size());
    for (size_t i = 0; i < units_.values.size(); ++i) {
      const UnitValue& value = units_.values[i];
      if (value.unit == kNoUnit) continue;
      layout.values[i] = PlaceOf(value);
      const Slice& before = executable_.assignment.places.at(value.origin);
      if (!value.is_copy && layout.values[i] != before) ++layout.moved_values;
    }
    for (size_t i = 0; i < units_.slot_values.size(); ++i) {
      Slice slice = changed_.program.slots[i].slice;
      if (const uint32_t value = units_.slot_values[i]; value != kNoUnit) {
        const Slice place = PlaceOf(units_.values[value]);
        slice.allocation = place.allocation;
        slice.offset = place.offset + units_.slot_distances[i];
      } else if (slice.size == 0) {
        slice.offset = 0;  // what is empty fits into what is left of the allocation
      }
      layout.slots.push_back(slice);
    }
  }

  const Executable& executable_;
  const Changed& changed_;
  Units units_;
  std::vector<int64_t> begins_;                       // by unit: where it is put
  std::vector<std::pair<uint32_t, uint32_t>> apart_;  // units of the same allocation
};

}  // namespace

std::expected<Layout, std::string> FindLayout(const Executable& executable, const Changed& changed,
                                              const Units& units) {
  return LayoutFinder(executable, changed, units).Run();
}

}  // namespace stowplan::repack
