// SPDX-License-Identifier: Apache-2.0
// A small exhaustive search. For two pieces that are needed at one moment, one lies above the
// other; each such choice is a constraint between two offsets. What follows is kept as the lowest
// and the highest offset that each item can have; when these contradict, the choices have no plan.
#include <algorithm>

#include "certify/certificate.h"

namespace stowplan::certify {
namespace {

// upper's offset is at least lower's plus `distance`.
struct Edge {
  size_t lower, upper;
  int64_t distance;
};

// Two ranges of bytes that must not touch: one of the edges holds.
struct Pair {
  Edge either, other;
};

struct Window {
  int64_t low, high;
};

// Pairs of more are too many.
constexpr size_t kMaxItems = 2000;

class Prover {
 public:
  Prover(const Certificate& c, const std::vector<size_t>& items, int64_t ceiling, int64_t nodes)
      : nodes_(nodes) {
    for (const size_t i : items) items_.push_back(&c.items[i]);
    is_uniform_ = std::ranges::all_of(
        items_, [&](const Item* item) { return item->alignment == items_[0]->alignment; });
    for (const Item* const item : items_) {
      const int64_t top = (ceiling - item->size) / item->alignment * item->alignment;
      windows_.push_back({std::max<int64_t>(item->pin, 0), item->pin >= 0 ? item->pin : top});
      is_fine_ = is_fine_ && item->size <= ceiling && windows_.back().low <= top;
    }
    ceiling_ = ceiling;
    lowers_.resize(items_.size());
    uppers_.resize(items_.size());
    if (items_.size() > kMaxItems) return;
    FindPairs(c, items);
    FindMoments();
  }

  Proof Run() {
    if (!is_fine_) return Proof::kProved;
    return items_.size() > kMaxItems ? Proof::kGaveUp : Search();
  }

 private:
  void FindPairs(const Certificate& c, const std::vector<size_t>& items) {
    for (size_t a = 0; a < items_.size(); ++a) {
      for (size_t b = a + 1; b < items_.size(); ++b) {
        for (const Piece& p : items_[a]->pieces)
          for (const Piece& q : items_[b]->pieces)
            if (p.start < q.end && q.start < p.end)
              pairs_.push_back({{b, a, q.high - p.low}, {a, b, p.high - q.low}});
      }
    }
    for (const auto& [first, second] : c.apart) {
      const Buffer& one = c.buffers[static_cast<size_t>(first)];
      const Buffer& two = c.buffers[static_cast<size_t>(second)];
      const auto a = std::ranges::find(items, one.item);
      const auto b = std::ranges::find(items, two.item);
      if (a == items.end() || b == items.end() || one.size == 0 || two.size == 0) continue;
      const auto i = static_cast<size_t>(a - items.begin());
      const auto j = static_cast<size_t>(b - items.begin());
      pairs_.push_back({{j, i, two.size}, {i, j, one.size}});
    }
  }

  // Beginnings are enough: between two of them things only end.
  void FindMoments() {
    std::vector<int64_t> times;
    for (const Item* const item : items_)
      for (const Piece& piece : item->pieces) times.push_back(piece.start);
    std::ranges::sort(times);
    times.erase(std::unique(times.begin(), times.end()), times.end());
    for (const int64_t time : times) {
      moments_.emplace_back();
      for (size_t i = 0; i < items_.size(); ++i)
        for (const Piece& piece : items_[i]->pieces)
          if (piece.start <= time && time < piece.end) moments_.back().push_back({i, &piece});
    }
  }

  [[nodiscard]] int64_t Up(size_t item, int64_t offset) const {
    const int64_t step = items_[item]->alignment;
    const int64_t rest = offset % step;
    return rest == 0 ? offset : offset + step - rest;
  }
  [[nodiscard]] int64_t Down(size_t item, int64_t offset) const {
    return offset < 0 ? -1 : offset - offset % items_[item]->alignment;
  }
  [[nodiscard]] bool IsPossible(const Edge& edge) const {
    return windows_[edge.lower].low + edge.distance <= windows_[edge.upper].high;
  }
  // Whether it holds wherever both lie.
  [[nodiscard]] bool IsCertain(const Edge& edge) const {
    return windows_[edge.lower].high + edge.distance <= windows_[edge.upper].low;
  }
  [[nodiscard]] bool HoldsLow(const Edge& edge) const {
    return windows_[edge.lower].low + edge.distance <= windows_[edge.upper].low;
  }

  // Adds the constraint and draws the conclusions. False when there is no plan left.
  bool Enforce(const Edge& edge) {
    edges_.push_back(edge);
    uppers_[edge.lower].push_back(edges_.size() - 1);
    lowers_[edge.upper].push_back(edges_.size() - 1);
    return Raise(edge) && Sink(edge);
  }
  void Forget(size_t count) {
    while (edges_.size() > count) {
      uppers_[edges_.back().lower].pop_back();
      lowers_[edges_.back().upper].pop_back();
      edges_.pop_back();
    }
  }

