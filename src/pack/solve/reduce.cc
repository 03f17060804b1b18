// SPDX-License-Identifier: Apache-2.0
#include "pack/solve/reduce.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "pack/solve/align.h"

namespace stowplan::pack {
namespace {

// A stretch of time in which an item needs bytes, before time has slots.
struct TimeStretch {
  uint32_t item;
  int64_t start;
  int64_t end;
  int64_t low;
  int64_t high;
};

// Numbers the moments at which something begins.
class Clock {
 public:
  explicit Clock(std::vector<int64_t> starts) {
    if (starts.empty()) return;
    const auto [least, greatest] = std::ranges::minmax(starts);
    first_ = least;
    const uint64_t range = static_cast<uint64_t>(greatest) - static_cast<uint64_t>(least);
    // Times are mostly counted one by one; a table is quicker than a search then.
    if (range < 8 * starts.size()) {
      table_.assign(range + 2, 0);
      for (const int64_t start : starts) table_[static_cast<size_t>(start - least) + 1] = 1;
      for (size_t t = 1; t < table_.size(); ++t) table_[t] += table_[t - 1];
      count_ = table_.back();
      return;
    }
    std::ranges::sort(starts);
    starts.erase(std::ranges::unique(starts).begin(), starts.end());
    count_ = static_cast<int32_t>(starts.size());
    starts_ = std::move(starts);
  }
  // How many moments are before `time`.
  [[nodiscard]] int32_t SlotOf(int64_t time) const {
    if (table_.empty())
      return static_cast<int32_t>(std::ranges::lower_bound(starts_, time) - starts_.begin());
    const auto at = static_cast<size_t>(std::max<int64_t>(time - first_, 0));
    return table_[std::min(at, table_.size() - 1)];
  }
  [[nodiscard]] int32_t count() const { return count_; }

 private:
  int64_t first_ = 0;
  int32_t count_ = 0;
  std::vector<int32_t> table_;  // by time from the first on: moments before it
  std::vector<int64_t> starts_;
};

class Reducer {
 public:
  explicit Reducer(const Problem& problem) : problem_(problem) {}

  Reduced Run() && {
    NumberItems();
    if (IsPlain()) {
      MakeWholeItems();
    } else {
      MakePieces();
    }
    SortItems();
    reduced_.core.pins = SpotsOf(problem_.pins);
    reduced_.core.hints = SpotsOf(problem_.hints);
    Scale();
    return std::move(reduced_);
  }

 private:
  [[nodiscard]] bool IsPlain() const {
    return problem_.gaps.empty() && problem_.groups.empty() && problem_.apart.empty();
  }

  void NumberItems() {
    const std::vector<Buffer>& buffers = problem_.buffers;
    std::vector<uint32_t>& items = reduced_.items;
    items.assign(buffers.size(), kNone);
    std::vector<Item>& made = reduced_.core.items;
    const auto add = [&](uint32_t b, uint32_t item) {
      items[b] = item;
      made[item].size = std::max(made[item].size, buffers[b].size);
      made[item].alignment = std::lcm(made[item].alignment, buffers[b].alignment);
    };
    for (const std::vector<uint32_t>& group : problem_.groups) {
      // Buffers without bytes have a place too when they share one.
      const auto item = static_cast<uint32_t>(made.size());
      made.emplace_back();
      for (const uint32_t b : group) add(b, item);
    }
    if (problem_.groups.empty()) made.reserve(buffers.size());
    for (uint32_t b = 0; b < buffers.size(); ++b) {
      if (items[b] != kNone || buffers[b].size == 0) continue;
      made.emplace_back();
      add(b, static_cast<uint32_t>(made.size() - 1));
    }
  }

  void MakeWholeItems() {
    std::vector<int64_t> starts;
    starts.reserve(reduced_.core.items.size());
    EachItem([&](uint32_t b, Item&) { starts.push_back(problem_.buffers[b].start); });
    const Clock clock(std::move(starts));
    reduced_.core.slot_count = clock.count();
    EachItem([&](uint32_t b, Item& item) {
      item.lower = clock.SlotOf(problem_.buffers[b].start);
      item.upper = clock.SlotOf(problem_.buffers[b].end);
      reduced_.core.durations.push_back(problem_.buffers[b].end - problem_.buffers[b].start);
    });
  }
  template <class Visit>
  void EachItem(Visit visit) {
    for (uint32_t b = 0; b < problem_.buffers.size(); ++b) {
      if (reduced_.items[b] != kNone) visit(b, reduced_.core.items[reduced_.items[b]]);
    }
  }

