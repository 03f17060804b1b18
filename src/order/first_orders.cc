// SPDX-License-Identifier: Apache-2.0
#include "order/first_orders.h"

#include <algorithm>
#include <queue>
#include <set>
#include <tuple>

namespace stowplan::order {
namespace {

std::vector<int64_t> SizesBegun(const Problem& problem) {
  std::vector<int64_t> sizes(problem.size(), 0);
  for (const Life& life : problem.lives) {
    if (life.begin != kNoNode && !life.is_capped) sizes[life.begin] += life.size;
  }
  return sizes;
}

// By node: the memory that computing it takes if everything before it is computed for it alone.
std::vector<int64_t> Needs(const Problem& problem, std::span<const int64_t> sizes) {
  std::vector<int64_t> needs(problem.size(), 0);
  std::vector<Node> operands;
  for (Node i = 0; i < problem.size(); ++i) {
    operands.assign(problem.before[i].begin(), problem.before[i].end());
    std::ranges::stable_sort(operands, std::greater(), [&](Node b) { return needs[b] - sizes[b]; });
    int64_t held = 0;
    int64_t most = 0;
    for (const Node b : operands) {
      most = std::max(most, held + needs[b]);
      held += sizes[b];
    }
    needs[i] = std::max(most, held + sizes[i] + problem.inner[i]);
  }
  return needs;
}

// What lives do as an order grows node by node.
class Growth {
 public:
  explicit Growth(const Problem& problem) : problem_(problem), left_(problem.lives.size()) {
    for (size_t i = 0; i < problem.lives.size(); ++i) {
      const Life& life = problem.lives[i];
      left_[i] = static_cast<uint32_t>(problem.touches[i].size());
      if (life.begin == kNoNode && !life.is_capped) bytes_ += life.size;
    }
  }

  // What `node` takes, and what of it stays if it is next.
  [[nodiscard]] int64_t Taken(Node node) const {
    int64_t taken = problem_.inner[node];
    for (const uint32_t i : problem_.touched[node]) {
      if (Counts(i) && problem_.lives[i].begin == node) taken += problem_.lives[i].size;
    }
    for (const Overwrite& overwrite : problem_.overwrites_at(node)) {
      const Life& operand = problem_.lives[overwrite.operand];
      if (left_[overwrite.operand] == 1 && !operand.lasts && Counts(overwrite.operand)) {
        taken -= std::min(operand.size, problem_.lives[overwrite.output].size);
        break;
      }
    }
    return taken;
  }
  [[nodiscard]] int64_t Stays(Node node) const {
    int64_t stays = 0;
    for (const uint32_t i : problem_.touched[node]) {
      const Life& life = problem_.lives[i];
      if (!Counts(i)) continue;
      if (life.begin == node) stays += life.size;
      if (left_[i] == 1 && !life.lasts) stays -= life.size;
    }
    return stays;
  }
  [[nodiscard]] int64_t bytes() const { return bytes_; }

  // Calls `changed` for each other node that would now be the last to touch a life.
  template <class Changed>
  void Take(Node node, std::span<const uint8_t> is_done, Changed changed) {
    bytes_ += Stays(node);
    for (const uint32_t i : problem_.touched[node]) {
      if (--left_[i] != 1) continue;
      for (const Node touch : problem_.touches[i]) {
        if (touch != node && is_done[touch] == 0) changed(touch);
      }
    }
  }

 private:
  [[nodiscard]] bool Counts(uint32_t life) const { return !problem_.lives[life].is_capped; }

  const Problem& problem_;
  std::vector<uint32_t> left_;  // by life: touches to come
  int64_t bytes_ = 0;
};

std::vector<uint32_t> CountBefore(const Problem& problem) {
  std::vector<uint32_t> waiting(problem.size());
  for (Node i = 0; i < problem.size(); ++i)
    waiting[i] = static_cast<uint32_t>(problem.before[i].size());
  return waiting;
}

}  // namespace

std::vector<uint32_t> PlacesIn(std::span<const Node> order) {
  std::vector<uint32_t> places(order.size());
  for (uint32_t k = 0; k < order.size(); ++k) places[order[k]] = k;
  return places;
}

Order DepthFirstOrder(const Problem& problem, DepthFirstRule rule) {
  const std::vector<int64_t> sizes = SizesBegun(problem);
  const std::vector<int64_t> needs = Needs(problem, sizes);
  const auto key = [&](Node i) -> int64_t {
    switch (rule) {
      case DepthFirstRule::kMostReleased:
        return sizes[i] - needs[i];
      case DepthFirstRule::kMostNeeded:
        return -needs[i];
      case DepthFirstRule::kGiven:
        return i;
      case DepthFirstRule::kGivenBackwards:
        break;
    }
    return -static_cast<int64_t>(i);
  };
  std::vector<Node> last;
  for (Node i = 0; i < problem.size(); ++i) {
    if (problem.after[i].empty()) last.push_back(i);
  }
  std::ranges::stable_sort(last, {}, key);
  struct Frame {
    Node node;
    std::vector<Node> operands;  // the next is at the end
  };
  std::vector<Frame> frames;
  std::vector<uint8_t> is_seen(problem.size(), 0);
  Order order;
  order.reserve(problem.size());
  const auto enter = [&](Node node) {
    is_seen[node] = 1;
    std::vector<Node> operands(problem.before[node].begin(), problem.before[node].end());
    std::ranges::stable_sort(operands, std::greater(), key);
    frames.push_back({node, std::move(operands)});
  };
  for (const Node node : last) {
    enter(node);
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.operands.empty()) {
        order.push_back(frame.node);
        frames.pop_back();
        continue;
      }
      const Node operand = frame.operands.back();
      frame.operands.pop_back();
      if (is_seen[operand] == 0) enter(operand);
    }
  }
  return order;
}

