// SPDX-License-Identifier: Apache-2.0
#include "order/flow.h"

#include <algorithm>

namespace stowplan::order {

void Network::Clear() {
  first_.assign(2, kNone);
  edges_.clear();
}

uint32_t Network::AddVertex() {
  first_.push_back(kNone);
  return static_cast<uint32_t>(first_.size() - 1);
}

void Network::AddEdge(uint32_t from, uint32_t to, int64_t capacity) {
  const auto index = static_cast<uint32_t>(edges_.size());
  edges_.push_back({to, first_[from], capacity});
  first_[from] = index;
  edges_.push_back({from, first_[to], 0});
  first_[to] = index + 1;
}

bool Network::FindLevels() {
  levels_.assign(first_.size(), kNone);
  levels_[kSource] = 0;
  queue_.assign(1, kSource);
  for (size_t i = 0; i < queue_.size(); ++i) {
    for (uint32_t e = first_[queue_[i]]; e != kNone; e = edges_[e].next) {
      ++steps_;
      if (edges_[e].capacity == 0 || levels_[edges_[e].to] != kNone) continue;
      levels_[edges_[e].to] = levels_[queue_[i]] + 1;
      queue_.push_back(edges_[e].to);
    }
  }
  return levels_[kSink] != kNone;
}

// Along one path of ascending levels; 0 when there is none left.
int64_t Network::Push() {
  path_.clear();
  uint32_t vertex = kSource;
  while (vertex != kSink) {
    uint32_t& e = current_[vertex];
    while (e != kNone &&
           (edges_[e].capacity == 0 || levels_[edges_[e].to] != levels_[vertex] + 1)) {
      ++steps_;
      e = edges_[e].next;
    }
    if (e != kNone) {
      path_.push_back(e);
      vertex = edges_[e].to;
      continue;
    }
    if (path_.empty()) return 0;
    vertex = edges_[path_.back() ^ 1].to;
    current_[vertex] = edges_[path_.back()].next;
    path_.pop_back();
  }
  int64_t pushed = kUnlimited;
  for (const uint32_t e : path_) pushed = std::min(pushed, edges_[e].capacity);
  for (const uint32_t e : path_) {
    if (edges_[e].capacity != kUnlimited) edges_[e].capacity -= pushed;
    if (edges_[e ^ 1].capacity != kUnlimited) edges_[e ^ 1].capacity += pushed;
  }
  return pushed;
}

int64_t Network::FindLeastCut(int64_t most_steps) {
  int64_t flow = 0;
  steps_ = 0;
  is_exact_ = false;
  while (FindLevels()) {
    current_ = first_;
    for (int64_t pushed = Push(); pushed != 0; pushed = Push()) {
      flow += pushed;
      if (steps_ > most_steps) return flow;
    }
    if (steps_ > most_steps) return flow;
  }
  is_exact_ = true;
  return flow;
}

std::vector<uint8_t> Network::SourceSide(bool is_large) const {
  // Small: what the source reaches. Large: what does not reach the sink.
  std::vector<uint8_t> is_reached(first_.size(), 0);
  std::vector<uint32_t> stack = {is_large ? kSink : kSource};
  is_reached[stack[0]] = 1;
  while (!stack.empty()) {
    const uint32_t vertex = stack.back();
    stack.pop_back();
    for (uint32_t e = first_[vertex]; e != kNone; e = edges_[e].next) {
      if (edges_[is_large ? e ^ 1 : e].capacity == 0 || is_reached[edges_[e].to] != 0) continue;
      is_reached[edges_[e].to] = 1;
      stack.push_back(edges_[e].to);
    }
  }
  if (is_large) {
    for (uint8_t& is_here : is_reached) is_here ^= 1;
  }
  return is_reached;
}

}  // namespace stowplan::order
