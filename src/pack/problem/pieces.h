// SPDX-License-Identifier: Apache-2.0
// What a buffer needs, and when: bytes [low, high) of it in [start, end).
//
// A buffer without gaps is one piece; one that needs nothing has none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stowplan/pack.h"

namespace stowplan::pack {

struct BufferPiece {
  int64_t start = 0;
  int64_t end = 0;
  int64_t low = 0;
  int64_t high = 0;
};

// The gaps of each buffer, for callers that go through the buffers in order.
class GapCursor {
 public:
  explicit GapCursor(const Problem& problem) : gaps_(problem.gaps) {}

  std::span<const Gap> Of(uint32_t buffer) {
    while (next_ < gaps_.size() && gaps_[next_].buffer < buffer) ++next_;
    size_t end = next_;
    while (end < gaps_.size() && gaps_[end].buffer == buffer) ++end;
    return gaps_.subspan(next_, end - next_);
  }

 private:
  std::span<const Gap> gaps_;
  size_t next_ = 0;
};

// Calls visit(piece) in the order of time.
template <class Visit>
void EachPiece(const Buffer& buffer, std::span<const Gap> gaps, Visit visit) {
  if (buffer.size == 0) return;
  int64_t time = buffer.start;
  for (const Gap& gap : gaps) {
    if (time < gap.start) visit(BufferPiece{time, gap.start, 0, buffer.size});
    if (gap.low < gap.high) visit(BufferPiece{gap.start, gap.end, gap.low, gap.high});
    time = gap.end;
  }
  if (time < buffer.end) visit(BufferPiece{time, buffer.end, 0, buffer.size});
}

// What the members of a group need together: pieces of which no two share a byte at one moment.
std::vector<BufferPiece> GroupPieces(const Problem& problem, const std::vector<uint32_t>& group);

}  // namespace stowplan::pack
