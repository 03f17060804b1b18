// SPDX-License-Identifier: Apache-2.0
// A symbolic memory: which bytes of which allocation hold which bytes of which content.
//
// Allocations are cut into pieces; bytes between pieces hold nothing. What happens after Mark can
// be taken back, which is how branches and loops are left.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <memory_resource>
#include <optional>
#include <vector>

#include "check/node_pool.h"
#include "stowplan/hlo/module.h"

namespace stowplan::check {

using ContentId = uint32_t;
// Of bytes that some instruction may have written: nobody knows what they hold.
inline constexpr ContentId kLost = 0;

struct Bytes {
  uint32_t allocation = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

class Memory {
 public:
  struct Piece {
    int64_t end = 0;
    ContentId content = kLost;
    int64_t shift = 0;  // which byte of the content lies at byte 0 of the allocation
    hlo::InstrId writer;
    uint32_t row = 0;  // the part of the writer's result
    int64_t step = 0;  // when
  };
  struct Mismatch {
    int64_t begin = 0;
    int64_t end = 0;
    std::optional<Piece> piece;  // nothing: these bytes were never written
  };

  // `contents`: about how many there will be.
  explicit Memory(size_t allocations, size_t contents = 0) : latest_(contents) {
    pieces_.resize(allocations);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // The bytes hold the content, from its first byte on.
  void Write(const Bytes& bytes, ContentId content, hlo::InstrId writer, uint32_t row,
             int64_t step);
  // The first bytes that do not hold it, but for what was written until the step `since`.
  [[nodiscard]] std::optional<Mismatch> Find(const Bytes& bytes, ContentId content,
                                             int64_t since = -1) const;
  // The first piece that was written after `step`.
  [[nodiscard]] std::optional<Mismatch> FindLater(const Bytes& bytes, int64_t step) const;

  // Whether all of it was lost at once, after `step`.
  [[nodiscard]] bool IsLostSince(const Bytes& bytes, int64_t step) const {
    const Pieces& pieces = pieces_[bytes.allocation];
    const auto next = pieces.upper_bound(bytes.begin);
    if (next == pieces.begin()) return false;
    const Piece& piece = std::prev(next)->second;
    return piece.content == kLost && piece.end >= bytes.end && piece.step > step;
  }

  // Pieces of `bytes` that were written at `step`, but not as the part `row`.
  [[nodiscard]] std::vector<Mismatch> FindRivals(const Bytes& bytes, int64_t step,
                                                 uint32_t row) const;

  // Since a mark, changes are kept.
  using Mark = size_t;
  [[nodiscard]] Mark Begin();
  // What was written since; then all of it is taken back.
  struct Change {
    Bytes bytes;
    hlo::InstrId writer;
    uint32_t row = 0;
    int64_t step = 0;
  };
  std::vector<Change> Undo(Mark mark);
  // Forgets the mark; what was written stays.
  void Keep(Mark mark);

 private:
  using Pieces = std::pmr::map<int64_t, Piece>;  // by first byte
  struct Entry {
    enum class Kind : uint8_t { kAdded, kRemoved };
    Kind kind = Kind::kAdded;
    bool is_write = false;  // not only a rest of what was there
    uint32_t allocation = 0;
    int64_t begin = 0;
    Piece piece;
  };
  // Before `next`.
  void Add(uint32_t allocation, Pieces::iterator next, int64_t begin, const Piece& piece,
           bool is_write);
  void Remove(uint32_t allocation, Pieces::iterator row);
  // Into and out of the pieces; nothing is logged.
  void Insert(uint32_t allocation, Pieces::iterator next, int64_t begin, const Piece& piece);
  void Erase(uint32_t allocation, Pieces::iterator row);
  void Replace(uint32_t allocation, Pieces::iterator row, const Piece& piece);
  // The last piece of its content, or no longer.
  void Know(uint32_t allocation, Pieces::iterator row);
  void Forget(Pieces::iterator row);

  // Pieces come and go with every write: their nodes are kept.
  NodePool nodes_;
  // By allocation. It is itself among the nodes, so that all of them go at once.
  std::pmr::vector<Pieces>& pieces_ =
      *std::pmr::polymorphic_allocator<>(&nodes_).new_object<std::pmr::vector<Pieces>>();
  // By content: the piece of it that was written last. Most reads look for nothing else.
  struct Latest {
    const Piece* piece = nullptr;
    uint32_t allocation = 0;
    int64_t begin = 0;
  };
  std::vector<Latest> latest_;  // longer as need be
  std::vector<Entry> log_;
  size_t marks_ = 0;
};

}  // namespace stowplan::check
