// SPDX-License-Identifier: Apache-2.0
#include "pack/problem/mistakes.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "pack/problem/overlaps.h"

namespace stowplan::pack {
namespace {

std::optional<int64_t> CheckedLcm(int64_t a, int64_t b) {
  return CheckedMultiply(a / std::gcd(a, b), b);
}

class MistakeFinder {
 public:
  MistakeFinder(const Problem& problem, const Names& ids) : problem_(problem), ids_(ids) {}

  // Later checks need what earlier ones found in order.
  std::vector<Mistake> Find() && {
    using Check = void (MistakeFinder::*)();
    for (const Check check :
         {&MistakeFinder::CheckNames, &MistakeFinder::CheckBuffers, &MistakeFinder::CheckGaps,
          &MistakeFinder::CheckSpots, &MistakeFinder::CheckGroups, &MistakeFinder::CheckApart,
          &MistakeFinder::CheckPools, &MistakeFinder::CheckChoices, &MistakeFinder::CheckSum,
          &MistakeFinder::CheckPins}) {
      (this->*check)();
      if (!mistakes_.empty()) break;
    }
    return std::move(mistakes_);
  }

 private:
  void Complain(Part part, size_t row, std::string text) {
    if (mistakes_.size() < kMaxErrors)
      mistakes_.push_back({part, static_cast<uint32_t>(row), std::move(text)});
  }
  [[nodiscard]] std::string Name(size_t buffer) const {
    return ids_.empty() ? std::to_string(buffer) : fmt::format("`{}`", ids_[buffer]);
  }
  // Whether a side table names a buffer; what it says of others has no row to be shown at.
  bool IsBuffer(Part part, size_t buffer) {
    if (buffer < problem_.buffers.size()) return true;
    Complain(part, buffer, "there is no such buffer");
    return false;
  }

  void CheckNames() {
    if (!ids_.empty() && ids_.size() != problem_.buffers.size())
      Complain(
          Part::kNames, 0,
          fmt::format("there are {} names for {} buffers", ids_.size(), problem_.buffers.size()));
    // Numbers of buffers have 32 bits, and the last one stands for none.
    if (problem_.buffers.size() >= std::numeric_limits<uint32_t>::max())
      Complain(Part::kNames, 0, fmt::format("{} buffers are too many", problem_.buffers.size()));
  }

  void ComplainOfLife(size_t b, std::string_view what) {
    const Buffer& buffer = problem_.buffers[b];
    Complain(Part::kLife, b, fmt::format("its life [{}, {}) {}", buffer.start, buffer.end, what));
  }

  void CheckBuffers() {
    for (size_t b = 0; b < problem_.buffers.size(); ++b) {
      const Buffer& buffer = problem_.buffers[b];
      if (buffer.size < 0)
        Complain(Part::kSize, b, fmt::format("the size {} is negative", buffer.size));
      int64_t length = 0;
      if (buffer.start == buffer.end) {
        ComplainOfLife(b, "is empty");
      } else if (buffer.start > buffer.end) {
        ComplainOfLife(b, "ends before it starts");
      } else if (__builtin_sub_overflow(buffer.end, buffer.start, &length)) {
        ComplainOfLife(b, "is longer than 64 bits can count");
      }
      if (buffer.alignment < 1)
        Complain(Part::kAlignment, b,
                 fmt::format("the alignment {} is not positive", buffer.alignment));
    }
  }

  void CheckGaps() {
    const Gap* last = nullptr;
    for (const Gap& gap : problem_.gaps) {
      if (!IsBuffer(Part::kGaps, gap.buffer)) continue;
      const Buffer& buffer = problem_.buffers[gap.buffer];
      if (gap.start >= gap.end) {
        Complain(Part::kGaps, gap.buffer, "a gap ends before it begins");
      } else if (gap.start < buffer.start || gap.end > buffer.end) {
        Complain(Part::kGaps, gap.buffer, "a gap is not within the buffer's life");
      } else if (gap.low < 0 || gap.low > gap.high || gap.high > buffer.size) {
        Complain(Part::kGaps, gap.buffer, "what is in use in a gap is not within the buffer");
      } else if (last != nullptr && last->buffer > gap.buffer) {
        Complain(Part::kGaps, gap.buffer, "the gaps are not in the order of buffers");
      } else if (last != nullptr && last->buffer == gap.buffer && last->end > gap.start) {
        Complain(Part::kGaps, gap.buffer, "two gaps overlap, or are not in the order of time");
      }
      last = &gap;
    }
  }

