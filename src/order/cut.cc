// SPDX-License-Identifier: Apache-2.0
// The nodes that come before `node` are a set that contains what each of its members depends on. A
// life costs its size if it begins in the set and a node outside still needs it. Both are edges of
// a network, with the set as the source's side.
#include "order/cut.h"

#include <algorithm>

namespace stowplan::order {

void Cutter::FindSides(Node node, const Window& window) {
  std::ranges::fill(sides_, Side::kFree);
  if (!window.places.empty()) {
    for (Node i = 0; i < problem_.size(); ++i) {
      if (window.places[i] < window.first) sides_[i] = Side::kBefore;
      if (window.places[i] > window.last) sides_[i] = Side::kAfter;
    }
  }
  const auto mark = [&](const Lists& next, Side side) {
    stack_.assign(1, node);
    while (!stack_.empty()) {
      const Node from = stack_.back();
      stack_.pop_back();
      for (const Node to : next[from]) {
        if (sides_[to] == side) continue;
        sides_[to] = side;
        stack_.push_back(to);
      }
    }
  };
  mark(problem_.before, Side::kBefore);
  mark(problem_.after, Side::kAfter);
  sides_[node] = Side::kAfter;
}

void Cutter::AddDependencies() {
  vertices_.resize(problem_.size());
  free_.clear();
  for (Node i = 0; i < problem_.size(); ++i) {
    if (sides_[i] != Side::kFree) continue;
    vertices_[i] = network_.AddVertex();
    free_.push_back(i);
  }
  for (const Node i : free_) {
    for (const Node b : problem_.before[i]) {
      if (sides_[b] == Side::kFree) network_.AddEdge(VertexOf(i), VertexOf(b), Network::kUnlimited);
    }
  }
}

// Costs `bytes` if the life has begun and a node other than `except` needs it still; where that is
// certain, the bytes are `fixed`.
void Cutter::AddCost(uint32_t life, int64_t bytes, Node except, int64_t& fixed) {
  const Node begin = problem_.lives[life].begin;
  const bool has_begun = begin == kNoNode || sides_[begin] == Side::kBefore;
  if (!has_begun && sides_[begin] == Side::kAfter) return;
  bool is_needed = problem_.lives[life].lasts;
  uint32_t free_touches = 0;
  Node last_free = kNoNode;
  for (const Node touch : problem_.touches[life]) {
    if (touch == except || touch == begin || sides_[touch] == Side::kBefore) continue;
    if (sides_[touch] == Side::kAfter) is_needed = true;
    if (sides_[touch] == Side::kFree) {
      ++free_touches;
      last_free = touch;
    }
  }
  if (has_begun && is_needed) {
    fixed += bytes;
    return;
  }
  const uint32_t from = has_begun ? Network::kSource : VertexOf(begin);
  if (is_needed) {
    network_.AddEdge(from, Network::kSink, bytes);
  } else if (free_touches == 1) {
    network_.AddEdge(from, VertexOf(last_free), bytes);
  } else if (free_touches > 1) {
    const uint32_t all_done = network_.AddVertex();
    network_.AddEdge(from, all_done, bytes);
    for (const Node touch : problem_.touches[life]) {
      if (touch != except && touch != begin && sides_[touch] == Side::kFree)
        network_.AddEdge(all_done, VertexOf(touch), Network::kUnlimited);
    }
  }
}

int64_t Cutter::AddLives(Node node) {
  int64_t fixed = problem_.least_inner[node];
  for (uint32_t i = 0; i < problem_.lives.size(); ++i) {
    const Life& life = problem_.lives[i];
    if (life.is_capped || life.size == 0) continue;
    if (life.begin == node) {
      fixed += life.size;
    } else {
      AddCost(i, life.size, kNoNode, fixed);
    }
  }
  // An output costs nothing where it is written over an operand. If only one operand is possible,
  // the bytes are saved exactly if nothing else needs it; of several, the largest is taken to die.
  const std::span<const Overwrite> overwrites = problem_.overwrites_at(node);
  for (size_t k = 0; k < overwrites.size();) {
    const Life& output = problem_.lives[overwrites[k].output];
    int64_t most = 0;
    size_t end = k;
    for (; end < overwrites.size() && overwrites[end].output == overwrites[k].output; ++end) {
      const Life& operand = problem_.lives[overwrites[end].operand];
      if (!operand.is_capped) most = std::max(most, std::min(output.size, operand.size));
    }
    fixed -= most;
    if (end == k + 1 && most > 0) AddCost(overwrites[k].operand, most, node, fixed);
    k = end;
  }
  return fixed;
}

int64_t Cutter::FindLeastLoad(Node node, const Window& window, int64_t most_steps) {
  network_.Clear();
  FindSides(node, window);
  AddDependencies();
  const int64_t fixed = AddLives(node);
  return fixed + network_.FindLeastCut(most_steps);
}

std::vector<uint8_t> Cutter::NodesBefore(bool are_many) const {
  const std::vector<uint8_t> side = network_.SourceSide(are_many);
  std::vector<uint8_t> is_before(problem_.size(), 0);
  for (Node i = 0; i < problem_.size(); ++i) {
    is_before[i] = sides_[i] == Side::kFree ? side[VertexOf(i)]
                                            : static_cast<uint8_t>(sides_[i] == Side::kBefore);
  }
  return is_before;
}

}  // namespace stowplan::order
