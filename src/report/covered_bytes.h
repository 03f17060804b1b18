// SPDX-License-Identifier: Apache-2.0
// How many bytes a changing set of byte ranges covers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stowplan::report {

// [begin, end)
struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// All pieces between places where ranges begin or end. If ranges are cut into few pieces, as they
// are in plans, each piece knows how many ranges cover it. Otherwise there is a tree over the
// pieces: a node knows how many ranges cover all of it, and how many of its bytes are covered by
// these or by ranges further down. So changing a range takes at most log n.
class CoveredBytes {
 public:
  // All ranges that will ever be added; begin <= end.
  explicit CoveredBytes(std::span<const ByteRange> ranges);

  // The range with this number starts or stops covering its bytes.
  void Add(size_t range) { Change(range, 1); }
  void Remove(size_t range) { Change(range, -1); }
  [[nodiscard]] int64_t covered() const { return covered_; }

 private:
  struct Leaves {
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  void Change(size_t range, int32_t by);
  void ChangeTree(Leaves leaves, int32_t by);
  void Recount(size_t node);
  [[nodiscard]] int64_t Width(size_t node) const;

  std::vector<Leaves> ranges_;
  std::vector<int64_t> places_;  // ascending; a leaf is what lies between two
  int64_t covered_ = 0;
  // By leaf; of a tree by node: node 1 is the root, the children of n are 2n and 2n + 1, the leaves
  // begin at size_.
  std::vector<int32_t> counts_;
  size_t size_ = 0;  // leaves of the tree: a power of two; 0: there is no tree
  std::vector<int64_t> covered_below_;
};

}  // namespace stowplan::report
