// SPDX-License-Identifier: Apache-2.0
#include "live/live_ranges.h"

#include <algorithm>
#include <tuple>

#include "values/donations.h"

namespace stowplan {
namespace {

using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;

class RangeFinder {
 public:
  RangeFinder(const hlo::Module& module, const Schedule& schedule, const ValueFlow& flow,
              AsyncBirth async_birth)
      : module_(module), schedule_(schedule), flow_(flow), async_birth_(async_birth) {
    is_donated_.assign(flow.positions.size(), 0);
    for (const Donation& donation : FindDonations(module, flow.positions))
      is_donated_[donation.input.index] = 1;
  }

  [[nodiscard]] LiveRange Find(ValueId id) const {
    const PositionId born = flow_.values[id].position;
    const InstrId instruction = flow_.positions.instruction(born);
    const CompId computation = module_.instructions[instruction].parent;
    const Schedule::Span span = schedule_.spans[computation.index];
    if (span.start == kNoTime) return {};
    const bool is_parameter = module_.instructions[instruction].opcode == Opcode::kParameter;
    LiveRange range;
    range.start = is_parameter ? span.start : schedule_.time(instruction);
    range.end = EndAt(instruction);
    const Schedule::Async async = schedule_.asyncs[computation.index];
    if (!async.start.is_none()) {
      if (async_birth_ == AsyncBirth::kAtStart)
        range.start = std::max(range.start, schedule_.time(async.start));
      // Without a done, it lasts until the start at least.
      range.end = std::max(range.end, range.start);
      if (!async.done.is_none()) range.end = std::max(range.end, schedule_.time(async.done));
    }
    for (const PositionId position : flow_.positions_of(id).subspan(1))
      range.end = std::max(range.end, EndAt(flow_.positions.instruction(position)));
    if (is_parameter && computation == module_.entry && is_donated_[born.index] == 0) {
      range.end = schedule_.end();
      return range;
    }
    for (const Use& use : flow_.uses_of(id)) range.end = std::max(range.end, TimeOf(use.user));
    return range;
  }

 private:
  // Until when what an instruction returns is seen there, at least.
  [[nodiscard]] int64_t EndAt(InstrId id) const {
    const CompId computation = module_.instructions[id].parent;
    return module_.computations[computation].root == id ? schedule_.spans[computation.index].end
                                                        : schedule_.time(id);
  }
  [[nodiscard]] int64_t TimeOf(InstrId user) const {
    switch (module_.instructions[user].opcode) {
      case Opcode::kCall:  // its computation reads
        return kNoTime;
      case Opcode::kWhile: {
        const std::span<const InstrId> parameters =
            module_.parameters_of(module_.called_by(user)[0]);
        return parameters.empty() ? kNoTime : schedule_.time(parameters[0]);
      }
      default:
        return schedule_.time(user);
    }
  }

  const hlo::Module& module_;
  const Schedule& schedule_;
  const ValueFlow& flow_;
  AsyncBirth async_birth_;
  std::vector<uint8_t> is_donated_;  // by position
};

// Values of one buffer lie in one place, one after the other.
void Separate(const BufferSet& buffers, LiveRanges& live) {
  std::vector<ValueId> order;
  for (size_t b = 0; b < buffers.size(); ++b) {
    const std::span<const ValueId> values = buffers.values_of(BufferId(b));
    if (values.size() < 2) continue;
    order.clear();
    for (const ValueId id : values) {
      if (live.of(id).exists()) order.push_back(id);
    }
    std::ranges::sort(
        order, {}, [&](ValueId id) { return std::tuple(live.of(id).start, live.of(id).end, id); });
    for (size_t k = 1; k < order.size(); ++k) {
      LiveRange& before = live.ranges[order[k - 1].index];
      LiveRange& next = live.ranges[order[k].index];
      next.end = std::max(before.end, next.end);
      before.end = std::min(before.end, next.start);
    }
  }
}

}  // namespace

LiveRanges FindLiveRanges(const hlo::Module& module, const Schedule& schedule,
                          const ValueFlow& flow, const BufferSet& buffers, AsyncBirth async_birth) {
  const RangeFinder finder(module, schedule, flow, async_birth);
  LiveRanges live;
  live.ranges.resize(flow.values.size());
  for (size_t v = 0; v < flow.values.size(); ++v) {
    if (!flow.values[ValueId(v)].is_gone) live.ranges[v] = finder.Find(ValueId(v));
  }
  Separate(buffers, live);
  return live;
}

}  // namespace stowplan
