// SPDX-License-Identifier: Apache-2.0
// What a node's load is depends only on which nodes came before it. So the orders are the paths
// through the possible sets of nodes, and the best is the path whose largest load is least: of all
// sets that are reached, the one with the least peak so far goes on first.
#include "order/exact.h"

#include <algorithm>
#include <bit>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace stowplan::order {
namespace {

using Set = uint64_t;

Set Only(Node node) { return Set{1} << node; }

class Search {
 public:
  Search(const Problem& problem, int64_t capped_limit)
      : problem_(problem), capped_limit_(capped_limit) {
    for (uint32_t i = 0; i < problem.lives.size(); ++i) {
      Set touches = 0;
      for (const Node node : problem.touches[i]) touches |= Only(node);
      touches_.push_back(touches);
    }
    for (Node i = 0; i < problem.size(); ++i) {
      Set before = 0;
      for (const Node b : problem.before[i]) before |= Only(b);
      before_.push_back(before);
    }
  }

  std::optional<Order> Run(size_t most_states) {
    const Set all =
        problem_.size() == kMostExactNodes ? ~Set{0} : Only(static_cast<Node>(problem_.size())) - 1;
    reached_[0] = {.peak = std::numeric_limits<int64_t>::min()};
    open_.emplace(reached_[0].peak, 0, 0);
    while (!open_.empty()) {
      const auto [peak, missing, done] = open_.top();
      open_.pop();
      Reached& here = reached_[done];
      if (here.is_closed) continue;
      here.is_closed = true;
      if (done == all) return PathTo(all);
      if (reached_.size() > most_states) return std::nullopt;
      for (Node i = 0; i < problem_.size(); ++i) {
        if ((done & Only(i)) == 0 && (before_[i] & ~done) == 0) Reach(done, peak, i);
      }
    }
    return std::nullopt;
  }

 private:
  struct Reached {
    int64_t peak = 0;
    Node last = kNoNode;
    bool is_closed = false;
  };

  void Reach(Set done, int64_t peak, Node node) {
    const auto [load, capped] = LoadOf(done, node);
    if (capped > capped_limit_) return;
    const Set next = done | Only(node);
    const int64_t next_peak = std::max(peak, load);
    const auto [row, is_new] = reached_.try_emplace(next, Reached{next_peak, node});
    if (!is_new) {
      if (row->second.is_closed || row->second.peak <= next_peak) return;
      row->second = {next_peak, node};
    }
    open_.emplace(next_peak, static_cast<int>(problem_.size()) - std::popcount(next), next);
  }

  [[nodiscard]] std::pair<int64_t, int64_t> LoadOf(Set done, Node node) const {
    int64_t load = problem_.inner[node];
    int64_t capped = 0;
    for (uint32_t i = 0; i < problem_.lives.size(); ++i) {
      const Life& life = problem_.lives[i];
      const bool has_begun = life.begin == kNoNode || ((done | Only(node)) & Only(life.begin)) != 0;
      if (has_begun && (life.lasts || touches_[i] == 0 || (touches_[i] & ~done) != 0))
        (life.is_capped ? capped : load) += life.size;
    }
    uint32_t output = kNoNode;
    std::vector<uint32_t> taken;
    for (const Overwrite& overwrite : problem_.overwrites_at(node)) {
      const Life& operand = problem_.lives[overwrite.operand];
      if (overwrite.output == output || operand.lasts ||
          (touches_[overwrite.operand] & ~done) != Only(node) ||
          std::ranges::find(taken, overwrite.operand) != taken.end())
        continue;
      output = overwrite.output;
      taken.push_back(overwrite.operand);
      (operand.is_capped ? capped : load) -=
          std::min(operand.size, problem_.lives[overwrite.output].size);
    }
    return {load, capped};
  }

  [[nodiscard]] Order PathTo(Set all) const {
    Order order;
    for (Set set = all; set != 0;) {
      const Node last = reached_.at(set).last;
      order.push_back(last);
      set &= ~Only(last);
    }
    std::ranges::reverse(order);
    return order;
  }

  const Problem& problem_;
  const int64_t capped_limit_;
  std::vector<Set> touches_;  // by life
  std::vector<Set> before_;   // by node
  std::unordered_map<Set, Reached> reached_;
  // Peak so far, nodes that are missing, set: the least first.
  using Open = std::tuple<int64_t, int, Set>;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
};

}  // namespace

std::optional<Order> FindBestOrder(const Problem& problem, int64_t capped_limit,
                                   size_t most_states) {
  if (problem.size() > kMostExactNodes) return std::nullopt;
  return Search(problem, capped_limit).Run(most_states);
}

}  // namespace stowplan::order
