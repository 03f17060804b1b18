// SPDX-License-Identifier: Apache-2.0
#include "report/minimalloc.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "base/stable_sort.h"
#include "hlo/number.h"

namespace stowplan::report {
namespace {

using hlo::AppendNumber;

// A value of the allocation, with half-open time and bytes.
struct Box {
  int64_t id = 0;
  int64_t lower = 0;
  int64_t upper = 0;
  int64_t begin = 0;  // bytes
  int64_t end = 0;
};

// Sets of boxes that share a place.
class Groups {
 public:
  explicit Groups(size_t count) : parents_(count) {
    std::iota(parents_.begin(), parents_.end(), 0U);
  }

  size_t Find(size_t box) {
    while (parents_[box] != box) {
      parents_[box] = parents_[parents_[box]];
      box = parents_[box];
    }
    return box;
  }
  void Join(size_t a, size_t b) {
    a = Find(a);
    b = Find(b);
    // The smaller index stays, so that the result does not depend on the order of joins.
    parents_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<size_t> parents_;
};

// Who has the bytes, as time goes by. Two boxes that have a byte at the same time are in one group
// already, so for each byte only the one that keeps it longest matters.
class Occupation {
 public:
  explicit Occupation(const std::vector<Box>& boxes, Groups& groups)
      : boxes_(boxes), groups_(groups) {
    owners_.emplace(std::numeric_limits<int64_t>::min(), kNobody);
  }

  // Boxes come by time.
  void Add(size_t box) {
    const Box& added = boxes_[box];
    Split(added.end);
    auto piece = Split(added.begin);
    while (piece != owners_.end() && piece->first < added.end) {
      const size_t owner = piece->second;
      const bool is_alive = owner != kNobody && boxes_[owner].upper > added.lower;
      if (is_alive) groups_.Join(owner, box);
      if (!is_alive || boxes_[owner].upper <= added.upper) piece->second = box;
      // Neighbours of one owner become one piece again.
      const bool is_same = piece->first != added.begin && std::prev(piece)->second == piece->second;
      piece = is_same ? owners_.erase(piece) : std::next(piece);
    }
  }

 private:
  static constexpr size_t kNobody = static_cast<size_t>(-1);

  // The piece that begins at this byte; made when there is none.
  std::map<int64_t, size_t>::iterator Split(int64_t byte) {
    const auto behind = owners_.upper_bound(byte);
    const auto piece = std::prev(behind);
    if (piece->first == byte) return piece;
    return owners_.emplace_hint(behind, byte, piece->second);
  }

