// SPDX-License-Identifier: Apache-2.0
// The order of allocations that no rule orders.
//
// XLA orders buffers by size, or by time and size. Equals come in the order of their computations,
// which follows from who calls whom, and of that a report says nothing. But it shows the outcome:
// the numbers of allocations, and where the tables of tuples lie among the temporaries. So the
// order of equals is taken from there, and only that: an order by which the rules are broken is not
// taken.
#include <algorithm>
#include <map>
#include <tuple>

#include "assign/combine.h"
#include "report/replanner.h"

namespace stowplan::report {

Assignment Replanner::ToAssignment() const {
  Assignment assignment;
  assignment.places.resize(report().values.size());
  for (const Made& made : made_) {
    const NewId id = assignment.allocations.Add(made.allocation);
    for (const auto& [value, offset] : made.values) {
      assignment.places[value.index] = {id, offset, sizes_[value.index]};
      // The report's row stands for the value; rows are sorted by number later.
      assignment.allocations[id].values.emplace_back(value.index);
    }
  }
  return assignment;
}

void Replanner::TakeOrderOfEquals() {
  // What was numbered apart from the others says nothing about the order among both.
  const auto is_apart = [&](const stowplan::Allocation& made) {
    return attempt_ == Attempt::kKept && IsKept(made.color);
  };
  // By row of made_: where the report has it. For temporaries of a memory space that is the block
  // and the place in it; one without bytes comes before whatever else begins there.
  const auto place_of = [&](const Made& made) {
    const Allocation& old = report().allocations[report().values[made.values[0].first].allocation];
    if (!made.allocation.is_temp()) return std::tuple(old.number, int64_t{0}, false);
    int64_t base = std::numeric_limits<int64_t>::max();
    for (const auto& [value, offset] : made.values)
      base = std::min(base, report().values[value].offset - offset);
    return std::tuple(old.number, base, made.allocation.size != 0);
  };
  std::map<int64_t, std::vector<size_t>> temporaries;  // by color: rows
  std::vector<size_t> others[2];                       // of kept spaces or not: rows
  for (size_t row = 0; row < made_.size(); ++row) {
    if (made_[row].values.empty()) return;
    const stowplan::Allocation& made = made_[row].allocation;
    (made.is_temp() ? temporaries[made.color] : others[is_apart(made) ? 1 : 0]).push_back(row);
  }
  const auto by_place = [&](std::vector<size_t>& rows) {
    std::ranges::stable_sort(rows, {}, [&](size_t row) { return place_of(made_[row]); });
  };
  for (std::vector<size_t>& rows : others) by_place(rows);
  for (auto& [color, rows] : temporaries) by_place(rows);
  // Which row of made_ ends up at which number follows from where temporaries are among the others;
  // so the report's rows, by number, go back to where they come from.
  const std::vector<NewId> order = CombiningOrder(ToAssignment());
  std::map<int64_t, size_t> next;  // by color
  size_t next_other[2] = {0, 0};
  std::vector<size_t> rows(made_.size());
  for (size_t k = 0; k < order.size(); ++k) {
    const stowplan::Allocation& made = made_[order[k].index].allocation;
    const int other = is_apart(made) ? 1 : 0;
    rows[order[k].index] = made.is_temp() ? temporaries[made.color][next[made.color]++]
                                          : others[other][next_other[other]++];
  }
  if (std::ranges::is_sorted(
          rows, [&](size_t a, size_t b) { return made_[a].key.IsBefore(made_[b].key); })) {
    std::vector<Made> taken;
    taken.reserve(made_.size());
    for (const size_t row : rows) taken.push_back(std::move(made_[row]));
    made_ = std::move(taken);
    is_order_taken_ = true;
    result_.taken.emplace_back("the order of equally large allocations");
  }
}

}  // namespace stowplan::report
