// SPDX-License-Identifier: Apache-2.0
#include "report/covered_bytes.h"

#include <algorithm>
#include <bit>

#include "base/radix_sort.h"

namespace stowplan::report {

CoveredBytes::CoveredBytes(std::span<const ByteRange> ranges) {
  struct Edge {
    int64_t place;
    uint32_t range;
    bool is_end;
  };
  std::vector<Edge> edges;
  edges.reserve(ranges.size() * 2);
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].begin == ranges[i].end) continue;
    edges.push_back({ranges[i].begin, static_cast<uint32_t>(i), false});
    edges.push_back({ranges[i].end, static_cast<uint32_t>(i), true});
  }
  RadixSort(edges, [](const Edge& edge) { return RadixKey(edge.place); });
  ranges_.resize(ranges.size());
  for (const Edge& edge : edges) {
    if (places_.empty() || places_.back() != edge.place) places_.push_back(edge.place);
    const auto leaf = static_cast<uint32_t>(places_.size() - 1);
    (edge.is_end ? ranges_[edge.range].end : ranges_[edge.range].begin) = leaf;
  }
  if (places_.empty()) return;
  constexpr uint64_t kFewPieces = 64;  // of a range, where a tree would not be faster
  uint64_t pieces = 0;
  for (const Leaves& leaves : ranges_) pieces += leaves.end - leaves.begin;
  if (pieces <= kFewPieces * ranges.size()) {
    counts_.resize(places_.size() - 1);
    return;
  }
  size_ = std::bit_ceil(places_.size() - 1);
  counts_.resize(size_ * 2);
  covered_below_.resize(size_ * 2);
}

int64_t CoveredBytes::Width(size_t node) const {
  // The leaves below the node, on the lowest level of the tree.
  const auto depth = static_cast<unsigned>(std::bit_width(size_) - std::bit_width(node));
  const size_t first = (node << depth) - size_;
  const size_t last = std::min(first + (size_t{1} << depth), places_.size() - 1);
  return first >= last ? 0 : places_[last] - places_[first];
}

void CoveredBytes::Recount(size_t node) {
  if (counts_[node] != 0) {
    covered_below_[node] = Width(node);
  } else {
    covered_below_[node] =
        node >= size_ ? 0 : covered_below_[node * 2] + covered_below_[node * 2 + 1];
  }
}

void CoveredBytes::Change(size_t range, int32_t by) {
  const Leaves leaves = ranges_[range];
  if (leaves.begin == leaves.end) return;
  if (size_ != 0) {
    ChangeTree(leaves, by);
    return;
  }
  for (uint32_t leaf = leaves.begin; leaf < leaves.end; ++leaf) {
    const int32_t before = counts_[leaf];
    counts_[leaf] += by;
    if ((before == 0) == (counts_[leaf] == 0)) continue;
    const int64_t width = places_[leaf + 1] - places_[leaf];
    covered_ += by > 0 ? width : -width;
  }
}

void CoveredBytes::ChangeTree(Leaves leaves, int32_t by) {
  const auto change = [&](size_t node) {
    counts_[node] += by;
    Recount(node);
  };
  // The few nodes that together are the range, from the leaves up.
  for (size_t a = leaves.begin + size_, b = leaves.end + size_; a < b; a /= 2, b /= 2) {
    if (a % 2 == 1) change(a++);
    if (b % 2 == 1) change(--b);
  }
  // All above them: two ways, until they meet.
  size_t left = (leaves.begin + size_) / 2;
  size_t right = (leaves.end - 1 + size_) / 2;
  for (; left != right; left /= 2, right /= 2) {
    Recount(left);
    Recount(right);
  }
  for (; left != 0; left /= 2) Recount(left);
  covered_ = covered_below_[1];
}

}  // namespace stowplan::report
