// SPDX-License-Identifier: Apache-2.0
#include "assign/occupancy.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <ranges>
#include <utility>

namespace stowplan {
namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

// Ranges come by rising begins; they become the fewest there are.
void AppendRange(std::vector<ByteRange>& ranges, ByteRange next) {
  if (ranges.empty() || ranges.back().end < next.begin) {
    ranges.push_back(next);
  } else {
    ranges.back().end = std::max(ranges.back().end, next.end);
  }
}

// The rest of a set, from the first range that ends after `at`. It is near most of the time: after
// some steps they double until one is too long.
std::span<const ByteRange> EndingBehind(std::span<const ByteRange> set, int64_t at) {
  auto from = set.begin();
  for (int k = 0; k < 4; ++k, ++from) {
    if (from == set.end() || from->end > at) return {from, set.end()};
  }
  std::ptrdiff_t step = 1;
  while (step < set.end() - from && (from + step)->end <= at) step *= 2;
  return {std::partition_point(from, from + std::min(step + 1, set.end() - from),
                               [&](const ByteRange& range) { return range.end <= at; }),
          set.end()};
}

}  // namespace

Occupancy::Occupancy(std::span<const HeapInterval> times, int64_t end, Limits limits) {
  CutIntoBlocks(times, std::max<int64_t>(end, 1), limits.inside);
  while (leaves_ < blocks_.size()) leaves_ *= 2;
  covering_.resize(2 * leaves_);
  begun_.resize(2 * leaves_);
  most_kept_ = limits.kept_for_each * times.size();
}

void Occupancy::CutIntoBlocks(std::span<const HeapInterval> times, int64_t end,
                              size_t most_inside) {
  // By time: how many live at it, but not at the time before it, or the other way round.
  std::vector<uint32_t> changes(static_cast<size_t>(end) + 1, 0);
  for (const HeapInterval& time : times) {
    ++changes[static_cast<size_t>(time.start)];
    ++changes[static_cast<size_t>(time.end) + 1];
  }
  blocks_of_.resize(static_cast<size_t>(end));
  size_t inside = 0;
  for (uint32_t time = 0; time < end; ++time) {
    inside += changes[time];
    if (blocks_.empty() || inside > most_inside) {
      blocks_.push_back({.start = time});
      inside = 0;
    }
    blocks_.back().end = time;
    blocks_of_[time] = static_cast<uint32_t>(blocks_.size() - 1);
  }
}

void Occupancy::Occupy(HeapInterval time, ByteRange bytes) {
  const size_t first = BlockOf(time.start);
  const size_t last = BlockOf(time.end);
  if (blocks_[first].start == time.start) blocks_[first].starting.Add(bytes);
  // What a node has, all above it have.
  for (size_t node = leaves_ + first; node != 0 && begun_[node].Add(bytes); node /= 2) {
  }
  bool is_cover = false;
  const auto cover = [&](size_t node) {
    covering_[node].bytes.Add(bytes);
    covering_[node].log.push_back(static_cast<uint32_t>(covers_.size()));
    is_cover = true;
  };
  const auto meet = [&](size_t b) {
    Block& block = blocks_[b];
    if (time.start <= block.start && block.end <= time.end) {
      cover(leaves_ + b);
      return;
    }
    const auto begin_of = [](const Part& part) { return part.bytes.begin; };
    block.inside.insert(
        std::ranges::upper_bound(block.inside, bytes.begin, {}, begin_of),
        {static_cast<uint32_t>(time.start), static_cast<uint32_t>(time.end), bytes});
  };
  meet(first);
  if (first != last) meet(last);
  ForEachBetween(first, last, cover);
  if (is_cover) covers_.push_back(bytes);
}

// As late as possible: then much of it comes at once.
Occupancy::Set Occupancy::Through(size_t b) {
  Block& block = blocks_[b];
  fresh_.clear();
  for (size_t node = leaves_ + b; node != 0; node /= 2) {
    const Cover& cover = covering_[node];
    const Set all = cover.bytes.ranges();
    const size_t before = fresh_.size();
    for (size_t k = cover.log.size(); k != 0 && cover.log[k - 1] >= block.seen; --k) {
      if (fresh_.size() - before == all.size()) {
        // What is new is more than all of it, melted.
        fresh_.resize(before);
        fresh_.insert(fresh_.end(), all.begin(), all.end());
        break;
      }
      fresh_.push_back(covers_[cover.log[k - 1]]);
    }
  }
  block.seen = static_cast<uint32_t>(covers_.size());
  if (fresh_.empty()) return block.through;
  std::ranges::sort(fresh_, {}, &ByteRange::begin);
  next_.clear();
  auto row = block.through.begin();
  for (const ByteRange& range : fresh_) {
    for (; row != block.through.end() && row->begin < range.begin; ++row) AppendRange(next_, *row);
    AppendRange(next_, range);
  }
  for (; row != block.through.end(); ++row) AppendRange(next_, *row);
  kept_ = kept_ - block.through.size() + next_.size();
  block.through.assign(next_.begin(), next_.end());
  return block.through;
}

