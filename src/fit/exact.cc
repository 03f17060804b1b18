// SPDX-License-Identifier: Apache-2.0
// A state is the set of nodes that have run and the set of lives in memory. Running a node may cost
// something, dropping a life is free. The cheapest path below a limit of memory is found by
// Dijkstra's algorithm, and the limit is lowered until there is none.
#include "fit/exact.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stowplan::fit {
namespace {

constexpr size_t kMostSteps = 2'000'000;

struct Memory {
  uint32_t done = 0;  // by node
  uint32_t held = 0;  // by life
  [[nodiscard]] uint64_t key() const { return (uint64_t{done} << 32U) | held; }
};

class ExactSearch {
 public:
  ExactSearch(const Task& task, const std::function<bool()>& should_stop)
      : task_(task), should_stop_(should_stop) {
    for (uint32_t i = 0; i < task.problem.lives.size(); ++i) {
      const order::Life& life = task.problem.lives[i];
      if (life.begin == kNoNode) start_.held |= 1U << i;
      if (life.lasts) lasting_ |= 1U << i;
    }
    for (Node i = 0; i < task.size(); ++i) all_ |= 1U << i;
  }

  std::optional<Curve> Run() {
    Curve curve;
    int64_t limit = std::numeric_limits<int64_t>::max();
    while (true) {
      std::optional<Point> point = Cheapest(limit);
      if (is_stopped_) return std::nullopt;
      if (!point) break;
      limit = point->peak - 1;
      // The same cost with a lower peak.
      if (!curve.empty() && curve.back().cost >= point->cost) curve.pop_back();
      curve.push_back(*std::move(point));
    }
    return curve;
  }

 private:
  struct Mark {
    double cost = 0;
    uint64_t from = 0;
    Node node = kNoNode;  // that ran; none: a life was dropped
    bool is_final = false;
  };
  using Entry = std::pair<double, uint64_t>;

  [[nodiscard]] int64_t HeldBytes(uint32_t held) const {
    int64_t bytes = 0;
    for (uint32_t i = 0; i < task_.problem.lives.size(); ++i) {
      const order::Life& life = task_.problem.lives[i];
      if (((held >> i) & 1U) != 0 && !life.is_capped) bytes += life.size;
    }
    return bytes;
  }

  [[nodiscard]] bool CanRun(const Memory& memory, Node node) const {
    const bool is_done = ((memory.done >> node) & 1U) != 0;
    if (is_done && task_.can_repeat[node] == 0) return false;
    for (const uint32_t life : task_.reads[node]) {
      const Node overwriter = task_.overwriters[life];
      if (((memory.held >> life) & 1U) == 0) return false;
      if (overwriter != kNoNode && ((memory.done >> overwriter) & 1U) != 0) return false;
    }
    return is_done || std::ranges::all_of(task_.problem.before[node], [&](Node before) {
             return ((memory.done >> before) & 1U) != 0;
           });
  }

  std::optional<Point> Cheapest(int64_t limit) {
    marks_.clear();
    queue_ = {};
    Reach(start_, 0, start_.key(), kNoNode);
    while (!queue_.empty()) {
      const auto [cost, key] = queue_.top();
      queue_.pop();
      Mark& mark = marks_[key];
      if (mark.is_final) continue;
      mark.is_final = true;
      const Memory memory = {static_cast<uint32_t>(key >> 32U), static_cast<uint32_t>(key)};
      if (memory.done == all_) return PointAt(key, cost);
      if (++steps_ > kMostSteps || (should_stop_ && steps_ % 4096 == 0 && should_stop_())) {
        is_stopped_ = true;
        return std::nullopt;
      }
      for (Node i = 0; i < task_.size(); ++i) {
        if (CanRun(memory, i)) RunNode(memory, i, cost, limit);
      }
      for (uint32_t i = 0; i < task_.problem.lives.size(); ++i) {
        const uint32_t bit = 1U << i;
        if ((memory.held & bit) != 0 && (lasting_ & bit) == 0)
          Reach({memory.done, memory.held & ~bit}, cost, key, kNoNode);
      }
    }
    return std::nullopt;
  }

  // With each set of operands that end there, as results may be written over these.
  void RunNode(const Memory& memory, Node node, double cost, int64_t limit) {
    uint32_t made = 0;
    for (const uint32_t life : task_.makes[node]) made |= 1U << life;
    uint32_t endable = 0;
    for (const order::Overwrite& overwrite : task_.problem.overwrites_at(node)) {
      if ((lasting_ & (1U << overwrite.operand)) == 0) endable |= 1U << overwrite.operand;
    }
    const bool is_done = ((memory.done >> node) & 1U) != 0;
    const double next = cost + (is_done ? task_.costs[node] : 0);
    const int64_t load = HeldBytes(memory.held | made) + task_.problem.inner[node];
    for (uint32_t ends = endable;; ends = (ends - 1) & endable) {
      if (load - Saved(node, ends) <= limit)
        Reach({memory.done | (1U << node), (memory.held | made) & ~ends}, next, memory.key(), node);
      if (ends == 0) break;
    }
  }
  [[nodiscard]] int64_t Saved(Node node, uint32_t ends) const {
    int64_t saved = 0;
    uint32_t done = kNoVersion;
    for (const order::Overwrite& overwrite : task_.problem.overwrites_at(node)) {
      const uint32_t bit = 1U << overwrite.operand;
      const order::Life& operand = task_.problem.lives[overwrite.operand];
      if (overwrite.output == done || (ends & bit) == 0 || operand.is_capped) continue;
      done = overwrite.output;
      ends &= ~bit;
      saved += std::min(task_.problem.lives[overwrite.output].size, operand.size);
    }
    return saved;
  }

  void Reach(const Memory& memory, double cost, uint64_t from, Node node) {
    const auto [entry, is_new] = marks_.try_emplace(memory.key());
    Mark& mark = entry->second;
    if (!is_new && (mark.is_final || mark.cost <= cost)) return;
    mark = {.cost = cost, .from = from, .node = node, .is_final = false};
    queue_.emplace(cost, memory.key());
  }

  [[nodiscard]] Point PointAt(uint64_t key, double cost) {
    Point point = {.cost = cost, .peak = 0, .sequence = {}};
    while (key != start_.key()) {
      const Mark& mark = marks_[key];
      if (mark.node != kNoNode) point.sequence.push_back(mark.node);
      key = mark.from;
    }
    std::ranges::reverse(point.sequence);
    point.peak = FindPeak(task_, point.sequence);
    return point;
  }

  const Task& task_;
  const std::function<bool()>& should_stop_;
  Memory start_;
  uint32_t lasting_ = 0;
  uint32_t all_ = 0;
  std::unordered_map<uint64_t, Mark> marks_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  size_t steps_ = 0;
  bool is_stopped_ = false;
};

}  // namespace

std::optional<Curve> SolveExactly(const Task& task, const std::function<bool()>& should_stop) {
  if (task.size() > kMostExactNodes || task.problem.lives.size() > kMostExactLives)
    return std::nullopt;
  return ExactSearch(task, should_stop).Run();
}

}  // namespace stowplan::fit
