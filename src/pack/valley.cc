// SPDX-License-Identifier: Apache-2.0
#include "pack/valley.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <queue>

#include "pack/align.h"
#include "pack/containment_tree.h"
#include "pack/slack_tree.h"

namespace stowplan::pack {
namespace {

constexpr uint32_t kNone = 0xffffffffU;

// Time as slots: one for each moment at which something begins. Between two of them things only
// end, which needs no more room.
struct Slots {
  std::vector<SlotInterval> intervals;  // by buffer
  size_t count = 0;
};

Slots FindSlots(const Problem& problem) {
  std::vector<int64_t> starts;
  starts.reserve(problem.buffers.size());
  for (const Buffer& buffer : problem.buffers) starts.push_back(buffer.start);
  std::ranges::sort(starts);
  starts.erase(std::ranges::unique(starts).begin(), starts.end());
  Slots slots;
  slots.count = starts.size();
  slots.intervals.reserve(problem.buffers.size());
  for (const Buffer& buffer : problem.buffers) {
    const auto lower = std::ranges::lower_bound(starts, buffer.start) - starts.begin();
    const auto upper = std::ranges::lower_bound(starts, buffer.end) - starts.begin();
    slots.intervals.push_back({static_cast<int32_t>(lower), static_cast<int32_t>(upper)});
  }
  return slots;
}

std::vector<int64_t> LoadsOf(const Problem& problem, const Slots& slots) {
  std::vector<int64_t> loads(slots.count + 1, 0);
  for (size_t b = 0; b < problem.buffers.size(); ++b) {
    loads[static_cast<size_t>(slots.intervals[b].lower)] += problem.buffers[b].size;
    loads[static_cast<size_t>(slots.intervals[b].upper)] -= problem.buffers[b].size;
  }
  for (size_t s = 1; s < loads.size(); ++s) loads[s] += loads[s - 1];
  loads.pop_back();
  return loads;
}

// The surface of what has been placed: flat pieces from left to right, the lowest first.
class Skyline {
 public:
  struct Piece {
    int32_t low = 0;
    int32_t high = 0;
    int64_t height = 0;
    uint32_t left = kNone;
    uint32_t right = kNone;
    bool is_gone = false;
  };

  explicit Skyline(int32_t count) { Add({.low = 0, .high = count}); }

  [[nodiscard]] const Piece& operator[](uint32_t id) const { return pieces_[id]; }

  // The lowest piece; the leftmost of equals.
  uint32_t Lowest() {
    while (true) {
      const Entry& top = queue_.top();
      const uint32_t id = top.id;
      if (!pieces_[id].is_gone && pieces_[id].height == top.height && pieces_[id].low == top.low)
        return id;
      queue_.pop();
    }
  }

  // Puts a block of `height` over [low, high) of a piece.
  void Place(uint32_t id, int32_t low, int32_t high, int64_t height) {
    const Piece piece = pieces_[id];
    if (low > piece.low) {
      const uint32_t before = Add(
          {.low = piece.low, .high = low, .height = piece.height, .left = piece.left, .right = id});
      if (piece.left != kNone) pieces_[piece.left].right = before;
      pieces_[id].left = before;
    }
    if (high < piece.high) {
      const uint32_t behind = Add({.low = high,
                                   .high = piece.high,
                                   .height = piece.height,
                                   .left = id,
                                   .right = piece.right});
      if (piece.right != kNone) pieces_[piece.right].left = behind;
      pieces_[id].right = behind;
    }
    pieces_[id].low = low;
    pieces_[id].high = high;
    SetHeight(id, height);
  }

  // Raises a piece to its lower wall; by how much, or nothing when it has none.
  std::optional<int64_t> Raise(uint32_t id) {
    const Piece& piece = pieces_[id];
    std::optional<int64_t> wall;
    for (const uint32_t side : {piece.left, piece.right}) {
      if (side != kNone && (!wall || pieces_[side].height < *wall)) wall = pieces_[side].height;
    }
    if (!wall) return std::nullopt;
    const int64_t waste = *wall - piece.height;
    SetHeight(id, *wall);
    return waste;
  }

