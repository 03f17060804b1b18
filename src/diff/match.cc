// SPDX-License-Identifier: Apache-2.0
#include "diff/match.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "diff/align.h"
#include "explain/partition.h"

namespace stowplan::diff {

using explain::Op;
using explain::Picture;
using hlo::Opcode;
using report::ValueId;

bool IsMatched(const report::Report& report, const report::Value& value) {
  return !value.allocation.is_none() && !report.allocations[value.allocation].is_thread_local;
}

namespace {

bool IsCopyOpcode(Opcode opcode) {
  return opcode == Opcode::kCopy || opcode == Opcode::kCopyStart || opcode == Opcode::kCopyDone;
}

}  // namespace

bool IsCopy(const Picture& picture, ValueId id) {
  const Op& op = picture.op_of(id);
  if (op.opcode != Opcode::kFusion || op.instruction.is_none()) return IsCopyOpcode(op.opcode);
  // XLA wraps a copy that it makes in parallel.
  const hlo::Module& module = *picture.module;
  const auto called = module.called_by(op.instruction);
  if (called.empty()) return false;
  const hlo::InstrId root = module.computations[called[0]].root;
  return !root.is_none() && IsCopyOpcode(module.instructions[root].opcode);
}

namespace {

// What keys are made of.
enum Field : uint8_t {
  kOpName,
  kTail,
  kSource,
  kShape,
  kRank,
  kIndex,
  kOpcode,
  kClass,
  kPosition,
  kName
};
constexpr size_t kFields = 10;

struct Round {
  std::vector<Field> fields;
  std::vector<Field> needed;  // a value that lacks one of these is left out
};

// From strict to loose. Shapes go before names do: a larger batch keeps the names, and the number
// of dimensions.
std::vector<Round> Rounds() {
  return {
      {{kOpName, kSource, kShape, kIndex, kOpcode, kClass}, {}},
      {{kOpName, kShape, kIndex, kOpcode, kClass}, {}},
      {{kOpName, kSource, kRank, kIndex, kOpcode, kClass}, {kOpName}},
      {{kOpName, kRank, kIndex, kOpcode, kClass}, {kOpName}},
      {{kTail, kSource, kShape, kIndex, kOpcode, kClass}, {kSource}},
      {{kTail, kShape, kIndex, kOpcode, kClass}, {kTail}},
      {{kSource, kShape, kIndex, kClass}, {kSource}},
      {{kOpName, kRank, kIndex, kClass}, {kOpName}},
      {{kTail, kSource, kRank, kIndex, kClass}, {kSource}},
      {{kShape, kIndex, kClass, kPosition}, {}},
      {{kOpName, kSource, kRank, kIndex, kOpcode, kClass}, {}},
  };
}

// Where one side does not say what values are, names are better than nothing.
Round RoundOfNames() { return {{kName, kShape, kIndex}, {}}; }

struct Item {
  ValueId id;
  std::array<uint64_t, kFields> fields{};
  bool is_paired = false;
};

// What makes two values never the same.
uint64_t ClassOf(const Picture& picture, ValueId id) {
  if (IsCopy(picture, id)) return 1;
  switch (picture.op_of(id).opcode) {
    case Opcode::kParameter:
      return 2;
    case Opcode::kConstant:
      return 3;
    default:
      return 4;
  }
}

// 0: there is none.
uint64_t HashOf(std::string_view text) { return text.empty() ? 0 : HashBytes(text) | 1U; }

// The operation at the end of an op_name, and whether it belongs to a backward pass.
uint64_t TailOf(std::string_view op_name) {
  if (op_name.empty()) return 0;
  const std::vector<std::string_view> parts = explain::OpNameParts(op_name);
  if (parts.empty()) return 0;
  const bool is_backward = op_name.find("transpose(") != std::string_view::npos;
  return MixHash(HashOf(parts.back()), is_backward ? 1 : 0) | 1U;
}

// Of an array, how many dimensions; of a tuple, more or less how many elements.
uint64_t RankOf(std::string_view shape) {
  const std::string_view part = shape.substr(0, shape.find(']'));
  const auto commas = static_cast<uint64_t>(std::ranges::count(part, ','));
  return part.ends_with('[') ? 0 : commas + 1;
}

Item ItemOf(const Picture& picture, ValueId id) {
  const report::Report& report = *picture.report;
  const report::Value& value = report.values[id];
  const explain::ValueFact& fact = picture.fact(id);
  Item item{.id = id};
  // Of a whole array, the instruction's own words: what they are named after (explain/makers) may
  // change while the instruction stays.
  const explain::Op& op = picture.op_of(id);
  const bool is_whole = value.index.numbers.count == 0;
  const std::string_view op_name = is_whole ? op.op_name : fact.op_name;
  const explain::FrameId innermost = is_whole ? op.frame : fact.frame;
  item.fields[kOpName] = HashOf(op_name);
  item.fields[kTail] = TailOf(op_name);
  if (!innermost.is_none()) {
    const explain::Frame& frame = picture.frames[innermost];
    item.fields[kSource] = MixHash(HashOf(frame.file), static_cast<uint64_t>(frame.line)) | 1U;
  }
  item.fields[kShape] = HashOf(value.shape);
  item.fields[kRank] = RankOf(value.shape);
  uint64_t index = 1;
  for (const int64_t n : report.numbers(value.index))
    index = MixHash(index, static_cast<uint64_t>(n));
  item.fields[kIndex] = index;
  item.fields[kOpcode] = static_cast<uint64_t>(op.opcode);
  item.fields[kClass] = ClassOf(picture, id);
  item.fields[kName] = HashOf(value.instruction);
  return item;
}

// In the order of the program.
std::vector<Item> ItemsOf(const Picture& picture) {
  const report::Report& report = *picture.report;
  std::vector<std::pair<int64_t, ValueId>> order;
  for (size_t i = 0; i < report.values.size(); ++i) {
    const report::Value& value = report.values[ValueId(i)];
    if (!IsMatched(report, value)) continue;
    // Parameters and constants live from the beginning, wherever they stand.
    const int64_t time = picture.op_of(ValueId(i)).time;
    order.emplace_back(time >= 0 ? time : (value.has_range ? value.start : 0), ValueId(i));
  }
  std::ranges::sort(order);
  std::vector<Item> items;
  items.reserve(order.size());
  for (const auto& [time, id] : order) items.push_back(ItemOf(picture, id));
  return items;
}

// A value that is not paired yet.
struct Open {
  uint64_t key = 0;
  uint32_t item = 0;
};

class Matcher {
 public:
  Matcher(const Picture& a, const Picture& b) : sides_{ItemsOf(a), ItemsOf(b)} {
    match_.b_of_a.resize(a.report->values.size());
    match_.a_of_b.resize(b.report->values.size());
    for (const Field field : {kOpName, kTail, kSource}) {
      ForgetUnless(Knows(0, field, 0) && Knows(1, field, 0), field);
    }
    const auto unknown = static_cast<uint64_t>(Opcode::kUnknown);
    const bool knows_opcodes = Knows(0, kOpcode, unknown) && Knows(1, kOpcode, unknown);
    ForgetUnless(knows_opcodes, kOpcode);
    ForgetUnless(knows_opcodes, kClass);
  }

