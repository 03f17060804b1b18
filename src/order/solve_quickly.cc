// SPDX-License-Identifier: Apache-2.0
#include "order/solve_quickly.h"

#include <algorithm>

#include "order/cut.h"
#include "order/exact.h"
#include "order/first_orders.h"

namespace stowplan::order {
namespace {

// Cuts times the size of the problem.
constexpr int64_t kQuickEffort = 1'000'000;
constexpr int64_t kFewestCuts = 10;
constexpr int64_t kMostCutsAtOnce = 200;
constexpr size_t kFewStates = 1'000;

class QuickSolver {
 public:
  explicit QuickSolver(const Problem& problem)
      : problem_(problem),
        order_(GivenOrder(problem)),
        loads_(ComputeLoads(problem, order_)),
        given_(loads_),
        is_cut_(problem.size(), 0) {
    const auto size = static_cast<int64_t>(problem.size() + problem.lives.size());
    cuts_left_ =
        std::clamp(kQuickEffort / std::max<int64_t>(size, 1), kFewestCuts, kMostCutsAtOnce);
  }

  Answer Run() && {
    if (problem_.size() > 0) {
      // The orders come first: at a low load, few nodes need a cut.
      CutAtPeak();
      if (!IsOptimal()) TryOrders();
      if (!IsOptimal()) TryAllOrders();
      if (!IsOptimal()) FindBound();
    }
    return {.order = std::move(order_),
            .given_peak = given_.peak,
            .peak = loads_.peak,
            .bound = bound_,
            .witness = witness_};
  }

 private:
  [[nodiscard]] bool IsOptimal() const { return loads_.peak <= bound_; }

  void Take(Order order) {
    Loads loads = ComputeLoads(problem_, order);
    if (loads.capped_peak > given_.capped_peak || !loads.IsBetterThan(loads_)) return;
    order_ = std::move(order);
    loads_ = std::move(loads);
  }

  void TryOrders() {
    for (const DepthFirstRule rule : kDepthFirstRules) Take(DepthFirstOrder(problem_, rule));
    Take(LateOrder(problem_, GivenOrder(problem_)));
    Take(LateOrder(problem_, Order(order_)));
    for (const ListRule rule : kListRules) Take(ListOrder(problem_, Order(order_), rule));
  }

  void TryAllOrders() {
    const std::optional<Order> best = FindBestOrder(problem_, given_.capped_peak, kFewStates);
    if (!best) return;
    Take(*best);
    // What callees need may fall: then this proves nothing.
    if (problem_.least_inner != problem_.inner) return;
    bound_ = loads_.peak;
    witness_ = kNoNode;
  }

  void Cut(Node node) {
    if (is_cut_[node] != 0) return;
    is_cut_[node] = 1;
    --cuts_left_;
    const int64_t least = cutter_.FindLeastLoad(node);
    if (least <= bound_) return;
    bound_ = least;
    witness_ = node;
  }
  void CutAtPeak() { Cut(order_[loads_.peak_place]); }

  void FindBound() {
    for (const uint32_t k : PlacesByLoad(loads_)) {
      if (loads_.loads[k] <= bound_ || cuts_left_ <= 0) return;
      Cut(order_[k]);
    }
  }

  const Problem& problem_;
  Cutter cutter_{problem_};
  Order order_;
  Loads loads_;
  Loads given_;
  std::vector<uint8_t> is_cut_;  // by node
  int64_t cuts_left_ = 0;
  int64_t bound_ = 0;
  Node witness_ = kNoNode;
};

}  // namespace

Answer SolveQuickly(const Problem& problem) { return QuickSolver(problem).Run(); }

}  // namespace stowplan::order
