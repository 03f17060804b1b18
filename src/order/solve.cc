// SPDX-License-Identifier: Apache-2.0
#include "order/solve.h"

#include <algorithm>
#include <optional>
#include <random>

#include "order/cut.h"
#include "order/effort.h"
#include "order/exact.h"
#include "order/first_orders.h"
#include "order/window.h"

namespace stowplan::order {
namespace {

constexpr int64_t kMostMoves = 20'000;
constexpr int64_t kMostStates = 20'000;
// Of all effort, what goes into the bound first; at the end it gets what is left.
constexpr int64_t kBoundPercent = 30;
// Stretches reach so far to each side of the peak.
constexpr uint32_t kReaches[] = {60, 300, 2000};
constexpr int64_t kPartSteps = 1'500;  // by unit of a stretch's size
// After a cut through everything failed, so many stretches come first, then twice as many, ...
constexpr int64_t kMostWaiting = 64;

class Solver {
 public:
  // A part of another problem has no parts itself.
  Solver(const Problem& problem, const SolveOptions& options, Effort& effort, bool is_part)
      : problem_(problem),
        options_(options),
        effort_(effort),
        is_part_(is_part),
        size_(SizeOf(problem)),
        bound_effort_(effort.left() / 100 * kBoundPercent),
        cutter_(problem),
        order_(GivenOrder(problem)),
        loads_(ComputeLoads(problem, order_)),
        given_(loads_) {
    effort_.Spend(bound_effort_.left());
  }

  void Run() {
    if (problem_.size() == 0) return;
    FindBound();
    if (!IsDone()) TryFirstOrders();
    if (!IsDone()) FindBound();
    if (!IsDone()) TryAll();
    if (!IsDone()) TryCuts(order_, loads_);
    if (!IsDone() && !is_part_) TryCuts(GivenOrder(problem_), given_);
    if (!IsDone()) TryMoves();
    if (!IsDone()) TryCuts(order_, loads_);
    if (!is_part_ && !IsDone()) {
      bound_effort_ = Effort(bound_effort_.left() + effort_.left());
      effort_.Spend(effort_.left());
      FindBound();
    }
    effort_ = Effort(effort_.left() + bound_effort_.left());
  }

  Answer TakeAnswer() && {
    return {.order = std::move(order_),
            .given_peak = given_.peak,
            .peak = loads_.peak,
            .bound = bound_,
            .witness = witness_,
            .steps = 0};
  }

 private:
  [[nodiscard]] bool IsStopped() const { return options_.should_stop && options_.should_stop(); }
  [[nodiscard]] bool IsDone() const { return loads_.peak <= bound_ || IsStopped(); }
  [[nodiscard]] bool IsAllowed(const Loads& loads) const {
    return loads.capped_peak <= given_.capped_peak;
  }

  // Keeps the order if it is the best so far.
  Loads Try(Order order) {
    effort_.Spend(2 * size_);
    Loads loads = ComputeLoads(problem_, order);
    if (IsAllowed(loads) && loads.IsBetterThan(loads_)) {
      order_ = std::move(order);
      loads_ = loads;
    }
    return loads;
  }

  void TryFirstOrders() {
    for (const DepthFirstRule rule : kDepthFirstRules) {
      if (effort_.Take(kDepthFirstSteps * size_)) Try(DepthFirstOrder(problem_, rule));
    }
    if (effort_.Take(kLateSteps * size_)) Try(LateOrder(problem_, GivenOrder(problem_)));
    if (effort_.Take(kLateSteps * size_)) Try(LateOrder(problem_, Order(order_)));
    const Order base = order_;
    for (const ListRule rule : kListRules) {
      if (effort_.Take(kListSteps * size_)) Try(ListOrder(problem_, base, rule));
    }
    if (effort_.Take(kLimitedSteps * size_))
      Try(LimitedOrder(problem_, base, loads_.peak - loads_.peak / 50));
  }

  // The nodes of the largest loads first: no other can raise the bound above what they show.
  void FindBound() {
    if (!options_.needs_bound) return;
    if (is_bounded_.empty()) is_bounded_.assign(problem_.size(), 0);
    for (const uint32_t k : PlacesByLoad(loads_)) {
      if (loads_.loads[k] <= bound_ || !bound_effort_.Has(size_) || IsStopped()) return;
      const Node node = order_[k];
      if (is_bounded_[node] != 0) continue;
      is_bounded_[node] = 1;
      const int64_t least = cutter_.FindLeastLoad(node, {}, bound_effort_.left());
      bound_effort_.Spend(cutter_.steps());
      if (least > bound_) {
        bound_ = least;
        witness_ = node;
      }
    }
  }

