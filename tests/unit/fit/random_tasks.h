// SPDX-License-Identifier: Apache-2.0
// Tasks for tests, and the whole curve of a small one by a search that knows no tricks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <queue>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "fit/search.h"
#include "fit/task.h"

namespace stowplan::fit {

// Nodes that read some earlier ones. A rich task has lives from before and to the end, nodes that
// may not be repeated, writes in place and overwritten arguments.
inline Task RandomTask(std::mt19937& random, uint32_t nodes, bool is_rich) {
  const auto draw = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  order::ProblemParts parts;
  std::vector<double> costs;
  std::vector<uint8_t> can_repeat;
  std::vector<Node> overwriters;
  for (Node i = 0; i < nodes; ++i) {
    parts.inner.push_back(is_rich && draw(4) == 0 ? draw(20) : 0);
    parts.lives.push_back(
        {.size = 1 + draw(30), .begin = i, .lasts = is_rich && draw(6) == 0, .is_capped = false});
    parts.touches.emplace_back();
    costs.push_back(1 + draw(20));
    can_repeat.push_back(!is_rich || draw(5) != 0 ? 1 : 0);
    overwriters.push_back(kNoNode);
  }
  for (Node i = 1; i < nodes; ++i) {
    for (uint32_t k = 1 + draw(2); k > 0; --k) {
      const Node from = draw(2) == 0 ? i - 1 : draw(i);
      parts.edges.emplace_back(from, i);
      parts.touches[from].push_back(i);
      if (is_rich && draw(3) == 0) parts.overwrites.push_back({i, i, from});
    }
  }
  if (is_rich) {
    // An argument that the last node overwrites.
    parts.lives.push_back({.size = 1 + draw(30)});
    parts.touches.push_back({draw(nodes), draw(nodes)});
    overwriters.push_back(nodes - 1);
    for (const Node touch : parts.touches.back()) {
      if (touch + 1 < nodes) parts.edges.emplace_back(touch, nodes - 1);
    }
  }
  return MakeTask(order::MakeProblem(std::move(parts)), std::move(costs), std::move(can_repeat),
                  std::move(overwriters));
}

// A chain forward, with some skips, and one back that reads what the first one made in the opposite
// order; some nodes on the way back make results.
inline Task RandomStep(std::mt19937& random, uint32_t nodes) {
  const auto draw = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  order::ProblemParts parts;
  std::vector<double> costs;
  const auto add = [&](std::vector<Node> reads, int64_t size, bool lasts) {
    const auto node = static_cast<Node>(parts.inner.size());
    parts.inner.push_back(0);
    parts.lives.push_back({.size = size, .begin = node, .lasts = lasts});
    parts.touches.emplace_back();
    costs.push_back(1 + draw(20));
    std::ranges::sort(reads);
    reads.erase(std::ranges::unique(reads).begin(), reads.end());
    for (const Node read : reads) {
      parts.edges.emplace_back(read, node);
      parts.touches[read].push_back(node);
      if (draw(3) == 0) parts.overwrites.push_back({node, node, read});
    }
    return node;
  };
  const uint32_t forward = nodes / 2;
  for (uint32_t i = 0; i < forward; ++i) {
    std::vector<Node> reads;
    if (i > 0) reads.push_back(i - 1);
    if (i > 1 && draw(3) == 0) reads.push_back(i - 1 - draw(std::min(i - 1, 3U)));
    add(reads, 5 + draw(30), false);
  }
  Node gradient = forward - 1;
  for (uint32_t k = forward; k < nodes; ++k) {
    const uint32_t partner = forward - 1 - (k - forward) * forward / (nodes - forward);
    std::vector<Node> reads = {gradient, partner};
    if (partner > 0 && draw(2) == 0) reads.push_back(partner - 1);
    const bool is_result = draw(4) == 0;
    const Node node = add(reads, is_result ? 1 + draw(3) : 5 + draw(20), is_result);
    if (!is_result) gradient = node;
  }
  const size_t count = parts.inner.size();
  return MakeTask(order::MakeProblem(std::move(parts)), std::move(costs),
                  std::vector<uint8_t>(count, 1), std::vector<Node>(count, kNoNode));
}

// For tasks without writes in place: there, a peak is the largest sum of what is held at once.
// Below each limit, the cheapest way from state to state: (done, held), where a node runs or a life
// is dropped.
class Exhaustive {
 public:
  explicit Exhaustive(const Task& task) : task_(task) {}

  // (cost, peak), by rising cost.
  std::vector<std::pair<double, int64_t>> Find() {
    std::vector<std::pair<double, int64_t>> curve;
    int64_t limit = std::numeric_limits<int64_t>::max();
    while (const auto found = Cheapest(limit)) {
      if (!curve.empty() && curve.back().first >= found->first) curve.pop_back();
      curve.push_back(*found);
      limit = found->second - 1;
    }
    return curve;
  }

 private:
  using Memory = std::pair<uint32_t, uint32_t>;  // done, held
  // Cost, then the peak on the way, then the state.
  using Entry = std::tuple<double, int64_t, Memory>;

  [[nodiscard]] int64_t BytesOf(uint32_t held) const {
    int64_t bytes = 0;
    for (uint32_t i = 0; i < task_.problem.lives.size(); ++i)
      bytes += ((held >> i) & 1U) != 0 ? task_.problem.lives[i].size : 0;
    return bytes;
  }

  std::optional<std::pair<double, int64_t>> Cheapest(int64_t limit) {
    std::map<Memory, std::pair<double, int64_t>> best;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    const auto reach = [&](Memory memory, double cost, int64_t peak) {
      const auto [row, is_new] = best.try_emplace(memory, cost, peak);
      if (!is_new && row->second <= std::pair(cost, peak)) return;
      row->second = {cost, peak};
      queue.emplace(cost, peak, memory);
    };
    uint32_t lasting = 0;
    for (uint32_t i = 0; i < task_.problem.lives.size(); ++i)
      lasting |= task_.problem.lives[i].lasts ? 1U << i : 0U;
    reach({0, 0}, 0, 0);
    while (!queue.empty()) {
      const auto [cost, peak, memory] = queue.top();
      queue.pop();
      if (best[memory] != std::pair(cost, peak)) continue;
      const auto [done, held] = memory;
      if (done + 1 == 1U << task_.size()) return std::pair(cost, peak);
      for (Node i = 0; i < task_.size(); ++i) {
        uint32_t made = held;
        for (const uint32_t life : task_.makes[i]) made |= 1U << life;
        const bool can_run = std::ranges::all_of(
            task_.reads[i], [&](uint32_t life) { return ((held >> life) & 1U) != 0; });
        const bool is_done = ((done >> i) & 1U) != 0;
        if (!can_run || BytesOf(made) > limit || (is_done && task_.can_repeat[i] == 0)) continue;
        reach({done | (1U << i), made}, cost + (is_done ? task_.costs[i] : 0),
              std::max(peak, BytesOf(made)));
      }
      for (uint32_t i = 0; i < task_.problem.lives.size(); ++i) {
        if (((held >> i) & 1U) != 0 && ((lasting >> i) & 1U) == 0)
          reach({done, held & ~(1U << i)}, cost, peak);
      }
    }
    return std::nullopt;
  }

  const Task& task_;
};

}  // namespace stowplan::fit
