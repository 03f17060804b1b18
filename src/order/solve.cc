// SPDX-License-Identifier: Apache-2.0
#include "order/solve.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

#include "order/cut.h"
#include "order/exact.h"
#include "order/first_orders.h"

namespace stowplan::order {
namespace {

// How much is tried. Each try costs about the size of the problem, so that large problems get
// fewer.
constexpr int64_t kCutEffort = 60'000'000;
constexpr int64_t kMostCuts = 4'000;
constexpr int64_t kMoveEffort = 40'000'000;
constexpr int64_t kMostMoves = 20'000;
constexpr size_t kMostStates = 20'000;

class Solver {
 public:
  Solver(const Problem& problem, const SolveOptions& options)
      : problem_(problem),
        options_(options),
        cutter_(problem),
        order_(GivenOrder(problem)),
        loads_(ComputeLoads(problem, order_)),
        given_(loads_),
        size_(static_cast<int64_t>(problem.size()) + static_cast<int64_t>(problem.lives.size())) {}

  Answer Run() && {
    if (problem_.size() > 0) {
      FindBound();
      if (!IsDone()) TryFirstOrders();
      if (!IsDone()) FindBound();
      if (!IsDone()) TryAll();
      if (!IsDone()) TryCuts(order_, loads_);
      if (!IsDone()) TryCuts(GivenOrder(problem_), given_);
      if (!IsDone()) TryMoves();
      if (!IsDone()) TryCuts(order_, loads_);
      if (!IsDone()) FindBound();
    }
    return {.order = std::move(order_),
            .given_peak = given_.peak,
            .peak = loads_.peak,
            .bound = bound_,
            .witness = witness_};
  }

 private:
  [[nodiscard]] bool IsDone() const {
    return loads_.peak <= bound_ || (options_.should_stop && options_.should_stop());
  }
  [[nodiscard]] bool IsAllowed(const Loads& loads) const {
    return loads.capped_peak <= given_.capped_peak;
  }

  // Keeps the order if it is the best so far.
  Loads Try(Order order) {
    Loads loads = ComputeLoads(problem_, order);
    if (IsAllowed(loads) && loads.IsBetterThan(loads_)) {
      order_ = std::move(order);
      loads_ = loads;
    }
    return loads;
  }

  void TryFirstOrders() {
    for (const DepthFirstRule rule : kDepthFirstRules) Try(DepthFirstOrder(problem_, rule));
    Try(LateOrder(problem_, GivenOrder(problem_)));
    Try(LateOrder(problem_, Order(order_)));
    const Order base = order_;
    for (const ListRule rule : kListRules) Try(ListOrder(problem_, base, rule));
    Try(LimitedOrder(problem_, base, loads_.peak - loads_.peak / 50));
  }

  // The nodes of the largest loads first: no other can raise the bound above what they show.
  void FindBound() {
    std::vector<uint32_t> places(order_.size());
    std::iota(places.begin(), places.end(), 0);
    std::ranges::stable_sort(places, std::greater(), [&](uint32_t k) { return loads_.loads[k]; });
    for (const uint32_t k : places) {
      if (loads_.loads[k] <= bound_ || !MayCut()) return;
      const Node node = order_[k];
      if (is_bounded_.empty()) is_bounded_.assign(problem_.size(), 0);
      if (is_bounded_[node] != 0) continue;
      is_bounded_[node] = 1;
      if (const int64_t least = cutter_.FindLeastLoad(node); least > bound_) {
        bound_ = least;
        witness_ = node;
      }
    }
  }

  bool MayCut() {
    if (cuts_ >= kMostCuts || cuts_ * size_ > kCutEffort) return false;
    ++cuts_;
    return !(options_.should_stop && options_.should_stop());
  }

  // What the least cut at the peak has before it moves before it, again and again.
  void TryCuts(Order order, Loads loads) {
    cuts_ = 0;
    while (!IsDone()) {
      std::optional<std::pair<Order, Loads>> next = FindCutOrder(order, loads);
      if (!next) return;
      order = std::move(next->first);
      loads = std::move(next->second);
    }
  }