  Match Run() {
    std::vector<Round> rounds = Rounds();
    if (has_forgotten_) rounds.insert(rounds.begin(), RoundOfNames());
    for (const Round& round : rounds) {
      SetPositions();
      std::array<std::vector<Open>, 2> open = {OpenOf(0, round), OpenOf(1, round)};
      // Certain pairs first: they tell where the others are.
      PairGroups(open, /*is_even=*/true);
      SetPositions();
      PairGroups(open, /*is_even=*/false);
    }
    return std::move(match_);
  }

 private:
  // Whether a side has a field: opcodes of most values, others of any.
  [[nodiscard]] bool Knows(size_t side, Field field, uint64_t nothing) const {
    const std::vector<Item>& items = sides_[side];
    const auto count = std::ranges::count_if(
        items, [&](const Item& item) { return item.fields[field] != nothing; });
    return field == kOpcode ? static_cast<size_t>(count) * 2 > items.size() : count != 0;
  }

  // What only one side knows tells nothing.
  void ForgetUnless(bool is_known, Field field) {
    if (is_known) return;
    for (std::vector<Item>& items : sides_) {
      for (Item& item : items) {
        has_forgotten_ = has_forgotten_ || item.fields[field] != 0;
        item.fields[field] = 0;
      }
    }
  }

