// SPDX-License-Identifier: Apache-2.0
// Each node has two vertices: one is on the source's side if the node has not run, and one if it
// runs later, for the first time or again. Who has not run runs later, and so do those who depend
// on it. Who has run and runs later costs its price. A life costs its size if somebody who runs
// later reads it, and who begins it does not run later.
#include "fit/load_bound.h"

#include <algorithm>
#include <cmath>

namespace stowplan::fit {
namespace {

constexpr uint32_t kSource = order::Network::kSource;
constexpr uint32_t kSink = order::Network::kSink;
constexpr int64_t kUnlimited = order::Network::kUnlimited;

}  // namespace

std::vector<uint8_t> SharedBuffers(const Task& task) {
  uint32_t most = 0;
  for (const uint32_t buffer : task.buffers) most = std::max(most, buffer);
  std::vector<uint8_t> counts(size_t{most} + 1, 0);
  for (const uint32_t buffer : task.buffers) {
    uint8_t& count = counts[buffer];
    count = static_cast<uint8_t>(std::min(count + 1, 2));
  }
  for (uint8_t& count : counts) count = static_cast<uint8_t>(count > 1);
  return counts;
}

int64_t OwnBytes(const Task& task, Node node, const std::vector<uint8_t>& is_shared) {
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
  bytes -= most;
  int64_t widest = 0;
  for (const uint32_t life : task.reads[node]) {
    if (!task.problem.lives[life].is_capped)
      widest = std::max(widest, task.problem.lives[life].size);
  }
  for (const uint32_t life : task.makes[node]) {
    const order::Life& made = task.problem.lives[life];
    if (!made.is_capped && is_shared[task.buffers[life]] != 0) bytes -= std::min(made.size, widest);
  }
  return std::max<int64_t>(bytes, 0);
}

LoadBounder::LoadBounder(const Task& task, std::span<const uint8_t> is_gone)
    : task_(task),
      is_gone_(is_gone),
      is_shared_(SharedBuffers(task)),
      sides_(task.size()),
      ran_(task.size()),
      runs_(task.size()) {
  uint32_t most = 0;
  for (const uint32_t buffer : task.buffers) most = std::max(most, buffer);
  rounds_.assign(size_t{most} + 1, 0);
}

void LoadBounder::Mark(Node node, const Lists& next, Side side) {
  stack_.assign(1, node);
  while (!stack_.empty()) {
    const Node from = stack_.back();
    stack_.pop_back();
    for (const Node to : next[from]) {
      if (sides_[to] == side || sides_[to] == Side::kGone) continue;
      sides_[to] = side;
      stack_.push_back(to);
    }
  }
}

void LoadBounder::FindSides(Node node) {
  std::ranges::fill(sides_, Side::kFree);
  for (Node i = 0; i < is_gone_.size(); ++i) {
    if (is_gone_[i] != 0) sides_[i] = Side::kGone;
  }
  Mark(node, task_.problem.before, Side::kBefore);
  Mark(node, task_.problem.after, Side::kAfter);
  sides_[node] = Side::kAfter;
}

void LoadBounder::AddNodes(double price) {
  const auto priced = [&](Node node) {
    if (task_.can_repeat[node] == 0) return kUnlimited;
    // Rounded down, so that it is a bound.
    return static_cast<int64_t>(std::min(task_.costs[node] * price, 1e17));
  };
  for (Node i = 0; i < task_.size(); ++i) {
    switch (sides_[i]) {
      case Side::kAfter:
        ran_[i] = runs_[i] = kSource;
        break;
      case Side::kBefore:
        ran_[i] = kSink;
        runs_[i] = task_.can_repeat[i] == 0 ? kSink : network_.AddVertex();
        if (runs_[i] != kSink) network_.AddEdge(runs_[i], kSink, priced(i));
        break;
      case Side::kGone:
        ran_[i] = runs_[i] = kSink;
        break;
      case Side::kFree:
        ran_[i] = network_.AddVertex();
        runs_[i] = task_.can_repeat[i] == 0 ? ran_[i] : network_.AddVertex();
        if (runs_[i] == ran_[i]) break;
        network_.AddEdge(ran_[i], runs_[i], kUnlimited);
        network_.AddEdge(runs_[i], ran_[i], priced(i));
        break;
    }
  }
  for (Node i = 0; i < task_.size(); ++i) {
    if (sides_[i] != Side::kFree) continue;
    for (const Node b : task_.problem.before[i]) {
      if (sides_[b] == Side::kFree) network_.AddEdge(ran_[b], ran_[i], kUnlimited);
    }
  }
}

// Whether its buffer was not yet counted in this round.
bool LoadBounder::Take(uint32_t life) {
  uint32_t& round = rounds_[task_.buffers[life]];
  const bool is_new = round != round_;
  round = round_;
  return is_new;
}

// In memory, whatever is chosen.
bool LoadBounder::IsFixed(uint32_t life) const {
  const order::Life& row = task_.problem.lives[life];
  if (row.begin != kNoNode && runs_[row.begin] != kSink) return false;
  return row.lasts || std::ranges::any_of(task_.problem.touches[life],
                                          [&](Node touch) { return runs_[touch] == kSource; });
}

void LoadBounder::AddLife(uint32_t life, int64_t bytes) {
  const order::Life& row = task_.problem.lives[life];
  const uint32_t to = row.begin == kNoNode ? kSink : runs_[row.begin];
  if (to == kSource) return;
  const std::span<const uint32_t> touches = task_.problem.touches[life];
  const bool is_needed = row.lasts || std::ranges::any_of(touches, [&](Node touch) {
                           return touch != row.begin && runs_[touch] == kSource;
                         });
  if (is_needed) {
    network_.AddEdge(kSource, to, bytes);
    return;
  }
  uint32_t needed = kSink;
  for (const Node touch : touches) {
    if (touch == row.begin || runs_[touch] == kSink) continue;
    if (needed == kSink) {
      needed = network_.AddVertex();
      network_.AddEdge(needed, to, bytes);
    }
    network_.AddEdge(runs_[touch], needed, kUnlimited);
  }
}

void LoadBounder::AddLives(Node node) {
  ++round_;
  for (const uint32_t life : task_.problem.touched[node]) Take(life);
  for (uint32_t life = 0; life < task_.problem.lives.size(); ++life) {
    const order::Life& row = task_.problem.lives[life];
    if (row.is_capped || row.size == 0 || !IsFixed(life) || !Take(life)) continue;
    fixed_ += row.size;
  }
  // Of lives of one buffer, no two are needed from the same bytes in any sequence, so all may be
  // there.
  for (uint32_t life = 0; life < task_.problem.lives.size(); ++life) {
    const order::Life& row = task_.problem.lives[life];
    if (!row.is_capped && row.size > 0 && rounds_[task_.buffers[life]] != round_)
      AddLife(life, row.size);
  }
}

int64_t LoadBounder::LeastLoadAt(Node node, double price, double most_cost) {
  network_.Clear();
  fixed_ = OwnBytesOf(node);
  FindSides(node);
  AddNodes(price);
  AddLives(node);
  const int64_t cut = network_.FindLeastCut();
  const double work = std::ceil(std::min(price * most_cost, 1e17));
  return fixed_ + cut - static_cast<int64_t>(work);
}

// Of what has run and runs again in the last cut.
double LoadBounder::CostOfCut() const {
  const std::vector<uint8_t> side = network_.SourceSide(false);
  double cost = 0;
  for (Node i = 0; i < task_.size(); ++i) {
    if (side[runs_[i]] != 0 && side[ran_[i]] == 0) cost += task_.costs[i];
  }
  return cost;
}

int64_t LoadBounder::LeastLoad(Node node, double most_cost, int most_prices) {
  int64_t best = LeastLoadAt(node, 0, 0);
  if (CostOfCut() <= most_cost) return best;
  // The bound rises with the price as long as the cut costs more than is allowed.
  constexpr double kRange = 1e4;
  const double even =
      static_cast<double>(std::max<int64_t>(best, 1)) / std::max(WholeCost(task_), 1e-300);
  double low = even / kRange;
  double high = even * kRange;
  for (int k = 0; k < most_prices; ++k) {
    const double price = std::sqrt(low * high);
    best = std::max(best, LeastLoadAt(node, price, most_cost));
    (CostOfCut() > most_cost ? low : high) = price;
  }
  return best;
}

}  // namespace stowplan::fit
