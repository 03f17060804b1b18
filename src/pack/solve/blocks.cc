// SPDX-License-Identifier: Apache-2.0
#include "pack/solve/blocks.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "pack/solve/chance.h"

namespace stowplan::pack {
namespace {

// Where more begin or end at once, some are enough.
constexpr int kMostLooks = 48;

// Blocks that begin, or end, in one slot: lists through an array.
class BySlot {
 public:
  explicit BySlot(int32_t slot_count) : heads_(static_cast<size_t>(slot_count) + 1, kNone) {}

  void Insert(uint32_t block, int32_t slot) {
    if (block >= links_.size()) links_.resize(block + 1);
    uint32_t& head = heads_[static_cast<size_t>(slot)];
    links_[block] = {.before = kNone, .behind = head};
    if (head != kNone) links_[head].before = block;
    head = block;
  }
  void Remove(uint32_t block, int32_t slot) {
    const Link link = links_[block];
    if (link.behind != kNone) links_[link.behind].before = link.before;
    (link.before == kNone ? heads_[static_cast<size_t>(slot)] : links_[link.before].behind) =
        link.behind;
  }
  // Calls visit(block) until it returns true.
  template <class Visit>
  void Each(int32_t slot, Visit visit) const {
    int looks = kMostLooks;
    for (uint32_t block = heads_[static_cast<size_t>(slot)]; block != kNone && looks-- > 0;
         block = links_[block].behind) {
      if (visit(block)) return;
    }
  }

 private:
  struct Link {
    uint32_t before = kNone;
    uint32_t behind = kNone;
  };
  std::vector<uint32_t> heads_;
  std::vector<Link> links_;  // by block
};

// Two blocks that may go one after the other. Chance makes many sizes equal, so that a block may
// fit to several: those come first that others then fit to as well, then those with the least
// choice, then the shortest.
struct Match {
  bool is_alone = false;  // no block is alive in just the slots that the two would be
  int choices = 0;
  double duration = 0;
  uint32_t first = kNone;
  uint32_t second = kNone;
  auto operator<=>(const Match&) const = default;
};

class Maker {
 public:
  Maker(const Core& core, uint64_t seed)
      : core_(core),
        starting_(core.slot_count),
        ending_(core.slot_count),
        chance_(seed),
        noise_(seed == 0 ? 0 : 1) {
    items_.reserve(2 * core.items.size());
    parts_.reserve(2 * core.items.size());
    for (uint32_t i = 0; i < core.items.size(); ++i) New(core.items[i], core.durations[i], {});
    for (uint32_t i = 0; i < core.items.size(); ++i) Settle(i);
  }

  Blocks Run() && {
    while (!matches_.empty()) {
      std::ranges::pop_heap(matches_, std::greater<>());
      const Match match = matches_.back();
      matches_.pop_back();
      if (!is_there_[match.first] || !is_there_[match.second]) continue;
      // Things change; what has got worse waits.
      if (Match now = Judge(match.first, match.second);
          std::pair(now.is_alone, now.choices) > std::pair(match.is_alone, match.choices)) {
        Push(now);
        continue;
      }
      const Item& first = items_[match.first];
      const Item& second = items_[match.second];
      Item both = first;
      both.upper = second.upper;
      both.size = std::max(first.size, second.size);
      Leave(match.first);
      Leave(match.second);
      Settle(New(both, durations_[match.first] + durations_[match.second],
                 {.first = match.first, .second = match.second, .is_stack = false}));
    }
    return Finish();
  }

 private:
  uint32_t New(const Item& item, int64_t duration, Blocks::Part part) {
    items_.push_back(item);
    durations_.push_back(duration);
    parts_.push_back(part);
    is_there_.push_back(false);
    return static_cast<uint32_t>(items_.size() - 1);
  }

  void Leave(uint32_t block) {
    is_there_[block] = false;
    starting_.Remove(block, items_[block].lower);
    ending_.Remove(block, items_[block].upper);
  }