Order LateOrder(const Problem& problem, std::span<const Node> order) {
  const std::vector<uint32_t> places = PlacesIn(order);
  std::vector<int64_t> growth(problem.size(), 0);
  for (uint32_t i = 0; i < problem.lives.size(); ++i) {
    const Life& life = problem.lives[i];
    if (life.is_capped) continue;
    if (life.begin != kNoNode) growth[life.begin] += life.size;
    if (life.lasts || problem.touches[i].empty()) continue;
    growth[*std::ranges::max_element(problem.touches[i], {}, [&](Node t) { return places[t]; })] -=
        life.size;
  }
  // Backwards, by the last place; a node that grows as soon as it can come.
  using Ready = std::tuple<bool, uint32_t, Node>;
  std::priority_queue<Ready> ready;
  std::vector<uint32_t> waiting(problem.size());
  const auto put = [&](Node i) { ready.emplace(growth[i] > 0, places[i], i); };
  for (Node i = 0; i < problem.size(); ++i) {
    waiting[i] = static_cast<uint32_t>(problem.after[i].size());
    if (waiting[i] == 0) put(i);
  }
  Order late;
  late.reserve(problem.size());
  while (!ready.empty()) {
    const Node node = std::get<2>(ready.top());
    ready.pop();
    late.push_back(node);
    for (const Node b : problem.before[node]) {
      if (--waiting[b] == 0) put(b);
    }
  }
  std::ranges::reverse(late);
  return late;
}

Order ListOrder(const Problem& problem, std::span<const Node> order, ListRule rule) {
  const std::vector<uint32_t> places = PlacesIn(order);
  Growth growth(problem);
  const auto key_of = [&](Node i) -> std::pair<int64_t, uint32_t> {
    const int64_t stays = growth.Stays(i);
    switch (rule) {
      case ListRule::kLeastGrowth:
        return {stays, places[i]};
      case ListRule::kFreeing:
        return {stays < 0 ? 0 : 1, places[i]};
      case ListRule::kShrinking:
        break;
    }
    return {stays <= 0 ? 0 : 1, places[i]};
  };
  std::set<std::tuple<std::pair<int64_t, uint32_t>, Node>> ready;
  std::vector<std::pair<int64_t, uint32_t>> keys(problem.size());
  std::vector<uint8_t> is_ready(problem.size(), 0);
  std::vector<uint8_t> is_done(problem.size(), 0);
  std::vector<uint32_t> waiting = CountBefore(problem);
  const auto put = [&](Node i) {
    is_ready[i] = 1;
    keys[i] = key_of(i);
    ready.emplace(keys[i], i);
  };
  for (Node i = 0; i < problem.size(); ++i) {
    if (waiting[i] == 0) put(i);
  }
  Order list;
  list.reserve(problem.size());
  while (!ready.empty()) {
    const Node node = std::get<1>(*ready.begin());
    ready.erase(ready.begin());
    is_ready[node] = 0;
    is_done[node] = 1;
    list.push_back(node);
    growth.Take(node, is_done, [&](Node changed) {
      if (is_ready[changed] == 0) return;
      ready.erase({keys[changed], changed});
      put(changed);
    });
    for (const Node a : problem.after[node]) {
      if (--waiting[a] == 0) put(a);
    }
  }
  return list;
}

Order LimitedOrder(const Problem& problem, std::span<const Node> order, int64_t limit) {
  // How many of those that could be next are looked at, and how often one that touches many lives.
  constexpr size_t kMostTries = 64;
  constexpr size_t kManyLives = 256;
  constexpr uint8_t kMostLooks = 64;
  const std::vector<uint32_t> places = PlacesIn(order);
  Growth growth(problem);
  std::set<std::pair<uint32_t, Node>> ready;
  std::vector<uint8_t> is_done(problem.size(), 0);
  std::vector<uint32_t> waiting = CountBefore(problem);
  for (Node i = 0; i < problem.size(); ++i) {
    if (waiting[i] == 0) ready.emplace(places[i], i);
  }
  std::vector<uint8_t> looks(problem.size(), 0);
  Order limited;
  limited.reserve(problem.size());
  while (!ready.empty()) {
    auto chosen = ready.begin();
    int64_t least = std::numeric_limits<int64_t>::max();
    size_t tries = 0;
    for (auto next = ready.begin(); next != ready.end() && tries < kMostTries; ++next, ++tries) {
      if (problem.touched[next->second].size() > kManyLives && looks[next->second]++ > kMostLooks) {
        --looks[next->second];
        continue;
      }
      const int64_t taken = growth.Taken(next->second);
      if (taken < least) {
        least = taken;
        chosen = next;
      }
      if (growth.bytes() + taken <= limit) {
        chosen = next;
        break;
      }
    }
    const Node node = chosen->second;
    ready.erase(chosen);
    is_done[node] = 1;
    limited.push_back(node);
    growth.Take(node, is_done, [](Node) {});
    for (const Node a : problem.after[node]) {
      if (--waiting[a] == 0) ready.emplace(places[a], a);
    }
  }
  return limited;
}

}  // namespace stowplan::order
