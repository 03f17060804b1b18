// SPDX-License-Identifier: Apache-2.0
// Which values share a place on purpose.
//
// What a loop carries is one buffer: its first value, the parameters of condition and body, what the
// body returns, and the result. There may be times between them at which it is empty. A report does
// not say which values these are, but it says where tables of tuples lie, and tables never share a
// place with anything else. So instructions whose tables lie in one place hand on the same tuple,
// and so do their elements.
#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>

#include "report/replanner.h"

namespace stowplan::report {
namespace {

class Sets {
 public:
  explicit Sets(size_t size) : firsts_(size) { std::iota(firsts_.begin(), firsts_.end(), 0U); }

  uint32_t Find(uint32_t row) {
    while (firsts_[row] != row) row = firsts_[row] = firsts_[firsts_[row]];
    return row;
  }
  // The first row of two stands for both.
  void Unite(uint32_t a, uint32_t b) {
    a = Find(a);
    b = Find(b);
    firsts_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<uint32_t> firsts_;
};

}  // namespace

std::vector<uint32_t> Replanner::FindSharers(const std::vector<ValueId>& order) const {
  Sets sets(order.size());
  struct Last {
    uint32_t row = 0;
    int64_t end = 0;
  };
  std::map<std::pair<OldId, int64_t>, Last> last;  // by place
  for (uint32_t k = 0; k < order.size(); ++k) {
    const Value& value = report().values[order[k]];
    if (sizes_[order[k].index] == 0) continue;
    const auto [row, is_first] =
        last.try_emplace({value.allocation, value.offset}, Last{k, value.end});
    if (is_first) continue;
    if (value.start <= row->second.end) sets.Unite(row->second.row, k);
    row->second = {k, std::max(row->second.end, value.end)};
  }
  // By instruction and index: where the table of this tuple lies.
  using Spot = std::pair<OldId, int64_t>;
  std::map<std::pair<std::string_view, std::vector<int64_t>>, Spot> tables;
  const auto index_of = [&](const Position& position) {
    const std::span<const int64_t> numbers = report().numbers(position.index);
    return std::vector<int64_t>(numbers.begin(), numbers.end());
  };
  for (size_t v = 0; v < report().values.size(); ++v) {
    const Value& value = report().values[ValueId(v)];
    if (!IsTuple(value) || value.allocation.is_none() || sizes_[v] == 0) continue;
    for (const Position& position : report().positions_of(value))
      tables.emplace(std::pair(position.instruction, index_of(position)),
                     Spot(value.allocation, value.offset));
  }
  // By table and number of an element, and by place: the first value there.
  std::map<std::tuple<Spot, int64_t, Spot>, uint32_t> elements;
  for (uint32_t k = 0; k < order.size(); ++k) {
    const Value& value = report().values[order[k]];
    if (sizes_[order[k].index] == 0) continue;
    for (const Position& position : report().positions_of(value)) {
      std::vector<int64_t> index = index_of(position);
      if (index.empty()) continue;
      const int64_t element = index.back();
      index.pop_back();
      const auto table = tables.find({position.instruction, std::move(index)});
      if (table == tables.end()) continue;
      const Spot spot(value.allocation, value.offset);
      const auto [row, is_first] = elements.try_emplace({table->second, element, spot}, k);
      if (!is_first) sets.Unite(row->second, k);
    }
  }
  std::vector<uint32_t> first(order.size());
  for (uint32_t k = 0; k < order.size(); ++k) first[k] = sets.Find(k);
  return first;
}

}  // namespace stowplan::report