  void MakePieces() {
    std::vector<TimeStretch> stretches = FindStretches();
    std::vector<int64_t> starts;
    starts.reserve(stretches.size());
    for (const TimeStretch& stretch : stretches) starts.push_back(stretch.start);
    const Clock clock(std::move(starts));
    Core& core = reduced_.core;
    std::vector<std::vector<Piece>> pieces(core.items.size());
    core.durations.assign(core.items.size(), 0);
    for (const TimeStretch& stretch : stretches) {
      core.durations[stretch.item] += stretch.end - stretch.start;
      const Piece piece = {clock.SlotOf(stretch.start), clock.SlotOf(stretch.end), stretch.low,
                           stretch.high};
      if (piece.lower < piece.upper) pieces[stretch.item].push_back(piece);
    }
    core.slot_count = clock.count();
    for (const auto& [a, b] : problem_.apart) {
      const int32_t slot = core.slot_count;
      for (const uint32_t buffer : {a, b}) {
        if (reduced_.items[buffer] == kNone || problem_.buffers[buffer].size == 0) continue;
        pieces[reduced_.items[buffer]].push_back(
            {slot, slot + 1, 0, problem_.buffers[buffer].size});
      }
      ++core.slot_count;
    }
    core.piece_begins.push_back(0);
    std::vector<uint32_t> numbers(core.items.size(), kNone);
    uint32_t count = 0;
    for (uint32_t i = 0; i < core.items.size(); ++i) {
      if (pieces[i].empty()) continue;  // it never needs a byte
      Join(pieces[i]);
      numbers[i] = count;
      core.durations[count] = core.durations[i];
      Item& item = core.items[count++] = core.items[i];
      item.lower = pieces[i].front().lower;
      item.upper = pieces[i].back().upper;
      core.pieces.insert(core.pieces.end(), pieces[i].begin(), pieces[i].end());
      core.piece_begins.push_back(static_cast<uint32_t>(core.pieces.size()));
    }
    core.items.resize(count);
    core.durations.resize(count);
    for (uint32_t& item : reduced_.items) {
      if (item != kNone) item = numbers[item];
    }
    const bool is_whole =
        core.pieces.size() == count && std::ranges::all_of(core.pieces, [&](const Piece& piece) {
          const auto i = static_cast<size_t>(&piece - core.pieces.data());
          return piece.low == 0 && piece.high == core.items[i].size;
        });
    if (is_whole) {
      core.pieces.clear();
      core.piece_begins.clear();
    }
  }

  std::vector<TimeStretch> FindStretches() const {
    std::vector<TimeStretch> stretches;
    size_t next = 0;
    for (uint32_t b = 0; b < problem_.buffers.size(); ++b) {
      const Buffer& buffer = problem_.buffers[b];
      const uint32_t item = reduced_.items[b];
      int64_t from = buffer.start;
      const auto add = [&](int64_t start, int64_t end, int64_t low, int64_t high) {
        if (item != kNone && start < end && low < high)
          stretches.push_back({item, start, end, low, high});
      };
      for (; next < problem_.gaps.size() && problem_.gaps[next].buffer == b; ++next) {
        const Gap& gap = problem_.gaps[next];
        add(from, gap.start, 0, buffer.size);
        add(gap.start, gap.end, gap.low, gap.high);
        from = gap.end;
      }
      add(from, buffer.end, 0, buffer.size);
    }
    return stretches;
  }

  // Members of a group may be alive together: of each slot, all that one of them needs.
  static void Join(std::vector<Piece>& pieces) {
    if (pieces.size() < 2) return;
    std::vector<int32_t> edges;
    for (const Piece& piece : pieces) {
      edges.push_back(piece.lower);
      edges.push_back(piece.upper);
    }
    std::ranges::sort(edges);
    edges.erase(std::ranges::unique(edges).begin(), edges.end());
    std::ranges::sort(pieces, {}, &Piece::lower);
    std::vector<Piece> joined;
    std::vector<Piece> open;
    size_t next = 0;
    for (size_t e = 0; e + 1 < edges.size(); ++e) {
      std::erase_if(open, [&](const Piece& piece) { return piece.upper <= edges[e]; });
      for (; next < pieces.size() && pieces[next].lower <= edges[e]; ++next)
        open.push_back(pieces[next]);
      if (open.empty()) continue;
      Piece piece = {edges[e], edges[e + 1], open[0].low, open[0].high};
      for (const Piece& other : open) {
        piece.low = std::min(piece.low, other.low);
        piece.high = std::max(piece.high, other.high);
      }
      if (!joined.empty() && joined.back().upper == piece.lower && joined.back().low == piece.low &&
          joined.back().high == piece.high) {
        joined.back().upper = piece.upper;
      } else {
        joined.push_back(piece);
      }
    }
    pieces = std::move(joined);
  }