 private:
  struct Entry {
    int64_t height;
    int32_t low;
    uint32_t id;
    bool operator>(const Entry& other) const {
      return height != other.height ? height > other.height : low > other.low;
    }
  };
  uint32_t Add(const Piece& piece) {
    const auto id = static_cast<uint32_t>(pieces_.size());
    pieces_.push_back(piece);
    queue_.push({piece.height, piece.low, id});
    return id;
  }
  // Neighbours of one height become one piece.
  void SetHeight(uint32_t id, int64_t height) {
    Piece& piece = pieces_[id];
    piece.height = height;
    if (piece.left != kNone && pieces_[piece.left].height == height) {
      Piece& left = pieces_[piece.left];
      left.is_gone = true;
      piece.low = left.low;
      piece.left = left.left;
      if (piece.left != kNone) pieces_[piece.left].right = id;
    }
    if (piece.right != kNone && pieces_[piece.right].height == height) {
      Piece& right = pieces_[piece.right];
      right.is_gone = true;
      piece.high = right.high;
      piece.right = right.right;
      if (piece.right != kNone) pieces_[piece.right].left = id;
    }
    queue_.push({height, piece.low, id});
  }

  std::vector<Piece> pieces_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

}  // namespace

std::vector<double> PrioritiesOf(const Problem& problem, Priority priority) {
  std::vector<double> values;
  values.reserve(problem.buffers.size());
  for (const Buffer& buffer : problem.buffers) {
    const auto size = static_cast<double>(buffer.size);
    const auto duration = static_cast<double>(buffer.end - buffer.start);
    switch (priority) {
      case Priority::kDuration:
        values.push_back(duration);
        break;
      case Priority::kDurationRootSize:
        values.push_back(duration * std::sqrt(size));
        break;
      case Priority::kArea:
        values.push_back(duration * size);
        break;
      case Priority::kRootDurationSize:
        values.push_back(std::sqrt(duration) * size);
        break;
      case Priority::kSize:
        values.push_back(size);
        break;
    }
  }
  return values;
}

Plan DecodeValleys(const Problem& problem, std::span<const double> priorities, Tightness tightness,
                   int64_t goal) {
  Plan plan;
  plan.offsets.assign(problem.buffers.size(), 0);
  if (problem.buffers.empty()) return plan;
  const Slots slots = FindSlots(problem);
  ContainmentTree tree(slots.intervals, priorities);
  std::vector<int64_t> slacks = LoadsOf(problem, slots);
  for (int64_t& slack : slacks) slack = goal - slack;
  SlackTree slack_tree(slacks);
  Skyline skyline(static_cast<int32_t>(slots.count));
  const bool is_tight = tightness == Tightness::kTight;
  for (size_t left = problem.buffers.size(); left != 0;) {
    const uint32_t id = skyline.Lowest();
    const Skyline::Piece piece = skyline[id];
    uint32_t buffer = kNone;
    if (is_tight) {
      const size_t tightest =
          slack_tree.FindTightest(static_cast<size_t>(piece.low), static_cast<size_t>(piece.high));
      buffer = tree.FindBest(piece.low, piece.high, static_cast<int32_t>(tightest));
    }
    if (buffer == kNone) buffer = tree.FindBest(piece.low, piece.high, -1);
    if (buffer == kNone) {
      const std::optional<int64_t> waste = skyline.Raise(id);
      if (!waste) break;  // all is flat, and nothing is left
      if (is_tight) {
        slack_tree.TakeAway(static_cast<size_t>(piece.low), static_cast<size_t>(piece.high),
                            *waste);
      }
      continue;
    }
    const int64_t offset = AlignUp(piece.height, problem.buffers[buffer].alignment);
    plan.offsets[buffer] = offset;
    plan.height = std::max(plan.height, offset + problem.buffers[buffer].size);
    tree.Remove(buffer);
    --left;
    if (problem.buffers[buffer].size == 0) continue;
    skyline.Place(id, slots.intervals[buffer].lower, slots.intervals[buffer].upper,
                  offset + problem.buffers[buffer].size);
  }
  return plan;
}

}  // namespace stowplan::pack