  // How many paired values come before: the same measure on both sides.
  void SetPositions() {
    for (std::vector<Item>& items : sides_) {
      uint64_t before = 0;
      for (Item& item : items) {
        item.fields[kPosition] = before;
        if (item.is_paired) ++before;
      }
    }
  }

  [[nodiscard]] std::vector<Open> OpenOf(size_t side, const Round& round) const {
    std::vector<Open> open;
    const std::vector<Item>& items = sides_[side];
    for (size_t i = 0; i < items.size(); ++i) {
      const Item& item = items[i];
      if (item.is_paired) continue;
      if (std::ranges::any_of(round.needed, [&](Field f) { return item.fields[f] == 0; })) continue;
      uint64_t key = 0;
      for (const Field field : round.fields) key = MixHash(key, item.fields[field]);
      open.push_back({.key = key, .item = static_cast<uint32_t>(i)});
    }
    // Stable: within a key, the order of the program stays.
    std::ranges::stable_sort(open, {}, &Open::key);
    return open;
  }

  void PairGroups(const std::array<std::vector<Open>, 2>& open, bool is_even) {
    size_t a = 0;
    size_t b = 0;
    while (a < open[0].size() && b < open[1].size()) {
      const uint64_t key = std::min(open[0][a].key, open[1][b].key);
      const std::span<const Open> mine = Group(open[0], a, key);
      const std::span<const Open> theirs = Group(open[1], b, key);
      a += mine.size();
      b += theirs.size();
      if (mine.empty() || theirs.empty() || (mine.size() == theirs.size()) != is_even) continue;
      if (is_even) {
        for (size_t i = 0; i < mine.size(); ++i) Pair(mine[i].item, theirs[i].item);
      } else if (mine.size() < theirs.size()) {
        const std::vector<size_t> to = Align(PositionsOf(0, mine), PositionsOf(1, theirs));
        for (size_t i = 0; i < to.size(); ++i) Pair(mine[i].item, theirs[to[i]].item);
      } else {
        const std::vector<size_t> to = Align(PositionsOf(1, theirs), PositionsOf(0, mine));
        for (size_t i = 0; i < to.size(); ++i) Pair(mine[to[i]].item, theirs[i].item);
      }
    }
  }

  static std::span<const Open> Group(const std::vector<Open>& open, size_t begin, uint64_t key) {
    size_t end = begin;
    while (end < open.size() && open[end].key == key) ++end;
    return std::span<const Open>(open).subspan(begin, end - begin);
  }

  [[nodiscard]] std::vector<int64_t> PositionsOf(size_t side, std::span<const Open> group) const {
    std::vector<int64_t> positions;
    positions.reserve(group.size());
    for (const Open& open : group)
      positions.push_back(static_cast<int64_t>(sides_[side][open.item].fields[kPosition]));
    return positions;
  }

  void Pair(uint32_t a, uint32_t b) {
    Item& mine = sides_[0][a];
    Item& theirs = sides_[1][b];
    mine.is_paired = theirs.is_paired = true;
    match_.b_of_a[mine.id.index] = theirs.id;
    match_.a_of_b[theirs.id.index] = mine.id;
  }

  std::array<std::vector<Item>, 2> sides_;
  bool has_forgotten_ = false;
  Match match_;
};

}  // namespace

Match MatchValues(const Picture& a, const Picture& b) { return Matcher(a, b).Run(); }

}  // namespace stowplan::diff
