// SPDX-License-Identifier: Apache-2.0
#include "best/floor.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/checked_math.h"

namespace stowplan {
namespace {

class FloorFinder {
 public:
  FloorFinder(const hlo::Module& module, const Analysis& analysis, const FloorInput& input,
              ShareRules& share)
      : module_(module), analysis_(analysis), input_(input), share_(share) {}

  int64_t Find() && {
    for (const ValueId id : input_.movable) NoteEnd(id);
    for (const Host& host : input_.hosts) {
      for (const Host::Resident& resident : host.residents) NoteEnd(resident.value);
    }
    for (const int64_t size : input_.always) always_ += RoundUp(size);
    for (const ValueId id : input_.movable) {
      const int64_t size = input_.sizes[analysis_.buffers.of(id).index];
      Add(id, size, size);
    }
    for (const Host& host : input_.hosts) {
      for (const Host::Resident& resident : host.residents)
        Add(resident.value, resident.size, host.size);
    }
    // At one time, ends come first.
    std::ranges::sort(events_, {},
                      [](const Event& event) { return std::pair(event.time, event.change); });
    // What is larger than a host can lie only in larger ones.
    std::vector<int64_t> sizes = {0};
    for (const Host& host : input_.hosts) sizes.push_back(host.size);
    std::ranges::sort(sizes);
    sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
    // Each is looked at for itself; of very many, the largest.
    if (std::ssize(sizes) > kMaxSizes) sizes.erase(sizes.begin() + 1, sizes.end() - kMaxSizes);
    int64_t floor = 0;
    for (const int64_t size : sizes) floor = std::max(floor, FindAbove(size));
    return floor;
  }

 private:
  static constexpr std::ptrdiff_t kMaxSizes = 64;
  struct Event {
    int64_t time = 0;
    int64_t change = 0;  // of the load
    int64_t in_size = 0;
  };

  int64_t RoundUp(int64_t size) {
    const int64_t rounded = *CheckedRoundUp(size, input_.alignment);
    slack_ = std::max(slack_, rounded - size);
    return rounded;
  }

  void NoteEnd(ValueId id) {
    if (analysis_.live.of(id).exists())
      ++ends_[{analysis_.buffers.of(id), analysis_.live.of(id).end}];
  }

  // The same for what is larger than `size`, and for larger hosts.
  [[nodiscard]] int64_t FindAbove(int64_t size) const {
    int64_t load = always_;
    for (const Host& host : input_.hosts) {
      if (host.size > size) load -= *CheckedRoundUp(host.size, input_.alignment);
    }
    int64_t most = load;
    for (const Event& event : events_) {
      if (event.in_size <= size) continue;
      load += event.change;
      most = std::max(most, load);
    }
    // The highest of the heap does not take what rounding up has added to it.
    return most - slack_;
  }

  // `in_size`: of the smallest host that it might lie in.
  void Add(ValueId id, int64_t size, int64_t in_size) {
    const LiveRange& range = analysis_.live.of(id);
    if (!range.exists() || size == 0) return;
    // Who is written over another needs no bytes of its own until that is gone.
    const int64_t start = IsWrittenOver(id) ? range.start + 1 : range.start;
    if (start > range.end) return;
    const int64_t rounded = RoundUp(size);
    events_.push_back({start, rounded, in_size});
    events_.push_back({range.end + 1, -rounded, in_size});
  }

  // Whether the value may begin in the place of one that ends then.
  [[nodiscard]] bool IsWrittenOver(ValueId id) {
    const ValueFlow& flow = analysis_.flow;
    const int64_t time = analysis_.live.of(id).start;
    const auto ends = ends_.find({analysis_.buffers.of(id), time});
    const int own = analysis_.live.of(id).end == time ? 1 : 0;
    if (ends != ends_.end() && ends->second > own) return true;
    for (const hlo::InstrId operand : module_.operands_of(flow.instruction(id))) {
      for (uint32_t k = 0; k < flow.positions.count(operand); ++k) {
        for (const ValueId other : flow.at(flow.positions.At(operand, k))) {
          if (analysis_.live.of(other).end == time && share_.CanShareAsOperand(id, other))
            return true;
        }
      }
    }
    return false;
  }

  const hlo::Module& module_;
  const Analysis& analysis_;
  const FloorInput& input_;
  ShareRules& share_;
  std::map<std::pair<BufferId, int64_t>, int> ends_;  // how many values of a buffer end when
  std::vector<Event> events_;
  int64_t always_ = 0;
  int64_t slack_ = 0;  // the most that rounding up adds to one of them
};

}  // namespace

int64_t FindFloor(const hlo::Module& module, const Analysis& analysis, const FloorInput& input,
                  ShareRules& share) {
  return FloorFinder(module, analysis, input, share).Find();
}

}  // namespace stowplan
