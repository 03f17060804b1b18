// SPDX-License-Identifier: Apache-2.0
#include "repack/layout.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "executable/sharing.h"
#include "live/analysis.h"
#include "repack/slots.h"
#include "stowplan/pack.h"

namespace stowplan::repack {
namespace {

using executable::Executable;
using executable::Slice;
using executable::Slot;
using executable::Thunk;

constexpr uint32_t kNobody = UINT32_MAX;
// Pairs of slots are looked at one by one; no thunk with more is expected.
constexpr uint32_t kMostSlotsApart = 512;

class Sets {
 public:
  explicit Sets(size_t size) : parents_(size) { std::iota(parents_.begin(), parents_.end(), 0U); }
  uint32_t Find(uint32_t i) {
    while (parents_[i] != i) {
      parents_[i] = parents_[parents_[i]];
      i = parents_[i];
    }
    return i;
  }
  void Join(uint32_t a, uint32_t b) { parents_[Find(a)] = Find(b); }

 private:
  std::vector<uint32_t> parents_;
};

struct Instants {
  int64_t start = 0;
  int64_t end = 0;  // exclusive
};

struct Unit {
  int64_t allocation = 0;
  int64_t begin = 0;  // where it lies in the executable
  int64_t end = 0;
  std::vector<Instants> alive;
  int64_t offset = 0;  // where it is put
};

class LayoutFinder {
 public:
  LayoutFinder(const Executable& executable, const PlannedModule& planned)
      : executable_(executable),
        planned_(planned),
        report_(*planned.report),
        resolver_(executable, planned),
        sets_(report_.values.size()),
        slot_values_(executable.program.slots.size(), kNobody) {}

  std::expected<Layout, std::string> Run() {
    JoinBuffers();
    for (const Thunk& thunk : executable_.program.thunks) {
      if (std::optional<std::string> failure = JoinThunk(thunk)) return std::unexpected(*failure);
    }
    FindUnits();
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
  [[nodiscard]] bool IsHeap(int64_t allocation) const {
    const auto index = static_cast<size_t>(allocation);
    return index < executable_.assignment.allocations.size() &&
           executable_.assignment.allocations[index].is_temporary();
  }
  [[nodiscard]] const report::Value& ValueAt(uint32_t row) const {
    return report_.values[report::ValueId(row)];
  }
  [[nodiscard]] int64_t AllocationOf(uint32_t row) const {
    return report_.allocations[ValueAt(row).allocation].number;
  }

  void JoinBuffers() {
    std::vector<uint32_t> rows;  // by the number of a value
    for (uint32_t row = 0; row < report_.values.size(); ++row) {
      const report::Value& value = ValueAt(row);
      if (value.number < 0 || value.allocation.is_none()) continue;
      const auto number = static_cast<size_t>(value.number);
      if (rows.size() <= number) rows.resize(number + 1, kNobody);
      rows[number] = row;
    }
    const BufferSet& buffers = planned_.analysis->buffers;
    for (size_t i = 0; i < buffers.size(); ++i) {
      uint32_t first = kNobody;
      for (const ValueId value : buffers.values_of(BufferId(i))) {
        const uint32_t row = value.index < rows.size() ? rows[value.index] : kNobody;
        if (row == kNobody) continue;
        if (first != kNobody) sets_.Join(first, row);
        first = row;
      }
    }
  }

  // Finds the values of a thunk's slots, and joins those that share memory in it.
  std::optional<std::string> JoinThunk(const Thunk& thunk) {
    std::vector<uint32_t> order;
    for (uint32_t i = thunk.slots.begin; i < thunk.slots.begin + thunk.slots.count; ++i) {
      const Slice& slice = executable_.program.slots[i].slice;
      if (slice.size == 0 || !IsHeap(slice.allocation)) continue;
      const std::vector<uint32_t> values = resolver_.Candidates(thunk, slice);
      if (values.empty()) {
        return fmt::format("`{}` uses bytes of allocation {} in which no value lies", thunk.name,
                           slice.allocation);
      }
      for (const uint32_t value : values) sets_.Join(values[0], value);
      slot_values_[i] = values[0];
      order.push_back(i);
    }
    const auto slice_of = [&](uint32_t i) { return executable_.program.slots[i].slice; };
    std::ranges::sort(order, {}, slice_of);
    int64_t reach = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      const Slice slice = slice_of(order[i]);
      const bool shares =
          i != 0 && slice_of(order[i - 1]).allocation == slice.allocation && slice.offset < reach;
      if (shares) sets_.Join(slot_values_[order[i - 1]], slot_values_[order[i]]);
      reach = shares ? std::max(reach, slice.offset + slice.size) : slice.offset + slice.size;
    }
    return std::nullopt;
  }

