// SPDX-License-Identifier: Apache-2.0
#include "assign/heap.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "base/checked_math.h"

namespace stowplan {
namespace {

using hlo::InstrId;
using hlo::Opcode;

constexpr uint32_t kNoGroup = 0xffffffffU;

class Simulation {
 public:
  Simulation(const hlo::Module& module, const Analysis& analysis, std::span<const int64_t> sizes,
             ShareRules& share)
      : module_(module), analysis_(analysis), sizes_(sizes), share_(share) {}

  HeapInput Run(std::span<const ValueId> values) && {
    std::vector<ValueId> by_start(values.begin(), values.end());
    std::erase_if(by_start, [&](ValueId id) { return !analysis_.live.of(id).exists(); });
    std::ranges::sort(by_start, {}, [&](ValueId id) {
      const LiveRange& range = analysis_.live.of(id);
      return std::tuple(range.start, range.end, id);
    });
    // Stable: at one time, values end in the order in which they began.
    std::vector<ValueId> by_end = by_start;
    std::ranges::stable_sort(by_end, {}, [&](ValueId id) { return analysis_.live.of(id).end; });
    here_ = by_start;
    std::ranges::sort(here_);
    states_.resize(here_.size());

    // All that begins at a time comes before all that ends then.
    size_t ending = 0;
    const auto end_before = [&](int64_t time) {
      for (; ending < by_end.size() && analysis_.live.of(by_end[ending]).end < time; ++ending)
        Free(by_end[ending]);
    };
    for (const ValueId id : by_start) {
      end_before(analysis_.live.of(id).start);
      Begin(id);
    }
    end_before(std::numeric_limits<int64_t>::max());
    heap_.end = clock_;
    return std::move(heap_);
  }

 private:
  struct State {
    bool is_freed = false;
    uint32_t group = kNoGroup;
    uint32_t interval = 0;  // in the group
  };

  // Nothing when the value does not go to this heap.
  [[nodiscard]] State* FindState(ValueId id) {
    const auto place = std::ranges::lower_bound(here_, id);
    if (place == here_.end() || *place != id) return nullptr;
    return &states_[static_cast<size_t>(place - here_.begin())];
  }
  [[nodiscard]] bool IsAlone(ValueId id) const {
    return analysis_.buffers.values_of(analysis_.buffers.of(id)).size() == 1;
  }
  [[nodiscard]] int64_t SizeOf(ValueId id) const { return sizes_[analysis_.buffers.of(id).index]; }

  void Begin(ValueId id) {
    if (SizeOf(id) == 0) {
      heap_.empty.push_back(id);
      return;
    }
    if (IsAlone(id)) {
      if (const ValueId dying = FindDyingOperand(id); !dying.is_none()) {
        Free(dying);
        Join(id, dying);
        return;
      }
    } else if (const auto [first, is_first] =
                   first_of_buffer_.try_emplace(analysis_.buffers.of(id).index, id);
               !is_first) {
      Join(id, first->second);
      return;
    }
    FindState(id)->group = static_cast<uint32_t>(heap_.groups.size());
    heap_.groups.push_back({.first = id,
                            .first_size = SizeOf(id),
                            .size = SizeOf(id),
                            .intervals = {{clock_++, 0}},
                            .values = {id}});
  }

  // An operand that ends where `id` begins, and may be written over.
  [[nodiscard]] ValueId FindDyingOperand(ValueId id) {
    const ValueFlow& flow = analysis_.flow;
    const PositionId output = flow.values[id].position;
    const InstrId instruction = flow.positions.instruction(output);
    if (module_.instructions[instruction].opcode == Opcode::kCopy) return {};
    const int64_t time = analysis_.live.of(id).start;
    const std::span<const InstrId> operands = module_.operands_of(instruction);
    for (const InstrId operand : operands) {
      for (const ValueId value : flow.at(flow.positions.top(operand))) {
        if (analysis_.live.of(value).end != time || !IsAlone(value)) continue;
        const State* state = FindState(value);
        if (state == nullptr || state->is_freed || state->group == kNoGroup) continue;
        const size_t k =
            FirstOperand(module_, analysis_.orders, instruction, flow.instruction(value));
        if (k < operands.size() && share_.CanShare(flow.values[value].position, output))
          return value;
      }
    }
    return {};
  }

  void Join(ValueId id, ValueId other) {
    State& state = *FindState(id);
    state.group = FindState(other)->group;
    HeapGroup& group = heap_.groups[state.group];
    group.size = std::max(group.size, SizeOf(id));
    state.interval = static_cast<uint32_t>(group.intervals.size());
    group.intervals.push_back({clock_++, 0});
    group.values.push_back(id);
  }

  void Free(ValueId id) {
    State& state = *FindState(id);
    if (state.is_freed || state.group == kNoGroup) return;  // taken over, or of no bytes
    state.is_freed = true;
    heap_.groups[state.group].intervals[state.interval].end = clock_++;
  }

  const hlo::Module& module_;
  const Analysis& analysis_;
  std::span<const int64_t> sizes_;
  ShareRules& share_;
  // Nothing here is as large as the program: there may be thousands of heaps.
  std::vector<ValueId> here_;  // the values that go to this heap, sorted
  std::vector<State> states_;  // by place in `here_`
  // For each buffer of several values, the one that came first.
  std::unordered_map<uint32_t, ValueId> first_of_buffer_;
  HeapInput heap_;
  int64_t clock_ = 0;
};

}  // namespace

HeapInput SimulateHeap(const hlo::Module& module, const Analysis& analysis,
                       std::span<const ValueId> values, std::span<const int64_t> sizes,
                       ShareRules& share) {
  return Simulation(module, analysis, sizes, share).Run(values);
}

int64_t HeapPlan::total() const {
  int64_t sum = 0;
  for (const int64_t size : sizes) sum = SaturatingAdd(sum, size);
  return sum;
}

int64_t PeakOf(const HeapInput& input) {
  // Each time of the clock is the begin or the end of one interval.
  struct Event {
    uint32_t group = 0;
    bool is_end = false;
  };
  std::vector<Event> events(static_cast<size_t>(input.end));
  for (uint32_t g = 0; g < input.groups.size(); ++g) {
    for (const HeapInterval& interval : input.groups[g].intervals) {
      events[static_cast<size_t>(interval.start)] = {g, false};
      events[static_cast<size_t>(interval.end)] = {g, true};
    }
  }
  std::vector<uint32_t> users(input.groups.size(), 0);
  int64_t now = 0;
  int64_t peak = 0;
  for (const Event& event : events) {
    const int64_t bytes = input.groups[event.group].first_size;
    if (event.is_end) {
      if (--users[event.group] == 0) now -= bytes;
    } else if (users[event.group]++ == 0) {
      now = SaturatingAdd(now, bytes);
    }
    peak = std::max(peak, now);
  }
  return peak;
}

}  // namespace stowplan
