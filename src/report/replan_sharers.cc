// SPDX-License-Identifier: Apache-2.0
// Which values share a place on purpose.
//
// What a loop carries is one buffer: its first value, the parameters of condition and body, what
// the body returns, and the result. There may be times between them at which it is empty. A report
// does not say which values these are, but it says where tables of tuples lie, and tables never
// share a place with anything else. So instructions whose tables lie in one place hand on the same
// tuple, and so do their elements.
//
// Other values follow each other in one place. Either an instruction updates its operand in place,
// and both are one buffer; or it takes over what an operand of its own leaves. When the memory is
// traced, the operand of the latter ends before the instruction's result begins, and that decides
// the order of equally large buffers. What a fusion does to its operand, a report does not say.
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
  explicit Sets(size_t size) : firsts_(size), sizes_(size, 1) {
    std::iota(firsts_.begin(), firsts_.end(), 0U);
  }

  uint32_t Find(uint32_t row) {
    while (firsts_[row] != row) row = firsts_[row] = firsts_[firsts_[row]];
    return row;
  }
  // The first row of two stands for both.
  void Unite(uint32_t a, uint32_t b) {
    a = Find(a);
    b = Find(b);
    if (a == b) return;
    firsts_[std::max(a, b)] = std::min(a, b);
    sizes_[std::min(a, b)] += sizes_[std::max(a, b)];
  }
  bool IsAlone(uint32_t row) { return sizes_[Find(row)] == 1; }

 private:
  std::vector<uint32_t> firsts_;
  std::vector<uint32_t> sizes_;
};

// Opcodes that update an operand in place.
bool UpdatesInPlace(std::string_view opcode) {
  return opcode == "dynamic-update-slice" || opcode == "scatter" || opcode.ends_with("-start") ||
         opcode.ends_with("-done") || opcode.ends_with("-update");
}

}  // namespace

Replanner::Handover Replanner::HandoverOf(const Value& from, const Value& to) const {
  const std::string_view opcode = OpcodeOf(to.instruction_text);
  if (UpdatesInPlace(opcode)) return Handover::kInPlace;
  // Only what an operand itself makes is taken over: no part of a tuple, nothing after a bitcast.
  const std::vector<std::string_view> operands = OperandsOf(to.instruction_text);
  if (from.index.numbers.count != 0 ||
      (!operands.empty() && std::ranges::find(operands, from.instruction) == operands.end()))
    return Handover::kInPlace;
  // Loops and branches have computations, as fusions do.
  return opcode == "fusion" || opcode == "custom-call" || opcode == "while" ||
                 opcode == "conditional" || opcode.empty()
             ? Handover::kUnknown
             : Handover::kTakenOver;
}

void Replanner::UniteElements(const std::vector<ValueId>& order,
                              const std::function<void(uint32_t, uint32_t)>& unite) const {
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
      if (!is_first) unite(row->second, k);
    }
  }
}

Replanner::Sharers Replanner::FindSharers(const std::vector<ValueId>& order,
                                          Handover unknown) const {
  Sharers sharers;
  Sets groups(order.size());
  Sets buffers(order.size());
  const auto unite = [&](uint32_t a, uint32_t b) {
    buffers.Unite(a, b);
    groups.Unite(a, b);
  };
  UniteElements(order, unite);
  struct Last {
    uint32_t row = 0;
    int64_t end = 0;
  };
  struct Pair {
    uint32_t from = 0;
    uint32_t to = 0;
  };
  std::map<std::pair<OldId, int64_t>, Last> last;  // by place
  std::vector<Pair> handovers;
  for (uint32_t k = 0; k < order.size(); ++k) {
    const Value& value = report().values[order[k]];
    if (sizes_[order[k].index] == 0) continue;
    const auto [row, is_first] =
        last.try_emplace({value.allocation, value.offset}, Last{k, value.end});
    if (is_first) continue;
    const Last before = std::exchange(row->second, {k, std::max(row->second.end, value.end)});
    if (value.start > before.end) continue;
    Handover handover = HandoverOf(report().values[order[before.row]], value);
    if (handover == Handover::kUnknown) {
      handover = unknown;
      ++sharers.unknown;
    }
    if (handover == Handover::kInPlace) {
      unite(before.row, k);
    } else {
      groups.Unite(before.row, k);
      handovers.push_back({before.row, k});
    }
  }
  sharers.takes_over.assign(order.size(), 0);
  for (const Pair& pair : handovers)
    sharers.takes_over[pair.to] = buffers.IsAlone(pair.from) && buffers.IsAlone(pair.to) ? 1 : 0;
  sharers.first.resize(order.size());
  for (uint32_t k = 0; k < order.size(); ++k) sharers.first[k] = groups.Find(k);
  return sharers;
}

}  // namespace stowplan::report
