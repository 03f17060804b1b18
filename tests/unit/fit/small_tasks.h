// SPDX-License-Identifier: Apache-2.0
// Small tasks drawn at random: graphs of any form, and such as training steps have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "fit/task.h"

namespace stowplan::fit {

class SmallTasks {
 public:
  explicit SmallTasks(uint32_t seed) : random_(seed) {}

  uint32_t Draw(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

  // Nodes that read some earlier ones. A rich task has inner needs, lives from before and to the
  // end, nodes that may not be repeated, writes in place, chains of these, and overwritten
  // arguments.
  Task AnyGraph(uint32_t nodes, bool is_rich) {
    Parts parts;
    for (Node i = 0; i < nodes; ++i) {
      std::vector<Node> reads;
      for (uint32_t k = i == 0 ? 0 : 1 + Draw(2); k > 0; --k)
        reads.push_back(Draw(2) == 0 ? i - 1 : Draw(i));
      const bool lasts = is_rich && Draw(6) == 0;
      Add(parts, std::move(reads), 1 + Draw(30), lasts, is_rich ? 3 : 0);
      if (!is_rich) continue;
      if (Draw(4) == 0) parts.problem.inner[i] = Draw(20);
      if (Draw(5) == 0) parts.can_repeat[i] = 0;
      // A second result.
      if (Draw(5) == 0) AddLife(parts, 1 + Draw(20), i, {}, kNoNode);
    }
    if (is_rich) {
      std::vector<Node> touches = {Draw(nodes), Draw(nodes)};
      AddLife(parts, 1 + Draw(30), kNoNode, touches, nodes - 1);
      for (const Node touch : touches) {
        if (touch + 1 < nodes) parts.problem.edges.emplace_back(touch, nodes - 1);
      }
    }
    if (is_rich) AddChains(parts, 3);
    return Make(std::move(parts));
  }

  // A chain with short cuts, and one back along it whose nodes read what lies beside them; some of
  // these make results.
  Task TrainingStep(uint32_t nodes) {
    Parts parts;
    const uint32_t forward = nodes / 2;
    for (Node i = 0; i < forward; ++i) {
      std::vector<Node> reads;
      if (i > 0) reads.push_back(i - 1);
      if (i > 1 && Draw(3) == 0) reads.push_back(i - 2);
      Add(parts, std::move(reads), 5 + Draw(30), false, 3);
    }
    Node gradient = forward - 1;
    for (Node i = forward; i < nodes; ++i) {
      const Node beside = forward - 1 - (i - forward) * forward / (nodes - forward);
      std::vector<Node> reads = {gradient, beside};
      if (beside > 0 && Draw(2) == 0) reads.push_back(beside - 1);
      const bool is_result = Draw(4) == 0;
      Add(parts, std::move(reads), is_result ? 1 + Draw(3) : 5 + Draw(20), is_result, 3);
      if (!is_result) gradient = i;
    }
    AddChains(parts, 6);
    return Make(std::move(parts));
  }

 private:
  struct Parts {
    order::ProblemParts problem;
    std::vector<double> costs;
    std::vector<uint8_t> can_repeat;
    std::vector<Node> overwriters;  // by life
    std::vector<uint32_t> results;  // by node: its first life
    std::vector<uint32_t> buffers;  // by life
  };
  // Some results are written over the last thing that is read of what their nodes read.
  void AddChains(Parts& parts, uint32_t share) {
    parts.buffers.resize(parts.problem.lives.size());
    std::iota(parts.buffers.begin(), parts.buffers.end(), 0);
    for (Node node = 0; node < parts.results.size(); ++node) {
      const uint32_t read = parts.results[node];
      const std::vector<Node>& touches = parts.problem.touches[read];
      if (touches.empty() || parts.problem.lives[read].lasts || Draw(share) != 0) continue;
      const Node overwriter = std::ranges::max(touches);
      const uint32_t result = parts.results[overwriter];
      if (parts.buffers[result] != result) continue;
      for (const Node touch : touches) {
        if (touch != overwriter) parts.problem.edges.emplace_back(touch, overwriter);
      }
      parts.overwriters[read] = overwriter;
      parts.buffers[result] = parts.buffers[read];
      parts.problem.lives[result].size = parts.problem.lives[read].size;
      std::erase_if(parts.problem.overwrites, [&](const order::Overwrite& overwrite) {
        return overwrite.output == result || overwrite.operand == read;
      });
      parts.problem.overwrites.push_back({overwriter, result, read});
    }
  }
  static void AddLife(Parts& parts, int64_t size, Node begin, std::vector<Node> touches,
                      Node overwriter) {
    parts.problem.lives.push_back({.size = size, .begin = begin});
    parts.problem.touches.push_back(std::move(touches));
    parts.overwriters.push_back(overwriter);
  }
  // `in_place`: one of so many of what it reads may be written over; 0: none.
  void Add(Parts& parts, std::vector<Node> reads, int64_t size, bool lasts, uint32_t in_place) {
    const auto node = static_cast<Node>(parts.costs.size());
    const auto result = static_cast<uint32_t>(parts.problem.lives.size());
    parts.problem.inner.push_back(0);
    parts.costs.push_back(1 + Draw(20));
    parts.can_repeat.push_back(1);
    parts.results.push_back(result);
    AddLife(parts, size, node, {}, kNoNode);
    parts.problem.lives.back().lasts = lasts;
    std::ranges::sort(reads);
    reads.erase(std::ranges::unique(reads).begin(), reads.end());
    for (const Node read : reads) {
      parts.problem.edges.emplace_back(read, node);
      parts.problem.touches[parts.results[read]].push_back(node);
      if (in_place != 0 && Draw(in_place) == 0)
        parts.problem.overwrites.push_back({node, result, parts.results[read]});
    }
  }
  static Task Make(Parts parts) {
    return MakeTask(order::MakeProblem(std::move(parts.problem)), std::move(parts.costs),
                    std::move(parts.can_repeat), std::move(parts.overwriters),
                    std::move(parts.buffers), true);
  }

  std::mt19937 random_;
};

}  // namespace stowplan::fit
