// SPDX-License-Identifier: Apache-2.0
#include "explain/tree_maker.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "base/hash.h"
#include "base/radix_sort.h"

namespace stowplan::explain {
namespace {

uint64_t HashOfChild(uint32_t parent, std::string_view name) {
  return MixHash(HashBytes(name), parent);
}

// Up to 8 characters as a number, so that numbers stand as the texts do; what is missing is 0.
uint64_t Prefix(std::string_view text) {
  uint64_t word = 0;
  std::memcpy(&word, text.data(), std::min<size_t>(8, text.size()));
  return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
}

size_t SharedLength(std::string_view a, std::string_view b) {
  const size_t n = std::min(a.size(), b.size());
  size_t i = 0;
  while (i < n && a[i] == b[i]) ++i;
  return i;
}

// By name, those in parentheses after the others. Thousands of names that begin alike are common
// (multiply.1, multiply.2, ...): their first characters that differ decide most comparisons.
void SortByName(const std::vector<Row>& rows, std::span<uint32_t> ids) {
  struct Key {
    uint64_t prefix;
    uint32_t id;
    bool is_other;
  };
  if (ids.size() < 2) return;
  const std::string_view first = rows[ids[0]].name;
  size_t shared = first.size();
  for (const uint32_t id : ids) {
    const std::string_view name = rows[id].name;
    if (name.substr(0, shared) != first.substr(0, shared)) shared = SharedLength(first, name);
  }
  std::vector<Key> keys;
  keys.reserve(ids.size());
  for (const uint32_t id : ids)
    keys.push_back({Prefix(std::string_view(rows[id].name).substr(shared)), id, rows[id].is_other});
  std::ranges::sort(keys, [&](const Key& a, const Key& b) {
    if (a.is_other != b.is_other) return b.is_other;
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const int order = rows[a.id].name.compare(rows[b.id].name);
    return order != 0 ? order < 0 : a.id < b.id;
  });
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = keys[i].id;
}

}  // namespace

TreeMaker::TreeMaker(const Moment& moment, By by) {
  partition_.by = by;
  partition_.time = moment.time;
  partition_.space = moment.space;
  Row root;
  root.name = "total";
  rows_.push_back(std::move(root));
  last_child_.push_back(0);
  Grow();
}

Row& TreeMaker::Down(std::string_view name) {
  // Values that follow one another often go the same way.
  if (const uint32_t last = last_child_[at_]; last != 0 && rows_[last].name == name) {
    at_ = last;
    return rows_[at_];
  }
  if (named_ * 2 >= slots_.size()) Grow();
  const uint32_t parent = at_;
  uint32_t& child = ChildSlot(name);
  if (child == 0) {
    child = static_cast<uint32_t>(rows_.size());
    ++named_;
    DownNew(std::string(name));
  } else {
    at_ = child;
  }
  last_child_[parent] = at_;
  return rows_[at_];
}

Row& TreeMaker::DownNew(std::string name) {
  Row row;
  row.name = std::move(name);
  row.parent = at_;
  row.depth = rows_[at_].depth + 1;
  at_ = static_cast<uint32_t>(rows_.size());
  rows_.push_back(std::move(row));
  last_child_.push_back(0);
  return rows_[at_];
}

uint32_t& TreeMaker::ChildSlot(std::string_view name) {
  const size_t mask = slots_.size() - 1;
  for (size_t i = HashOfChild(at_, name) & mask;; i = (i + 1) & mask) {
    const uint32_t row = slots_[i];
    if (row == 0 || (rows_[row].parent == at_ && rows_[row].name == name)) return slots_[i];
  }
}

void TreeMaker::Grow() {
  constexpr size_t kFirst = 64;
  const std::vector<uint32_t> old =
      std::exchange(slots_, std::vector<uint32_t>(std::max(kFirst, slots_.size() * 4)));
  const size_t mask = slots_.size() - 1;
  for (const uint32_t row : old) {
    if (row == 0) continue;
    size_t i = HashOfChild(rows_[row].parent, rows_[row].name) & mask;
    while (slots_[i] != 0) i = (i + 1) & mask;
    slots_[i] = row;
  }
}

Partition TreeMaker::Make() && {
  for (size_t i = rows_.size(); i-- > 0;) {
    Row& row = rows_[i];
    row.total += row.own;
    if (i == 0) break;
    // Children stand after their parents.
    rows_[row.parent].total += row.total;
    rows_[row.parent].values += row.values;
  }
  Order();
  return std::move(partition_);
}

void TreeMaker::Order() {
  // By parent, then by falling total, then by name.
  std::vector<uint32_t> order;
  order.reserve(rows_.size());
  for (size_t i = 1; i < rows_.size(); ++i) {
    if (rows_[i].total != 0) order.push_back(static_cast<uint32_t>(i));
  }
  RadixSort(order, [&](uint32_t i) { return ~RadixKey(rows_[i].total); });
  RadixSort(order, [&](uint32_t i) { return uint64_t{rows_[i].parent}; });
  const auto is_tied = [&](uint32_t a, uint32_t b) {
    return rows_[a].parent == rows_[b].parent && rows_[a].total == rows_[b].total;
  };
  std::vector<std::pair<uint32_t, uint32_t>> children(rows_.size());  // in `order`: begin and end
  for (uint32_t begin = 0; begin < order.size();) {
    uint32_t end = begin + 1;
    while (end < order.size() && is_tied(order[begin], order[end])) ++end;
    SortByName(rows_, std::span(order).subspan(begin, end - begin));
    auto& range = children[rows_[order[begin]].parent];
    if (range.second == 0) range.first = begin;
    range.second = end;
    begin = end;
  }
  struct Visit {
    uint32_t row;
    uint32_t parent;
  };
  std::vector<Visit> stack = {{0, 0}};
  partition_.rows.reserve(order.size() + 1);
  while (!stack.empty()) {
    const Visit visit = stack.back();
    stack.pop_back();
    const auto id = static_cast<uint32_t>(partition_.rows.size());
    const auto [begin, end] = children[visit.row];
    for (uint32_t i = end; i-- > begin;) stack.push_back({order[i], id});
    partition_.rows.push_back(std::move(rows_[visit.row]));
    partition_.rows.back().parent = visit.parent;
  }
}

}  // namespace stowplan::explain