  // What the least cut at the peak has before it moves before it, again and again. A cut through
  // everything may put many nodes into a bad order, and costs as much as all of it; one through a
  // stretch around the peak leaves the others alone.
  void TryCuts(Order order, Loads loads) {
    StretchedOrder current(problem_, std::move(order), std::move(loads));
    int64_t waiting = 0;
    int64_t next_waiting = 1;
    while (!IsDone() && effort_.Has(size_)) {
      if (waiting == 0) {
        std::optional<std::pair<Order, Loads>> next =
            FindCutOrder(current.order(), current.loads());
        if (next) {
          current = StretchedOrder(problem_, std::move(next->first), std::move(next->second));
          next_waiting = 1;
          continue;
        }
      }
      const bool is_better = !is_part_ && TryStretches(current);
      if (!is_better && waiting == 0) return;
      if (waiting == 0) {
        waiting = next_waiting;
        next_waiting = std::min(2 * next_waiting, kMostWaiting);
      } else {
        waiting = is_better ? waiting - 1 : 0;
      }
    }
  }

  std::optional<std::pair<Order, Loads>> FindCutOrder(const Order& order, const Loads& loads) {
    const Node peak = order[loads.peak_place];
    cutter_.FindLeastLoad(peak, {}, effort_.left());
    effort_.Spend(cutter_.steps());
    if (!cutter_.has_cut()) return std::nullopt;
    for (const bool are_many : {false, true}) {
      const Order parted = Part(order, cutter_.NodesBefore(are_many), peak);
      for (const Rule rule : {Rule::kNone, Rule::kLimited, Rule::kLate}) {
        if (!effort_.Take(StepsOf(rule) * size_)) return std::nullopt;
        Order next = Arrange(parted, rule, loads.peak - 1);
        Loads next_loads = Try(next);
        if (IsAllowed(next_loads) && next_loads.IsBetterThan(loads))
          return std::pair(std::move(next), std::move(next_loads));
      }
    }
    return std::nullopt;
  }
  enum class Rule : uint8_t { kNone, kLimited, kLate };
  static int64_t StepsOf(Rule rule) {
    switch (rule) {
      case Rule::kNone:
        return 1;
      case Rule::kLimited:
        return kLimitedSteps;
      case Rule::kLate:
        return kLateSteps;
    }
    return 1;
  }
  [[nodiscard]] Order Arrange(const Order& order, Rule rule, int64_t limit) const {
    if (rule == Rule::kLimited) return LimitedOrder(problem_, order, limit);
    return rule == Rule::kLate ? LateOrder(problem_, order) : order;
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

  // Whether one of the stretches around the peak could be improved.
  bool TryStretches(StretchedOrder& current) {
    const auto count = static_cast<uint32_t>(problem_.size());
    for (const uint32_t reach : kReaches) {
      const uint32_t at = current.loads().peak_place;
      const uint32_t first = at - std::min(at, reach);
      const uint32_t last = at + 1 + std::min(count - at - 1, reach);
      if (first == 0 && last == count) return false;
      const Problem part = current.ProblemOf(first, last);
      const int64_t size = SizeOf(part);
      effort_.Spend(10 * size + count / 4);
      Effort effort(std::min(effort_.left() / 2, kPartSteps * size));
      effort_.Spend(effort.left());
      Solver solver(part, options_, effort, /*is_part=*/true);
      solver.Run();
      effort_ = Effort(effort_.left() + effort.left());
      if (!solver.loads_.IsBetterThan(solver.given_)) continue;
      current.Replace(first, solver.order_, solver.loads_.loads);
      if (current.loads().IsBetterThan(loads_)) {
        order_ = current.order();
        loads_ = current.loads();
      }
      return true;
    }
    return false;
  }

  // Single nodes move from one side of the peak to the other. Steps that change nothing are taken
  // too: they lead out of plateaus.
  void TryMoves() {
    std::mt19937_64 random(1);
    Order order = order_;
    Loads loads = loads_;
    for (int64_t t = 0; t < kMostMoves && !IsDone() && effort_.Take(2 * size_); ++t) {
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
    const int64_t states = std::min(kMostStates, effort_.left() / (20 * size_));
    const std::optional<Order> best =
        FindBestOrder(problem_, given_.capped_peak, static_cast<size_t>(states));
    if (problem_.size() <= kMostExactNodes) effort_.Spend(states * size_);
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
  Effort& effort_;
  const bool is_part_;
  const int64_t size_;
  Effort bound_effort_;
  Cutter cutter_;
  Order order_;
  Loads loads_;
  const Loads given_;
  std::vector<uint8_t> is_bounded_;  // by node: its least load is known
  int64_t bound_ = 0;
  Node witness_ = kNoNode;
};

}  // namespace

int64_t DefaultEffort(size_t nodes) {
  constexpr int64_t kLeast = 40'000'000;
  constexpr int64_t kByNode = 1'500;
  constexpr int64_t kMost = 400'000'000;
  return std::min(kLeast + kByNode * static_cast<int64_t>(nodes), kMost);
}

Answer Solve(const Problem& problem, const SolveOptions& options) {
  Effort effort(options.effort.value_or(DefaultEffort(problem.size())));
  const int64_t given = effort.left();
  Solver solver(problem, options, effort, /*is_part=*/false);
  solver.Run();
  Answer answer = std::move(solver).TakeAnswer();
  answer.steps = given - effort.left();
  return answer;
}

}  // namespace stowplan::order