  void CheckSpots() {
    for (const Part part : {Part::kPin, Part::kHint}) {
      const std::vector<Spot>& spots = part == Part::kPin ? problem_.pins : problem_.hints;
      for (size_t i = 0; i < spots.size(); ++i) {
        const Spot& spot = spots[i];
        if (!IsBuffer(part, spot.buffer)) continue;
        const Buffer& buffer = problem_.buffers[spot.buffer];
        if (i > 0 && spots[i - 1].buffer >= spot.buffer)
          Complain(part, spot.buffer, "the offsets are not in the order of buffers");
        if (spot.offset < 0) {
          Complain(part, spot.buffer, fmt::format("the offset {} is negative", spot.offset));
        } else if (!CheckedAdd(spot.offset, buffer.size)) {
          Complain(part, spot.buffer, "the buffer would end beyond 64 bits");
        } else if (part == Part::kPin && spot.offset % buffer.alignment != 0) {
          Complain(
              part, spot.buffer,
              fmt::format("{} is no multiple of the alignment {}", spot.offset, buffer.alignment));
        }
      }
    }
  }

  [[nodiscard]] std::optional<int64_t> PinOf(uint32_t buffer) const {
    const auto pin = std::ranges::lower_bound(problem_.pins, buffer, {}, &Spot::buffer);
    if (pin == problem_.pins.end() || pin->buffer != buffer) return std::nullopt;
    return pin->offset;
  }

  void CheckGroups() {
    if (problem_.groups.empty()) return;
    group_of_.assign(problem_.buffers.size(), 0);
    alignments_.assign(problem_.groups.size(), 1);
    for (size_t g = 0; g < problem_.groups.size(); ++g) {
      std::optional<int64_t> alignment = 1;
      std::optional<int64_t> pin;
      for (const uint32_t member : problem_.groups[g]) {
        if (!IsBuffer(Part::kGroup, member)) continue;
        if (group_of_[member] != 0) Complain(Part::kGroup, member, "the buffer is in two groups");
        group_of_[member] = g + 1;
        if (alignment) alignment = CheckedLcm(*alignment, problem_.buffers[member].alignment);
        if (!alignment) {
          Complain(Part::kGroup, member, "the group's alignments have no multiple in 64 bits");
          break;
        }
        const std::optional<int64_t> own = PinOf(member);
        if (own && pin && *own != *pin) {
          Complain(
              Part::kPin, member,
              fmt::format("pinned to {}, where another of its group is pinned to {}", *own, *pin));
        }
        if (own) pin = own;
      }
      alignments_[g] = alignment.value_or(1);
      if (pin && *pin % alignments_[g] != 0) {
        Complain(Part::kPin, problem_.groups[g].front(),
                 fmt::format("the group is pinned to {}, which is no multiple of its alignment {}",
                             *pin, alignments_[g]));
      }
    }
  }

  void CheckApart() {
    for (const auto& [a, b] : problem_.apart) {
      if (!IsBuffer(Part::kApart, a) || !IsBuffer(Part::kApart, b)) continue;
      if (a == b) Complain(Part::kApart, a, "a buffer cannot be apart from itself");
      if (a != b && !group_of_.empty() && group_of_[a] != 0 && group_of_[a] == group_of_[b])
        Complain(Part::kApart, a, "two buffers of one group cannot be apart");
    }
  }

  void CheckPools() {
    std::vector<std::string_view> names;
    for (size_t p = 0; p < problem_.pools.size(); ++p) {
      const Pool& pool = problem_.pools[p];
      if (pool.name.empty()) Complain(Part::kPool, p, "a pool needs a name");
      if (pool.capacity < 0)
        Complain(Part::kPool, p, fmt::format("the capacity {} is negative", pool.capacity));
      if (std::ranges::find(names, pool.name) != names.end())
        Complain(Part::kPool, p, fmt::format("the pool `{}` is there twice", pool.name));
      names.push_back(pool.name);
    }
  }

  void CheckChoices() {
    const PoolChoice* last = nullptr;
    for (const PoolChoice& choice : problem_.choices) {
      if (!IsBuffer(Part::kChoice, choice.buffer)) continue;
      if (last != nullptr && last->buffer >= choice.buffer)
        Complain(Part::kChoice, choice.buffer, "the choices are not in the order of buffers");
      if (choice.pools.empty()) Complain(Part::kChoice, choice.buffer, "no pool is left");
      for (size_t i = 0; i < choice.pools.size(); ++i) {
        if (choice.pools[i] >= problem_.pools.size())
          Complain(Part::kChoice, choice.buffer,
                   fmt::format("there is no pool {}", choice.pools[i]));
        if (std::find(choice.pools.begin(), choice.pools.begin() + static_cast<ptrdiff_t>(i),
                      choice.pools[i]) != choice.pools.begin() + static_cast<ptrdiff_t>(i))
          Complain(Part::kChoice, choice.buffer, "a pool is named twice");
      }
      last = &choice;
    }
    if (!mistakes_.empty() || problem_.choices.empty()) return;
    for (const std::vector<uint32_t>& group : problem_.groups) {
      if (!group.empty() && PoolsOf(group).empty())
        Complain(Part::kChoice, group.front(), "there is no pool in which all of the group may be");
    }
  }