  const std::vector<Box>& boxes_;
  Groups& groups_;
  std::map<int64_t, size_t> owners_;  // by the first byte of a piece, which goes on to the next
};

// The values that lie in the allocation at known times, by time.
std::vector<Box> BoxesOf(const Report& report, AllocationId allocation, PackingInstance& instance) {
  std::vector<Box> boxes;
  for (const ValueId id : report.allocations[allocation].values) {
    const Value& value = report.values[id];
    if (value.size <= 0) continue;
    Box box{.id = value.number >= 0 ? value.number : static_cast<int64_t>(id.index),
            .lower = value.start,
            .begin = value.offset};
    // Readers take such numbers as they come; there is no box of them.
    if (!value.has_range || value.end < value.start || value.offset < 0 ||
        __builtin_add_overflow(value.end, 1, &box.upper) ||
        __builtin_add_overflow(value.offset, value.size, &box.end)) {
      ++instance.values_left_out;
      continue;
    }
    boxes.push_back(box);
  }
  StableSort(boxes, [](const Box& a, const Box& b) {
    return std::pair(a.lower, a.id) < std::pair(b.lower, b.id);
  });
  return boxes;
}

void JoinShared(const std::vector<Box>& boxes, std::span<const SharedBuffer> shared,
                Groups& groups) {
  if (shared.empty()) return;
  std::unordered_map<int64_t, size_t> by_id;
  for (size_t i = 0; i < boxes.size(); ++i) by_id.emplace(boxes[i].id, i);
  for (const SharedBuffer& pair : shared) {
    const auto a = by_id.find(pair.a);
    const auto b = by_id.find(pair.b);
    if (a != by_id.end() && b != by_id.end()) groups.Join(a->second, b->second);
  }
}

// The row of a group: a block around all of its boxes, and gaps where the boxes do not fill it.
PackingRow RowOf(const std::vector<Box>& boxes, const std::vector<size_t>& members) {
  PackingRow row;
  row.id = boxes[members.front()].id;
  row.offset = std::numeric_limits<int64_t>::max();
  int64_t end = std::numeric_limits<int64_t>::min();
  std::map<int64_t, std::vector<std::pair<size_t, bool>>>
      events;  // by time: box, whether it begins
  for (const size_t member : members) {
    const Box& box = boxes[member];
    row.offset = std::min(row.offset, box.begin);
    end = std::max(end, box.end);
    events[box.lower].emplace_back(member, true);
    events[box.upper].emplace_back(member, false);
  }
  row.size = end - row.offset;
  row.lower = events.begin()->first;
  row.upper = events.rbegin()->first;
  std::multiset<int64_t> begins;
  std::multiset<int64_t> ends;
  for (auto event = events.begin(); std::next(event) != events.end(); ++event) {
    for (const auto& [member, is_begin] : event->second) {
      const Box& box = boxes[member];
      if (is_begin) {
        begins.insert(box.begin);
        ends.insert(box.end);
      } else {
        begins.erase(begins.find(box.begin));
        ends.erase(ends.find(box.end));
      }
    }
    PackingGap gap{.lower = event->first, .upper = std::next(event)->first};
    if (!begins.empty()) {
      gap.window_lower = *begins.begin() - row.offset;
      gap.window_upper = *ends.rbegin() - row.offset;
    }
    if (gap.window_lower == 0 && gap.window_upper == row.size) continue;
    PackingGap* last = row.gaps.empty() ? nullptr : &row.gaps.back();
    if (last != nullptr && last->upper == gap.lower && last->window_lower == gap.window_lower &&
        last->window_upper == gap.window_upper) {
      last->upper = gap.upper;
    } else {
      row.gaps.push_back(gap);
    }
  }
  return row;
}

}  // namespace

PackingInstance BuildPackingInstance(const Report& report, AllocationId allocation,
                                     std::span<const SharedBuffer> shared) {
  PackingInstance instance;
  const std::vector<Box> boxes = BoxesOf(report, allocation, instance);
  Groups groups(boxes.size());
  Occupation occupation(boxes, groups);
  for (size_t i = 0; i < boxes.size(); ++i) occupation.Add(i);
  JoinShared(boxes, shared, groups);
  std::map<size_t, std::vector<size_t>> members;  // by the group's first box: by time
  for (size_t i = 0; i < boxes.size(); ++i) members[groups.Find(i)].push_back(i);
  for (const auto& [first, group] : members) {
    instance.rows.push_back(RowOf(boxes, group));
    const PackingRow& row = instance.rows.back();
    instance.capacity = std::max(instance.capacity, row.offset + row.size);
  }
  return instance;
}

std::string WriteMinimalloc(const PackingInstance& instance, PackingOffsets offsets) {
  const bool has_gaps =
      std::ranges::any_of(instance.rows, [](const PackingRow& row) { return !row.gaps.empty(); });
  const bool has_offsets = offsets == PackingOffsets::kWrite;
  std::string out = "id,lower,upper,size";
  if (has_gaps) out += ",gaps";
  if (has_offsets) out += ",offset";
  out += '\n';
  for (const PackingRow& row : instance.rows) {
    const std::array<int64_t, 4> numbers = {row.id, row.lower, row.upper, row.size};
    hlo::AppendNumbers(numbers, ",", out);
    if (has_gaps) out += ',';
    bool is_first = true;
    for (const PackingGap& gap : row.gaps) {
      if (!is_first) out += ' ';
      is_first = false;
      AppendNumber(gap.lower, out);
      out += '-';
      AppendNumber(gap.upper, out);
      if (gap.window_lower == gap.window_upper) continue;
      out += '@';
      AppendNumber(gap.window_lower, out);
      out += ':';
      AppendNumber(gap.window_upper, out);
    }
    if (has_offsets) {
      out += ',';
      AppendNumber(row.offset, out);
    }
    out += '\n';
  }
  return out;
}

}  // namespace stowplan::report