  [[nodiscard]] uint32_t AliveIn(int32_t lower, int32_t upper) const {
    uint32_t found = kNone;
    starting_.Each(lower, [&](uint32_t other) {
      if (items_[other].upper == upper) found = other;
      return found != kNone;
    });
    return found;
  }

  // Puts a block among the others: onto one that is alive in the same slots, if there is one.
  void Settle(uint32_t block) {
    if (const uint32_t under = AliveIn(items_[block].lower, items_[block].upper); under != kNone) {
      Item both = items_[under];
      both.size = both.room + items_[block].size;
      both.room += items_[block].room;
      Leave(under);
      block = New(both, durations_[under], {.first = under, .second = block, .is_stack = true});
    }
    is_there_[block] = true;
    const Item& item = items_[block];
    starting_.Insert(block, item.lower);
    ending_.Insert(block, item.upper);
    starting_.Each(item.upper, [&](uint32_t other) {
      if (items_[other].room == item.room) Push(Judge(block, other));
      return false;
    });
    ending_.Each(item.lower, [&](uint32_t other) {
      if (items_[other].room == item.room) Push(Judge(other, block));
      return false;
    });
  }

  [[nodiscard]] Match Judge(uint32_t first, uint32_t second) {
    const Item& a = items_[first];
    const Item& b = items_[second];
    Match match = {.first = first, .second = second};
    match.is_alone = AliveIn(a.lower, b.upper) == kNone;
    const auto count = [&](uint32_t other) {
      match.choices += items_[other].room == a.room ? 1 : 0;
      return false;
    };
    starting_.Each(a.upper, count);
    ending_.Each(a.upper, count);
    ending_.Each(a.lower, count);
    starting_.Each(b.upper, count);
    match.duration = (b.upper - a.lower) * (1 + noise_ * chance_.Fraction());
    return match;
  }

  void Push(const Match& match) {
    matches_.push_back(match);
    std::ranges::push_heap(matches_, std::greater<>());
  }

  [[nodiscard]] Blocks Finish() {
    Blocks blocks;
    blocks.core.slot_count = core_.slot_count;
    blocks.core.rounding = core_.rounding;
    for (uint32_t block = 0; block < items_.size(); ++block) {
      if (!is_there_[block]) continue;
      blocks.tops.push_back(block);
      blocks.core.items.push_back(items_[block]);
      blocks.core.durations.push_back(durations_[block]);
    }
    blocks.parts = std::move(parts_);
    blocks.rooms.reserve(items_.size());
    for (const Item& item : items_) blocks.rooms.push_back(item.room);
    return blocks;
  }

  const Core& core_;
  // By block; items first.
  std::vector<Item> items_;
  std::vector<int64_t> durations_;
  std::vector<Blocks::Part> parts_;
  std::vector<bool> is_there_;  // not a part of another
  BySlot starting_;
  BySlot ending_;
  std::vector<Match> matches_;  // a heap
  Chance chance_;
  double noise_;
};

}  // namespace

bool CanMakeBlocks(const Core& core) {
  return core.is_whole() && core.pins.empty() &&
         std::ranges::all_of(core.items, [&](const Item& item) {
           return item.alignment == core.items[0].alignment && item.room % item.alignment == 0;
         });
}

Blocks MakeBlocks(const Core& core, uint64_t seed) { return Maker(core, seed).Run(); }

std::vector<int64_t> OffsetsOfItems(const Blocks& blocks, size_t item_count,
                                    std::span<const int64_t> offsets) {
  std::vector<int64_t> by_part(blocks.parts.size(), 0);
  for (size_t top = 0; top < blocks.tops.size(); ++top) by_part[blocks.tops[top]] = offsets[top];
  // Blocks come after what they are made of.
  for (size_t part = blocks.parts.size(); part-- > item_count;) {
    const Blocks::Part& both = blocks.parts[part];
    by_part[both.first] = by_part[part];
    by_part[both.second] = by_part[part] + (both.is_stack ? blocks.rooms[both.first] : 0);
  }
  by_part.resize(item_count);
  return by_part;
}

}  // namespace stowplan::pack
