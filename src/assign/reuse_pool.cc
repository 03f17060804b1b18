// SPDX-License-Identifier: Apache-2.0
#include "assign/reuse_pool.h"

namespace stowplan {

void Tenancy::Add(const Tenant& tenant) {
  tenants_.emplace(std::pair(tenant.range.start, tenant.range.end), tenant);
  // The gap it came to lie in is cut in two.
  auto gap = gaps_.upper_bound(tenant.range.start);
  if (gap == gaps_.begin()) return;
  --gap;
  const auto [start, end] = *gap;
  if (end <= tenant.range.start) return;  // it lies between two gaps, with no length of its own
  gaps_.erase(gap);
  lengths_.erase(lengths_.find(end - start));
  AddGap(start, tenant.range.start);
  AddGap(tenant.range.end, end);
}

ReusePool::Room ReusePool::RoomOf(const Tenancy& tenancy) {
  const auto [start, end] = tenancy.GapBounds();
  return {.length = std::max<int64_t>(tenancy.LongestGap(), 0), .start = start, .end = end};
}

ReusePool::Room ReusePool::Join(const Room& a, const Room& b) {
  if (a.length == -1) return b;
  if (b.length == -1) return a;
  return {.length = std::max(a.length, b.length),
          .start = std::min(a.start, b.start),
          .end = std::max(a.end, b.end)};
}

void ReusePool::Set(size_t row, const Room& room) {
  tree_[leaves_ + row] = room;
  for (size_t node = (leaves_ + row) / 2; node != 0; node /= 2)
    tree_[node] = Join(tree_[2 * node], tree_[2 * node + 1]);
}

void ReusePool::Add(AllocationId id, const Tenancy& tenancy) {
  const size_t row = ids_.size();
  ids_.push_back(id);
  rows_.emplace(id, row);
  if (row == leaves_) {
    std::vector<Room> rooms(tree_.begin() + static_cast<std::ptrdiff_t>(leaves_), tree_.end());
    leaves_ *= 2;
    tree_.assign(2 * leaves_, {});
    std::ranges::copy(rooms, tree_.begin() + static_cast<std::ptrdiff_t>(leaves_));
    for (size_t node = leaves_; --node != 0;)
      tree_[node] = Join(tree_[2 * node], tree_[2 * node + 1]);
  }
  Set(row, RoomOf(tenancy));
}

void ReusePool::Update(AllocationId id, const Tenancy& tenancy) {
  if (const auto row = rows_.find(id); row != rows_.end()) Set(row->second, RoomOf(tenancy));
}

size_t ReusePool::FindBefore(size_t k, const LiveRange& range) const {
  if (k == 0) return kNone;
  // Up from row k until a left neighbour may have room, then down to its last row that may.
  size_t node = leaves_ + k;
  if (k == leaves_) {
    node = 1;
    if (!Fits(tree_[1], range)) return kNone;
  } else {
    while (true) {
      while (node > 1 && node % 2 == 0) node /= 2;
      if (node <= 1) return kNone;
      if (Fits(tree_[node - 1], range)) {
        --node;
        break;
      }
      node /= 2;
    }
  }
  while (node < leaves_) {
    node = 2 * node + 1;
    if (Fits(tree_[node], range)) continue;
    // Bounds of two rows together may promise what neither holds.
    if (!Fits(tree_[node - 1], range)) return FindBefore(FirstRow(node - 1), range);
    --node;
  }
  return node - leaves_;
}

}  // namespace stowplan