  // By time, then the longest and largest first: so that plans do not depend on the order in which
  // the buffers are given, and neighbours in time are neighbours in memory.
  void SortItems() {
    Core& core = reduced_.core;
    std::vector<uint32_t> order(core.items.size());
    {
      std::vector<uint32_t> next(static_cast<size_t>(core.slot_count) + 1, 0);
      for (const Item& item : core.items) ++next[static_cast<size_t>(item.lower) + 1];
      for (size_t s = 1; s < next.size(); ++s) next[s] += next[s - 1];
      for (uint32_t i = 0; i < core.items.size(); ++i)
        order[next[static_cast<size_t>(core.items[i].lower)]++] = i;
    }
    const auto key = [&](uint32_t i) {
      const Item& item = core.items[i];
      return std::tuple(-item.upper, -item.size, item.alignment);
    };
    for (size_t from = 0, to = 0; from < order.size(); from = to) {
      const int32_t lower = core.items[order[from]].lower;
      while (to < order.size() && core.items[order[to]].lower == lower) ++to;
      std::ranges::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(from),
                               order.begin() + static_cast<std::ptrdiff_t>(to), {}, key);
    }
    Core sorted;
    sorted.slot_count = core.slot_count;
    sorted.items.reserve(order.size());
    sorted.durations.reserve(order.size());
    if (!core.is_whole()) sorted.piece_begins.push_back(0);
    std::vector<uint32_t> numbers(order.size());
    for (const uint32_t i : order) {
      numbers[i] = static_cast<uint32_t>(sorted.items.size());
      sorted.items.push_back(core.items[i]);
      sorted.durations.push_back(core.durations[i]);
      if (core.is_whole()) continue;
      core.EachPiece(i, [&](const Piece& piece) { sorted.pieces.push_back(piece); });
      sorted.piece_begins.push_back(static_cast<uint32_t>(sorted.pieces.size()));
    }
    for (uint32_t& item : reduced_.items) {
      if (item != kNone) item = numbers[item];
    }
    core = std::move(sorted);
  }

  // By item; empty when there are none.
  [[nodiscard]] std::vector<int64_t> SpotsOf(const std::vector<Spot>& spots) const {
    std::vector<int64_t> offsets;
    if (spots.empty()) return offsets;
    offsets.assign(reduced_.core.items.size(), -1);
    for (const Spot& spot : spots) {
      if (reduced_.items[spot.buffer] != kNone) offsets[reduced_.items[spot.buffer]] = spot.offset;
    }
    return offsets;
  }

  void Scale() {
    Core& core = reduced_.core;
    if (core.items.empty()) return;
    const int64_t alignment = core.items[0].alignment;
    const bool is_uniform =
        std::ranges::all_of(core.items,
                            [&](const Item& item) { return item.alignment == alignment; }) &&
        std::ranges::none_of(core.pins,
                             [&](int64_t pin) { return pin > 0 && pin % alignment != 0; });
    for (Item& item : core.items) {
      item.room = is_uniform ? AlignUp(item.size, alignment) : item.size;
      core.rounding = std::max(core.rounding, item.room - item.size);
    }
    if (is_uniform && alignment > 1) {
      for (Piece& piece : core.pieces) {
        piece.low = piece.low / alignment * alignment;
        piece.high = AlignUp(piece.high, alignment);
      }
    }
    int64_t unit = 0;
    for (const Item& item : core.items)
      unit = std::gcd(unit, item.alignment > 1 ? std::gcd(item.size, item.alignment) : item.size);
    for (const Piece& piece : core.pieces) unit = std::gcd(unit, std::gcd(piece.low, piece.high));
    for (const int64_t pin : core.pins) unit = std::gcd(unit, std::max<int64_t>(pin, 0));
    if (unit <= 1) return;
    reduced_.unit = unit;
    core.rounding /= unit;
    for (Item& item : core.items) {
      item.size /= unit;
      item.room /= unit;
      item.alignment = std::max<int64_t>(item.alignment / unit, 1);
    }
    for (Piece& piece : core.pieces) {
      piece.low /= unit;
      piece.high /= unit;
    }
    for (int64_t& pin : core.pins) {
      if (pin > 0) pin /= unit;
    }
    for (int64_t& hint : core.hints) {
      if (hint > 0) hint /= unit;  // where it is no multiple, it was no more than a hint
    }
  }

  const Problem& problem_;
  Reduced reduced_;
};

}  // namespace

Reduced Reduce(const Problem& problem) { return Reducer(problem).Run(); }

Plan Expand(const Problem& problem, const Reduced& reduced, std::span<const int64_t> offsets) {
  Plan plan;
  plan.offsets.resize(problem.buffers.size(), 0);
  for (const Spot& pin : problem.pins) plan.offsets[pin.buffer] = pin.offset;
  for (const std::vector<uint32_t>& group : problem.groups) {
    int64_t offset = 0;
    for (const uint32_t b : group) offset = std::max(offset, plan.offsets[b]);
    for (const uint32_t b : group) plan.offsets[b] = offset;
  }
  for (size_t b = 0; b < problem.buffers.size(); ++b) {
    if (reduced.items[b] != kNone) plan.offsets[b] = offsets[reduced.items[b]] * reduced.unit;
    plan.height = std::max(plan.height, plan.offsets[b] + problem.buffers[b].size);
  }
  return plan;
}

std::vector<int64_t> LoadsOf(const Core& core) {
  std::vector<int64_t> loads(static_cast<size_t>(core.slot_count) + 1, 0);
  for (uint32_t i = 0; i < core.items.size(); ++i) {
    core.EachPiece(i, [&](const Piece& piece) {
      loads[static_cast<size_t>(piece.lower)] += piece.high - piece.low;
      loads[static_cast<size_t>(piece.upper)] -= piece.high - piece.low;
    });
  }
  for (size_t s = 1; s < loads.size(); ++s) loads[s] += loads[s - 1];
  loads.pop_back();
  return loads;
}

}  // namespace stowplan::pack