  // Those in which all the buffers may be.
  [[nodiscard]] std::vector<uint32_t> PoolsOf(const std::vector<uint32_t>& buffers) const {
    std::vector<uint32_t> pools(problem_.pools.size());
    std::iota(pools.begin(), pools.end(), 0U);
    for (const uint32_t b : buffers) {
      const auto choice = std::ranges::lower_bound(problem_.choices, b, {}, &PoolChoice::buffer);
      if (choice == problem_.choices.end() || choice->buffer != b) continue;
      std::erase_if(pools, [&](uint32_t pool) {
        return std::ranges::find(choice->pools, pool) == choice->pools.end();
      });
    }
    return pools;
  }

  // No offset of a reasonable plan is above the highest pin and all sizes and alignments, so that
  // no sum overflows when these fit.
  void CheckSum() {
    int64_t sum = 0;
    for (const Spot& pin : problem_.pins)
      sum = std::max(sum, pin.offset + problem_.buffers[pin.buffer].size);
    const auto add = [&](int64_t bytes) {
      const std::optional<int64_t> next = CheckedAdd(sum, bytes);
      sum = next.value_or(sum);
      return next.has_value();
    };
    for (size_t b = 0; b < problem_.buffers.size(); ++b) {
      if (!add(problem_.buffers[b].size) || !add(problem_.buffers[b].alignment)) {
        Complain(Part::kSize, b, "the sizes up to here do not fit in 64 bits together");
        return;
      }
    }
    for (size_t g = 0; g < problem_.groups.size(); ++g) {
      if (problem_.groups[g].empty() || add(alignments_[g])) continue;
      Complain(Part::kGroup, problem_.groups[g].front(),
               "the alignments do not fit in 64 bits together");
      return;
    }
  }

  // Pinned buffers on top of each other. With pools, only those that have no choice can be.
  void CheckPins() {
    if (problem_.pins.empty()) return;
    std::vector<int64_t> offsets(problem_.buffers.size(), -1);
    for (const Spot& pin : problem_.pins) offsets[pin.buffer] = pin.offset;
    for (const std::vector<uint32_t>& group : problem_.groups) {
      const auto pinned =
          std::ranges::find_if(group, [&](uint32_t member) { return offsets[member] >= 0; });
      if (pinned == group.end()) continue;
      const int64_t offset = offsets[*pinned];
      for (const uint32_t member : group) {
        offsets[member] = offset;
        if (!CheckedAdd(offset, problem_.buffers[member].size))
          Complain(Part::kPin, member, "the buffer would end beyond 64 bits");
      }
    }
    if (!mistakes_.empty()) return;
    std::vector<uint32_t> pools;
    if (problem_.pools.size() > 1) {
      pools.assign(problem_.buffers.size(), 0);
      for (uint32_t b = 0; b < pools.size(); ++b) {
        if (offsets[b] < 0) continue;
        const size_t group = group_of_.empty() ? 0 : group_of_[b];
        const std::vector<uint32_t> choice =
            group == 0 ? PoolsOf({b}) : PoolsOf(problem_.groups[group - 1]);
        if (choice.size() == 1) pools[b] = choice.front();
        if (choice.size() != 1) offsets[b] = -1;
      }
    }
    for (const auto& [a, b] : problem_.apart) {
      if (offsets[a] < 0 || offsets[b] < 0 || (!pools.empty() && pools[a] != pools[b])) continue;
      if (std::max(offsets[a], offsets[b]) <
          std::min(offsets[a] + problem_.buffers[a].size, offsets[b] + problem_.buffers[b].size))
        Complain(Part::kPin, b, "pinned to where a buffer lies that it must be apart from");
    }
    for (const Overlap& overlap : FindOverlaps(problem_, offsets, pools, kMaxErrors)) {
      Complain(Part::kPin, overlap.second,
               fmt::format("pinned to where buffer {} is pinned, and both are alive at time {}",
                           Name(overlap.first), overlap.time));
    }
  }

  const Problem& problem_;
  const Names& ids_;
  std::vector<size_t> group_of_;     // by buffer, from 1 on; 0: none
  std::vector<int64_t> alignments_;  // by group
  std::vector<Mistake> mistakes_;
};

}  // namespace

std::vector<Mistake> FindMistakes(const Problem& problem, const Names& ids) {
  return MistakeFinder(problem, ids).Find();
}

Diagnostics CheckProblem(const Problem& problem, const Names& names) {
  Diagnostics errors;
  for (const Mistake& mistake : FindMistakes(problem, names)) {
    std::string what;
    if (mistake.part == Part::kPool) {
      what = fmt::format("pool {}: ", mistake.row);
    } else if (mistake.part != Part::kNames) {
      // What names a buffer that is not there has only its number.
      what = mistake.row < names.size() ? fmt::format("buffer `{}`: ", names[mistake.row])
                                        : fmt::format("buffer {}: ", mistake.row);
    }
    errors.push_back({.message = what + mistake.text});
  }
  return errors;
}

}  // namespace stowplan::pack
