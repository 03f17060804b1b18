// SPDX-License-Identifier: Apache-2.0
#include "fit/bound.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace stowplan::fit {
namespace {

// Nodes that need the most by themselves are looked at, as each takes time for the whole graph.
constexpr size_t kMostNodes = 64;

// What the node reads and makes, less what it may write over what it reads. Lives of one buffer
// count once.
int64_t OwnBytes(const Task& task, Node node) {
  int64_t bytes = task.problem.least_inner[node];
  std::vector<uint32_t> buffers;
  for (const uint32_t life : task.problem.touched[node]) {
    if (task.problem.lives[life].is_capped ||
        std::ranges::find(buffers, task.buffers[life]) != buffers.end())
      continue;
    buffers.push_back(task.buffers[life]);
    bytes += task.problem.lives[life].size;
  }
  uint32_t output = kNoVersion;
  int64_t most = 0;
  for (const order::Overwrite& overwrite : task.problem.overwrites_at(node)) {
    if (task.buffers[overwrite.output] == task.buffers[overwrite.operand]) continue;
    if (overwrite.output != output) {
      bytes -= most;
      most = 0;
      output = overwrite.output;
    }
    const order::Life& operand = task.problem.lives[overwrite.operand];
    if (!operand.is_capped)
      most = std::max(most, std::min(task.problem.lives[output].size, operand.size));
  }
  return std::max<int64_t>(bytes - most, 0);
}

class Bounder {
 public:
  Bounder(const Task& task, std::span<const uint8_t> is_gone)
      : task_(task), is_gone_(is_gone), sides_(task.size(), 0) {
    uint32_t most = 0;
    for (const uint32_t buffer : task.buffers) most = std::max(most, buffer);
    rounds_.assign(size_t{most} + 1, 0);
  }

  [[nodiscard]] bool IsGone(Node node) const { return !is_gone_.empty() && is_gone_[node] != 0; }

  // Besides what it reads and makes.
  int64_t OthersAt(Node node) {
    std::ranges::fill(sides_, 0);
    Mark(node, task_.problem.before, kBefore);
    Mark(node, task_.problem.after, kAfter);
    int64_t bytes = 0;
    ++round_;
    for (const uint32_t life : task_.problem.touched[node]) Take(life);
    for (uint32_t i = 0; i < task_.problem.lives.size(); ++i) {
      const order::Life& life = task_.problem.lives[i];
      if (life.is_capped || life.size == 0) continue;
      const bool is_there = life.begin == kNoNode ||
                            (sides_[life.begin] == kBefore && task_.can_repeat[life.begin] == 0);
      if (!is_there) continue;
      const std::span<const uint32_t> touches = task_.problem.touches[i];
      const bool is_needed = life.lasts || std::ranges::any_of(touches, [&](Node touch) {
                               return sides_[touch] == kAfter;
                             });
      if (is_needed && Take(i)) bytes += life.size;
    }
    return bytes;
  }

 private:
  static constexpr uint8_t kBefore = 1;
  static constexpr uint8_t kAfter = 2;

  // Whether the life's buffer was not yet counted in this round.
  bool Take(uint32_t life) {
    uint32_t& round = rounds_[task_.buffers[life]];
    const bool is_new = round != round_;
    round = round_;
    return is_new;
  }

  void Mark(Node node, const Lists& next, uint8_t side) {
    stack_.assign(1, node);
    while (!stack_.empty()) {
      const Node from = stack_.back();
      stack_.pop_back();
      for (const Node to : next[from]) {
        if (sides_[to] == side || IsGone(to)) continue;
        sides_[to] = side;
        stack_.push_back(to);
      }
    }
  }

  const Task& task_;
  const std::span<const uint8_t> is_gone_;
  std::vector<uint8_t> sides_;
  std::vector<Node> stack_;
  std::vector<uint32_t> rounds_;  // by buffer: when it was counted last
  uint32_t round_ = 0;
};

}  // namespace

Bound FindBound(const Task& task, std::span<const uint8_t> is_gone) {
  std::vector<int64_t> own(task.size());
  for (Node i = 0; i < task.size(); ++i) own[i] = OwnBytes(task, i);
  std::vector<Node> widest(task.size());
  std::iota(widest.begin(), widest.end(), 0);
  std::ranges::stable_sort(widest, std::greater(), [&](Node node) { return own[node]; });
  if (widest.size() > kMostNodes) widest.resize(kMostNodes);
  Bounder bounder(task, is_gone);
  Bound bound;
  for (const Node node : widest) {
    if (bounder.IsGone(node)) continue;
    const int64_t bytes = own[node] + bounder.OthersAt(node);
    if (bytes > bound.bytes) bound = {bytes, node, own[node]};
  }
  return bound;
}

}  // namespace stowplan::fit
