// SPDX-License-Identifier: Apache-2.0
#include "order/problem.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include "base/checked_math.h"
#include "base/stable_sort.h"

namespace stowplan::order {
namespace {

void SortUnique(std::vector<std::pair<Node, Node>>& pairs) {
  std::ranges::sort(pairs);
  const auto rest = std::ranges::unique(pairs);
  pairs.erase(rest.begin(), rest.end());
}

std::vector<std::pair<uint32_t, uint32_t>> Swapped(
    std::span<const std::pair<uint32_t, uint32_t>> pairs) {
  std::vector<std::pair<uint32_t, uint32_t>> swapped;
  swapped.reserve(pairs.size());
  for (const auto& [a, b] : pairs) swapped.emplace_back(b, a);
  return swapped;
}

// Who is in use, while an order runs.
class Run {
 public:
  explicit Run(const Problem& problem)
      : problem_(problem), left_(problem.lives.size()), taken_by_(problem.lives.size(), kNoNode) {
    for (size_t i = 0; i < problem.lives.size(); ++i) {
      left_[i] = static_cast<uint32_t>(problem.touches[i].size());
      if (problem.lives[i].begin == kNoNode) Bytes(problem.lives[i]) += problem.lives[i].size;
    }
  }

  // The loads of the two memories while `node` runs.
  std::pair<int64_t, int64_t> Step(Node node) {
    for (const uint32_t i : problem_.touched[node]) {
      const Life& life = problem_.lives[i];
      if (life.begin == node) Bytes(life) += life.size;
    }
    int64_t saved = 0;
    int64_t saved_capped = 0;
    uint32_t done = kNoNode;
    for (const Overwrite& overwrite : problem_.overwrites_at(node)) {
      if (overwrite.output == done || left_[overwrite.operand] != 1 ||
          taken_by_[overwrite.operand] == node)
        continue;
      const Life& operand = problem_.lives[overwrite.operand];
      if (operand.lasts) continue;
      done = overwrite.output;
      taken_by_[overwrite.operand] = node;
      (operand.is_capped ? saved_capped : saved) +=
          std::min(problem_.lives[overwrite.output].size, operand.size);
    }
    const std::pair load(bytes_ - saved + problem_.inner[node], capped_bytes_ - saved_capped);
    for (const uint32_t i : problem_.touched[node]) {
      const Life& life = problem_.lives[i];
      if (--left_[i] == 0 && !life.lasts) Bytes(life) -= life.size;
    }
    return load;
  }

 private:
  int64_t& Bytes(const Life& life) { return life.is_capped ? capped_bytes_ : bytes_; }

  const Problem& problem_;
  std::vector<uint32_t> left_;  // by life: touches to come
  std::vector<Node> taken_by_;  // by life: the node that wrote over it
  int64_t bytes_ = 0;
  int64_t capped_bytes_ = 0;
};

}  // namespace

Problem MakeProblem(ProblemParts parts) {
  Problem problem;
  const size_t nodes = parts.inner.size();
  problem.inner = std::move(parts.inner);
  problem.least_inner = parts.least_inner.empty() ? problem.inner : std::move(parts.least_inner);
  SortUnique(parts.edges);
  problem.after = Lists(nodes, parts.edges);
  problem.before = Lists(nodes, Swapped(parts.edges));
  problem.lives = std::move(parts.lives);
  std::vector<std::pair<uint32_t, uint32_t>> touches;
  for (uint32_t i = 0; i < parts.touches.size(); ++i) {
    for (const Node node : parts.touches[i]) touches.emplace_back(i, node);
    if (problem.lives[i].begin != kNoNode) touches.emplace_back(i, problem.lives[i].begin);
  }
  SortUnique(touches);
  problem.touches = Lists(problem.lives.size(), touches);
  problem.touched = Lists(nodes, Swapped(touches));
  std::erase_if(parts.overwrites, [&](const Overwrite& overwrite) {
    return problem.lives[overwrite.output].is_capped != problem.lives[overwrite.operand].is_capped;
  });
  StableSort(parts.overwrites, {}, [](const Overwrite& overwrite) {
    return std::tuple(overwrite.node, overwrite.output);
  });
  problem.overwrites = std::move(parts.overwrites);
  problem.overwrite_begins.assign(nodes + 1, 0);
  for (const Overwrite& overwrite : problem.overwrites)
    ++problem.overwrite_begins[overwrite.node + 1];
  std::partial_sum(problem.overwrite_begins.begin(), problem.overwrite_begins.end(),
                   problem.overwrite_begins.begin());
  return problem;
}

Order GivenOrder(const Problem& problem) {
  Order order(problem.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

bool IsPossible(const Problem& problem, std::span<const Node> order) {
  if (order.size() != problem.size()) return false;
  std::vector<uint8_t> is_done(problem.size(), 0);
  for (const Node node : order) {
    if (node >= problem.size() || is_done[node] != 0) return false;
    if (std::ranges::any_of(problem.before[node], [&](Node b) { return is_done[b] == 0; }))
      return false;
    is_done[node] = 1;
  }
  return true;
}

Loads ComputeLoads(const Problem& problem, std::span<const Node> order) {
  Loads found;
  found.loads.reserve(order.size());
  Run run(problem);
  for (uint32_t place = 0; place < order.size(); ++place) {
    const auto [load, capped] = run.Step(order[place]);
    found.loads.push_back(load);
    found.capped_peak = std::max(found.capped_peak, capped);
    if (place == 0 || load > found.peak) {
      found.peak = load;
      found.peak_place = place;
      found.peak_count = 0;
    }
    if (load == found.peak) ++found.peak_count;
  }
  return found;
}

std::vector<uint32_t> PlacesByLoad(const Loads& loads) {
  std::vector<uint32_t> places(loads.loads.size());
  std::iota(places.begin(), places.end(), 0);
  std::ranges::stable_sort(places, std::greater(), [&](uint32_t k) { return loads.loads[k]; });
  return places;
}

}  // namespace stowplan::order