  std::optional<std::pair<Order, Loads>> FindCutOrder(const Order& order, const Loads& loads) {
    // A cut through the whole program may put many nodes into a bad order; one near the peak
    // leaves the others alone.
    static constexpr uint32_t kReaches[] = {0xffffffffU, 2000, 300, 60};
    std::vector<uint32_t> places(order.size());
    for (uint32_t k = 0; k < order.size(); ++k) places[order[k]] = k;
    const Node peak = order[loads.peak_place];
    for (const uint32_t reach : kReaches) {
      if (!MayCut()) return std::nullopt;
      const uint32_t at = loads.peak_place;
      const Window window = {.places = places,
                             .first = at - std::min(at, reach),
                             .last = reach > 0xffffffffU - at ? 0xffffffffU : at + reach};
      cutter_.FindLeastLoad(peak, window);
      for (const bool are_many : {false, true}) {
        const Order parted = Part(order, cutter_.NodesBefore(are_many), peak);
        for (Order next : {parted, LimitedOrder(problem_, parted, loads.peak - 1),
                           LateOrder(problem_, parted)}) {
          Loads next_loads = Try(next);
          if (IsAllowed(next_loads) && next_loads.IsBetterThan(loads))
            return std::pair(std::move(next), std::move(next_loads));
        }
      }
    }
    return std::nullopt;
  }

  static Order Part(std::span<const Node> order, std::span<const uint8_t> is_before, Node middle) {
    Order parted;
    parted.reserve(order.size());
    for (const Node node : order) {
      if (is_before[node] != 0) parted.push_back(node);
    }
    parted.push_back(middle);
    for (const Node node : order) {
      if (is_before[node] == 0 && node != middle) parted.push_back(node);
    }
    return parted;
  }

  // Single nodes move from one side of the peak to the other. Steps that change nothing are taken
  // too: they lead out of plateaus.
  void TryMoves() {
    std::mt19937_64 random(1);
    Order order = order_;
    Loads loads = loads_;
    const int64_t tries = std::min(kMostMoves, kMoveEffort / size_);
    for (int64_t t = 0; t < tries && !IsDone(); ++t) {
      const std::optional<Order> next = MoveOne(order, loads.peak_place, random);
      if (!next) continue;
      Loads next_loads = Try(*next);
      if (!IsAllowed(next_loads) || loads.IsBetterThan(next_loads)) continue;
      order = *next;
      loads = std::move(next_loads);
    }
  }

  [[nodiscard]] std::optional<Order> MoveOne(const Order& order, uint32_t peak,
                                             std::mt19937_64& random) const {
    const auto count = static_cast<uint32_t>(order.size());
    const auto draw = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
    // Anywhere, or near the peak.
    uint32_t from = draw(count);
    if (draw(2) == 0) {
      const uint32_t reach = 1 + draw(200);
      const uint32_t low = peak - std::min(peak, reach);
      from = low + draw(std::min(peak + reach, count - 1) - low + 1);
    }
    // As far as its neighbours in the graph allow.
    const Node node = order[from];
    uint32_t first = from;
    uint32_t last = from;
    const auto depends = [&](Node a, Node b) {
      return std::ranges::binary_search(problem_.before[a], b);
    };
    if (from <= peak) {
      while (last + 1 < count && !depends(order[last + 1], node)) ++last;
      if (last <= peak) return std::nullopt;
      const uint32_t to = draw(3) != 0 ? last : peak + 1 + draw(last - peak);
      Order next = order;
      std::rotate(next.begin() + from, next.begin() + from + 1, next.begin() + to + 1);
      return next;
    }
    while (first > 0 && !depends(node, order[first - 1])) --first;
    if (first > peak) return std::nullopt;
    const uint32_t to = draw(3) != 0 ? first : first + draw(peak - first + 1);
    Order next = order;
    std::rotate(next.begin() + to, next.begin() + from, next.begin() + from + 1);
    return next;
  }

  void TryAll() {
    const std::optional<Order> best = FindBestOrder(problem_, given_.capped_peak, kMostStates);
    if (!best) return;
    Try(*best);
    // What callees need may fall: then this proves nothing.
    if (problem_.least_inner != problem_.inner) return;
    // Proved by exhaustion: no single node is the witness.
    bound_ = loads_.peak;
    witness_ = kNoNode;
  }

  const Problem& problem_;
  const SolveOptions& options_;
  Cutter cutter_;
  Order order_;
  Loads loads_;
  const Loads given_;
  const int64_t size_;
  std::vector<uint8_t> is_bounded_;  // by node: its least load is known
  int64_t bound_ = 0;
  Node witness_ = kNoNode;
  int64_t cuts_ = 0;
};

}  // namespace

Answer Solve(const Problem& problem, const SolveOptions& options) {
  return Solver(problem, options).Run();
}

}  // namespace stowplan::order