  void FindUnits() {
    unit_of_.assign(report_.values.size(), kNobody);
    const int64_t end = report_.live_ranges->end + 1;
    for (uint32_t row = 0; row < report_.values.size(); ++row) {
      const report::Value& value = ValueAt(row);
      if (value.allocation.is_none() || !IsHeap(AllocationOf(row))) continue;
      uint32_t& unit_row = unit_of_[sets_.Find(row)];
      if (unit_row == kNobody) {
        unit_row = static_cast<uint32_t>(units_.size());
        units_.push_back({.allocation = AllocationOf(row),
                          .begin = value.offset,
                          .end = value.offset + value.size});
      }
      Unit& unit = units_[unit_row];
      unit.begin = std::min(unit.begin, value.offset);
      unit.end = std::max(unit.end, value.offset + value.size);
      unit.alive.push_back(value.has_range ? Instants{value.start, value.end + 1}
                                           : Instants{0, end});
    }
    for (Unit& unit : units_) {
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
  }

  static bool AreAliveTogether(const Unit& a, const Unit& b) {
    return std::ranges::any_of(a.alive, [&](const Instants& x) {
      return std::ranges::any_of(
          b.alive, [&](const Instants& y) { return x.start < y.end && y.start < x.end; });
    });
  }

  // Units that meet in one thunk without being alive together: a kernel that executes a whole
  // computation has all of its values as arguments, and was compiled for places apart.
  std::vector<std::pair<uint32_t, uint32_t>> FindApart() {
    std::vector<std::pair<uint32_t, uint32_t>> out;
    for (const Thunk& thunk : executable_.program.thunks) {
      if (thunk.slots.count > kMostSlotsApart) continue;  // the check of the thunks decides
      std::vector<uint32_t> units;
      for (uint32_t i = thunk.slots.begin; i < thunk.slots.begin + thunk.slots.count; ++i) {
        if (slot_values_[i] != kNobody) units.push_back(unit_of_[sets_.Find(slot_values_[i])]);
      }
      std::ranges::sort(units);
      units.erase(std::unique(units.begin(), units.end()), units.end());
      for (size_t a = 0; a < units.size(); ++a) {
        for (size_t b = a + 1; b < units.size(); ++b) {
          if (units_[units[a]].allocation == units_[units[b]].allocation &&
              !AreAliveTogether(units_[units[a]], units_[units[b]])) {
            out.emplace_back(units[a], units[b]);
          }
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
    std::vector<Unit*> packed;
    std::vector<uint32_t> buffers(units_.size(), kNobody);
    for (size_t row = 0; row < units_.size(); ++row) {
      Unit& unit = units_[row];
      if (unit.allocation != allocation.index) continue;
      // A unit that begins between two aligned places stays as far behind one of them.
      unit.begin -= unit.begin % alignment;
      const auto buffer = static_cast<uint32_t>(packed.size());
      problem.buffers.push_back({.size = unit.end - unit.begin,
                                 .start = unit.alive.front().start,
                                 .end = unit.alive.back().end,
                                 .alignment = alignment});
      for (size_t i = 1; i < unit.alive.size(); ++i) {
        problem.gaps.push_back(
            {.buffer = buffer, .start = unit.alive[i - 1].end, .end = unit.alive[i].start});
      }
      buffers[row] = buffer;
      packed.push_back(&unit);
    }
    for (const auto& [a, b] : apart_) {
      if (buffers[a] != kNobody) problem.apart.emplace_back(buffers[a], buffers[b]);
    }
    const Result<pack::Answer> answer = pack::Solve(problem);
    if (!answer || answer->plan.offsets.size() != packed.size()) return std::nullopt;
    for (size_t i = 0; i < packed.size(); ++i) packed[i]->offset = answer->plan.offsets[i];
    return HeapLayout{
        .allocation = allocation.index, .bytes = answer->plan.height, .bound = answer->bound};
  }

  int64_t Moved(uint32_t row, int64_t offset) {
    const Unit& unit = units_[unit_of_[sets_.Find(row)]];
    return offset - unit.begin + unit.offset;
  }

  void Fill(Layout& layout) {
    for (uint32_t row = 0; row < report_.values.size(); ++row) {
      const report::Value& value = ValueAt(row);
      const bool is_moved = !value.allocation.is_none() && IsHeap(AllocationOf(row));
      layout.value_offsets.push_back(is_moved ? Moved(row, value.offset) : value.offset);
      if (layout.value_offsets.back() != value.offset) ++layout.moved_values;
    }
    for (size_t i = 0; i < slot_values_.size(); ++i) {
      const int64_t offset = executable_.program.slots[i].slice.offset;
      layout.slot_offsets.push_back(slot_values_[i] == kNobody ? offset
                                                               : Moved(slot_values_[i], offset));
    }
  }

  const Executable& executable_;
  const PlannedModule& planned_;
  const report::Report& report_;
  const SlotResolver resolver_;
  Sets sets_;
  std::vector<uint32_t> slot_values_;  // by slot: a value that it holds
  std::vector<uint32_t> unit_of_;      // by the root of a set
  std::vector<Unit> units_;
  std::vector<std::pair<uint32_t, uint32_t>> apart_;  // units, by allocation the same
};

}  // namespace

std::expected<Layout, std::string> FindLayout(const Executable& executable,
                                              const PlannedModule& planned) {
  return LayoutFinder(executable, planned).Run();
}

}  // namespace stowplan::repack