  bool Raise(const Edge& added) {
    std::vector<Edge> waiting = {added};
    while (!waiting.empty()) {
      const Edge edge = waiting.back();
      waiting.pop_back();
      Window& window = windows_[edge.upper];
      const int64_t low =
          Up(edge.upper, std::max<int64_t>(0, windows_[edge.lower].low + edge.distance));
      if (low <= window.low) continue;
      // It would push itself up for ever. Where alignments differ, rounding may be all there is.
      if (edge.upper == added.lower && is_uniform_) return false;
      if (low > window.high || --nodes_ < 0) return false;
      window.low = low;
      for (const size_t next : uppers_[edge.upper]) waiting.push_back(edges_[next]);
    }
    return true;
  }

  bool Sink(const Edge& added) {
    std::vector<Edge> waiting = {added};
    while (!waiting.empty()) {
      const Edge edge = waiting.back();
      waiting.pop_back();
      Window& window = windows_[edge.lower];
      const int64_t high = Down(edge.lower, windows_[edge.upper].high - edge.distance);
      if (high >= window.high) continue;
      if (edge.lower == added.upper && is_uniform_) return false;
      if (high < window.low || --nodes_ < 0) return false;
      window.high = high;
      for (const size_t next : lowers_[edge.lower]) waiting.push_back(edges_[next]);
    }
    return true;
  }

  // What is needed at one moment, stacked from the lowest on, must end below the ceiling.
  bool FitMoments() {
    for (std::vector<std::pair<size_t, const Piece*>>& moment : moments_) {
      const auto low = [&](const auto& entry) {
        return windows_[entry.first].low + entry.second->low;
      };
      std::ranges::sort(moment, {}, low);
      int64_t top = 0;
      for (const auto& entry : moment)
        top = std::max(top, low(entry)) + entry.second->high - entry.second->low;
      if (top > ceiling_) return false;
    }
    return true;
  }

  // Enforces what has no alternative, until nothing changes.
  bool Conclude() {
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      for (const auto& [either, other] : pairs_) {
        if (IsCertain(either) || IsCertain(other)) continue;
        const bool can_be = IsPossible(either);
        const bool can_other = IsPossible(other);
        if (!can_be && !can_other) return false;
        if (can_be && can_other) continue;
        const Edge& forced = can_be ? either : other;
        const Window lower = windows_[forced.lower];
        const Window upper = windows_[forced.upper];
        if (std::ranges::any_of(uppers_[forced.lower], [&](size_t e) {
              return edges_[e].upper == forced.upper && edges_[e].distance >= forced.distance;
            }))
          continue;
        if (!Enforce(forced)) return false;
        is_changed = is_changed || lower.high != windows_[forced.lower].high ||
                     upper.low != windows_[forced.upper].low;
      }
    }
    return FitMoments();
  }

  // The pair that overlaps when all lie as low as they can, and pushes furthest.
  [[nodiscard]] const Pair* Choose() const {
    const Pair* best = nullptr;
    int64_t most = -1;
    for (const Pair& pair : pairs_) {
      if (HoldsLow(pair.either) || HoldsLow(pair.other)) continue;
      const auto push = [&](const Edge& edge) {
        return windows_[edge.lower].low + edge.distance - windows_[edge.upper].low;
      };
      const int64_t least = std::min(push(pair.either), push(pair.other));
      if (least <= most) continue;
      most = least;
      best = &pair;
    }
    return best;
  }

  Proof Search() {
    if (--nodes_ < 0) return Proof::kGaveUp;
    const size_t count = edges_.size();
    const std::vector<Window> windows = windows_;
    const auto leave = [&](Proof proof) {
      windows_ = windows;
      Forget(count);
      return nodes_ < 0 && proof == Proof::kProved ? Proof::kGaveUp : proof;
    };
    if (!Conclude()) return leave(Proof::kProved);
    const Pair* const pair = Choose();
    if (pair == nullptr) return leave(Proof::kRefuted);
    const size_t concluded = edges_.size();
    const std::vector<Window> before = windows_;
    for (const Edge& edge : {pair->either, pair->other}) {
      Proof proof = Proof::kProved;
      if (Enforce(edge)) proof = Search();
      windows_ = before;
      Forget(concluded);
      if (proof != Proof::kProved) return leave(proof);
    }
    return leave(Proof::kProved);
  }

  std::vector<const Item*> items_;
  bool is_uniform_ = true;  // all alignments are equal
  bool is_fine_ = true;
  int64_t ceiling_ = 0;
  int64_t nodes_;
  std::vector<Window> windows_;  // by item, of its offset
  std::vector<Pair> pairs_;
  std::vector<Edge> edges_;                  // all that hold
  std::vector<std::vector<size_t>> uppers_;  // by item, the edges that push others up
  std::vector<std::vector<size_t>> lowers_;  // by item, the edges by which it is pushed
  std::vector<std::vector<std::pair<size_t, const Piece*>>> moments_;
};

}  // namespace

Proof ProveNone(const Certificate& certificate, const std::vector<size_t>& items, int64_t ceiling,
                int64_t nodes) {
  return Prover(certificate, items, ceiling, nodes).Run();
}

}  // namespace stowplan::certify
