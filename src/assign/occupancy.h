// SPDX-License-Identifier: Apache-2.0
// Which bytes of a heap are occupied when, and the smallest gap that is free for some time.
//
// Whatever meets an interval is alive when it begins, or begins during it. Time is divided into
// blocks, so that few intervals begin or end inside one. What is alive when an interval begins is
// everything that lives through the whole block, which is one set of few ranges, since neighbours
// merge; and some of what lives during a part of the block. Most intervals end in the block they
// begin in; for the others, a tree over the blocks has the unions of what begins in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assign/byte_ranges.h"

namespace stowplan {

// Both ends inclusive.
struct HeapInterval {
  int64_t start = 0;
  int64_t end = 0;
};

class Occupancy {
 public:
  struct Limits {
    size_t inside;         // of a block: few enough that looking at all of them is cheap
    size_t kept_for_each;  // for each interval: ranges that all blocks hold together
  };
  static constexpr Limits kLimits = {.inside = 512, .kept_for_each = 16};

  // `times` are all intervals that will be occupied, from 0 to less than `end`.
  Occupancy(std::span<const HeapInterval> times, int64_t end, Limits limits = kLimits);

  void Occupy(HeapInterval time, ByteRange bytes);
  // The begin of the smallest gap of at least `size` bytes that is free throughout all intervals,
  // of which there must be at least one; among equals, the lowest. A caller who knows that no gap
  // is smaller than `enough` gets the first one that is not larger.
  int64_t FindGap(std::span<const HeapInterval> times, int64_t size, int64_t enough);

 private:
  struct Part {
    uint32_t start;
    uint32_t end;
    ByteRange bytes;
  };
  struct Block {
    uint32_t start = 0;
    uint32_t end = 0;
    uint32_t seen = 0;               // this many of covers_ are in `through`, if they belong there
    std::vector<ByteRange> through;  // occupied at all times of the block
    std::vector<Part> inside;        // what lives for a part of the block, by begin of its bytes
    ByteRanges starting;             // of what begins where the block does
  };
  // What lives through a node of the tree, and not through the one above.
  struct Cover {
    ByteRanges bytes;
    std::vector<uint32_t> log;  // of covers_, in order of arrival
  };
  using Set = std::span<const ByteRange>;  // ascending, disjoint

  void CutIntoBlocks(std::span<const HeapInterval> times, int64_t end, size_t most_inside);
  [[nodiscard]] size_t BlockOf(int64_t time) const { return blocks_of_[static_cast<size_t>(time)]; }
  // Calls visit(node) for the fewest nodes that make up the blocks between two.
  template <class Visit>
  void ForEachBetween(size_t first, size_t last, Visit visit) const {
    if (first == last) return;
    size_t low = leaves_ + first;
    size_t high = leaves_ + last;
    for (; low / 2 != high / 2; low /= 2, high /= 2) {
      if (low % 2 == 0) visit(low + 1);
      if (high % 2 == 1) visit(high - 1);
    }
  }
  // What is occupied throughout a block, brought up to date.
  Set Through(size_t block);
  // Frees what the blocks hold; it can be computed again.
  void Forget();
  // Into sets_ and loose_: what is occupied at any of the times, except what lives through the
  // first block.
  void Collect(std::span<const HeapInterval> times);
  void CollectInside(size_t block, HeapInterval time);
  void CollectSet(Set set);
  // Into pieces_: what sets_ leave of a gap, if it is large enough. Gaps must ascend.
  bool TakeOutSets(ByteRange gap, int64_t size);

  std::vector<Block> blocks_;
  std::vector<uint32_t> blocks_of_;  // by time
  size_t leaves_ = 1;                // of the tree: the blocks, and some unused ones
  std::vector<ByteRange> covers_;    // what lives through a block or more, in order of arrival
  std::vector<Cover> covering_;      // by node
  std::vector<ByteRanges> begun_;    // by node: of what begins in it
  size_t kept_ = 0;                  // ranges in the blocks, at most
  size_t most_kept_ = 0;

  // Scratch space of one query.
  std::vector<Set> sets_;
  std::vector<ByteRange> loose_;  // ascending
  std::vector<ByteRange> pieces_;
  // Scratch space for any function.
  std::vector<ByteRange> fresh_;
  std::vector<ByteRange> next_;
};

}  // namespace stowplan