void Occupancy::Forget() {
  for (Block& block : blocks_) {
    block.through = {};
    block.seen = 0;
  }
  kept_ = 0;
}

// What lives for a part of the block, and at one of the times.
void Occupancy::CollectInside(size_t b, HeapInterval time) {
  for (const Part& part : blocks_[b].inside) {
    if (part.start <= time.end && time.start <= part.end) loose_.push_back(part.bytes);
  }
}

void Occupancy::CollectSet(Set set) {
  // A set costs something for each gap.
  constexpr size_t kSmall = 16;
  constexpr size_t kMany = 48;
  if (set.size() < kSmall || sets_.size() == kMany) {
    loose_.insert(loose_.end(), set.begin(), set.end());
  } else {
    sets_.push_back(set);
  }
}

void Occupancy::Collect(std::span<const HeapInterval> times) {
  sets_.clear();
  loose_.clear();
  for (const HeapInterval& time : times) {
    const size_t first = BlockOf(time.start);
    const size_t last = BlockOf(time.end);
    CollectInside(first, time);
    if (&time != times.data()) CollectSet(Through(first));
    if (first == last) continue;
    // What does not live in the first block begins later.
    ForEachBetween(first, last, [&](size_t node) { CollectSet(begun_[node].ranges()); });
    CollectSet(blocks_[last].starting.ranges());
    CollectInside(last, {blocks_[last].start, time.end});
  }
  if (!std::ranges::is_sorted(loose_, {}, &ByteRange::begin))
    std::ranges::sort(loose_, {}, &ByteRange::begin);
  // Those of long times leave the fewest gaps.
  std::ranges::reverse(sets_);
}

bool Occupancy::TakeOutSets(ByteRange gap, int64_t size) {
  pieces_.assign(1, gap);
  for (Set& set : sets_) {
    set = EndingBehind(set, pieces_.front().begin);
    if (set.empty() || set.front().begin >= pieces_.back().end) continue;
    next_.clear();
    Set left = set;
    for (ByteRange piece : pieces_) {
      left = EndingBehind(left, piece.begin);
      for (const ByteRange& range : left) {
        if (range.begin >= piece.end) break;
        if (range.begin - piece.begin >= size) next_.push_back({piece.begin, range.begin});
        piece.begin = range.end;
      }
      if (piece.end - piece.begin >= size) next_.push_back(piece);
    }
    std::swap(pieces_, next_);
    if (pieces_.empty()) return false;
  }
  return true;
}

int64_t Occupancy::FindGap(std::span<const HeapInterval> times, int64_t size, int64_t enough) {
  size = std::max<int64_t>(size, 1);  // bytes that do not exist are no gap
  if (kept_ > most_kept_) Forget();
  Collect(times);
  const Set through = Through(BlockOf(times[0].start));
  ByteRange best = {0, kEnd};
  bool is_found = false;
  int64_t end = 0;
  // Whether there is nothing better after the next gap.
  const auto is_done = [&](const ByteRange& range) {
    const ByteRange gap = {std::exchange(end, std::max(end, range.end)), range.begin};
    if (gap.end - gap.begin < size || !TakeOutSets(gap, size)) return false;
    for (const ByteRange& piece : pieces_) {
      if (is_found && piece.end - piece.begin >= best.end - best.begin) continue;
      best = piece;
      is_found = true;
    }
    return best.end - best.begin <= enough;
  };
  auto row = through.begin();
  for (const ByteRange& range : loose_) {
    for (; row != through.end() && row->begin < range.begin; ++row) {
      if (is_done(*row)) return best.begin;
    }
    if (is_done(range)) return best.begin;
  }
  for (; row != through.end(); ++row) {
    if (is_done(*row)) return best.begin;
  }
  is_done({kEnd, kEnd});
  return is_found ? best.begin : kEnd;
}

}  // namespace stowplan
