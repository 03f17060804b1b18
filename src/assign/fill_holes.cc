// SPDX-License-Identifier: Apache-2.0
// Values of one memory space in the holes of another's heap, which does not grow by them.
//
// Collective memory of GPUs is device memory that other devices can reach too: plain values may lie
// there while nobody needs the bytes. Times are those of the schedule, not of a heap's clock: one
// that begins where another ends does not get its bytes.
#include <algorithm>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "assign/assigner.h"
#include "assign/occupancy.h"
#include "base/checked_math.h"

namespace stowplan {
namespace {

// A heap that lends its holes.
class Lender {
 public:
  // `times` are those of all values that may ever lie in it, from 0 to less than `end`.
  Lender(AllocationId id, int64_t size, int64_t alignment, std::span<const HeapInterval> times,
         int64_t end)
      : id_(id), size_(size), alignment_(alignment), times_(times), end_(end) {}
  [[nodiscard]] AllocationId id() const { return id_; }

  void Occupy(HeapInterval time, int64_t offset, int64_t size) {
    chunks_.push_back({time, {offset, offset + size}});
    if (occupancy_) AddToOccupancy(chunks_.back());
  }

  // The smallest hole, the lowest of equals.
  std::optional<int64_t> FindHole(std::span<const HeapInterval> times, int64_t size) {
    if (size > size_) return std::nullopt;
    // Heaps may be as many as values: small ones do not pay for all times. An occupancy knows no
    // holes of no bytes.
    if (size == 0 || chunks_.size() < kMany) return FindTightest(times, size);
    if (!occupancy_) StartOccupancy();
    const int64_t offset = occupancy_->FindGap(times, size, size);
    return offset < size_ ? std::optional(offset) : std::nullopt;
  }

 private:
  struct Chunk {
    HeapInterval time;
    ByteRange bytes;
  };
  static constexpr size_t kMany = 64;

  void StartOccupancy() {
    std::vector<HeapInterval> all(times_.begin(), times_.end());
    all.push_back({0, end_ - 1});
    occupancy_.emplace(all, end_);
    // What lies after the heap's end is never free.
    occupancy_->Occupy(all.back(), {size_, std::numeric_limits<int64_t>::max()});
    for (const Chunk& chunk : chunks_) AddToOccupancy(chunk);
  }
  void AddToOccupancy(const Chunk& chunk) {
    const auto [begin, end] = chunk.bytes;
    if (begin == end) return;
    const int64_t aligned = std::min(CheckedRoundUp(end, alignment_).value_or(end), size_);
    occupancy_->Occupy(chunk.time, {begin, std::max(end, aligned)});
  }

  // Looks at all chunks: before the one that leaves the least room before it.
  std::optional<int64_t> FindTightest(std::span<const HeapInterval> times, int64_t size) {
    std::vector<ByteRange>& blocking = blocking_;
    blocking.clear();
    for (const Chunk& chunk : chunks_) {
      if (std::ranges::any_of(times, [&](const HeapInterval& time) {
            return time.start <= chunk.time.end && chunk.time.start <= time.end;
          }))
        blocking.push_back(chunk.bytes);
    }
    // Of two that begin together, one of them without bytes, the first to come stays the first.
    if (blocking.size() > 1) std::ranges::stable_sort(blocking, {}, &ByteRange::begin);
    blocking.push_back({size_, size_});
    std::optional<std::pair<int64_t, int64_t>> best;  // room, offset
    int64_t free = 0;
    for (const ByteRange& bytes : blocking) {
      const int64_t offset = CheckedRoundUp(free, alignment_).value_or(size_);
      const int64_t room = bytes.begin - offset;
      if (room >= size && (!best || room < best->first)) best = {room, offset};
      free = std::max(free, bytes.end);
    }
    return best ? std::optional(best->second) : std::nullopt;
  }

  AllocationId id_;
  int64_t size_;
  int64_t alignment_;
  std::span<const HeapInterval> times_;
  int64_t end_;
  std::vector<Chunk> chunks_;
  std::vector<ByteRange> blocking_;     // of one question
  std::optional<Occupancy> occupancy_;  // when there are many chunks
};

}  // namespace

void Assigner::FillHoles(std::vector<ValueId>& values) {
  const auto time_of = [&](ValueId id) {
    const LiveRange& range = analysis_.live.of(id);
    return HeapInterval{range.start, range.end};
  };
  const auto has_times = [&](ValueId id) { return analysis_.live.of(id).exists(); };
  // Whole buffers, of which the schedule knows all times; largest first.
  std::vector<BufferId> candidates;
  int64_t end = 1;
  std::vector<HeapInterval> times;
  const auto note = [&](ValueId id) {
    times.push_back(time_of(id));
    end = std::max(end, times.back().end + 1);
  };
  for (const ValueId value : values) {
    const BufferId buffer = analysis_.buffers.of(value);
    if (value != analysis_.buffers.values_of(buffer)[0]) continue;
    const std::span<const ValueId> all = analysis_.buffers.values_of(buffer);
    if (!std::ranges::all_of(all, has_times)) continue;
    candidates.push_back(buffer);
    std::ranges::for_each(all, note);
  }
  std::ranges::sort(candidates, {}, [&](BufferId id) { return std::pair(-SizeOf(id), id); });

  std::vector<AllocationId> lending;
  for (size_t a = 0; a < assignment_.allocations.size(); ++a) {
    const Allocation& allocation = assignment_.allocations[AllocationId(a)];
    if (allocation.color != rules_.lending_space || !allocation.is_temp()) continue;
    lending.emplace_back(a);
    std::ranges::for_each(allocation.values | std::views::filter(has_times), note);
  }
  std::vector<Lender> lenders;
  for (const AllocationId id : lending) {
    const Allocation& allocation = assignment_.allocations[id];
    Lender& lender = lenders.emplace_back(id, allocation.size,
                                          rules_.AlignmentOf(rules_.lending_space), times, end);
    for (const ValueId value : allocation.values | std::views::filter(has_times)) {
      const Place& place = assignment_.places[value.index];
      lender.Occupy(time_of(value), place.offset, place.size);
    }
  }

  std::vector<HeapInterval> own;
  for (const BufferId buffer : candidates) {
    const std::span<const ValueId> all = analysis_.buffers.values_of(buffer);
    own.clear();
    for (const ValueId value : all) own.push_back(time_of(value));
    for (Lender& lender : lenders) {
      const std::optional<int64_t> offset = lender.FindHole(own, SizeOf(buffer));
      if (!offset) continue;
      for (const ValueId value : all) {
        lender.Occupy(time_of(value), *offset, SizeOf(buffer));
        assignment_.places[value.index] = {lender.id(), *offset, SizeOf(buffer)};
        assignment_.allocations[lender.id()].values.push_back(value);
      }
      is_done_[buffer.index] = 1;
      break;
    }
  }
  std::erase_if(values, [&](ValueId id) { return is_done_[analysis_.buffers.of(id).index] != 0; });
}

}  // namespace stowplan
