// SPDX-License-Identifier: Apache-2.0
#include "fit/bound.h"

#include <algorithm>
#include <vector>

#include "fit/load_bound.h"

namespace stowplan::fit {
namespace {

// Nodes that need the most by themselves are looked at, as each takes a cut through everything.
constexpr size_t kMostNodes = 64;
constexpr size_t kFewestNodes = 1;
// How many nodes all cuts may have together.
constexpr size_t kBoundEffort = 1'000'000;

size_t CountOfCuts(const Task& task, size_t each) {
  return std::clamp(kBoundEffort / (each * (task.size() + 1)), kFewestNodes, kMostNodes);
}

}  // namespace

Bound FindBound(const Task& task, const std::function<bool()>& should_stop) {
  return FindBound(task, std::span<const uint8_t>(), should_stop);
}

Bound FindBound(const Task& task, std::span<const uint8_t> is_gone,
                const std::function<bool()>& should_stop) {
  std::vector<int64_t> own(task.size());
  LoadBounder bounder(task, is_gone);
  for (Node i = 0; i < task.size(); ++i) own[i] = bounder.OwnBytesOf(i);
  std::vector<Node> widest;
  for (Node i = 0; i < task.size(); ++i) {
    if (is_gone.empty() || is_gone[i] == 0) widest.push_back(i);
  }
  std::ranges::stable_sort(widest, std::greater(), [&](Node node) { return own[node]; });
  if (widest.size() > CountOfCuts(task, 1)) widest.resize(CountOfCuts(task, 1));
  Bound bound;
  for (const Node node : widest) {
    if (should_stop && should_stop()) break;
    const int64_t bytes = bounder.LeastLoad(node);
    if (bytes > bound.bytes) bound = {bytes, node, own[node]};
  }
  return bound;
}

Bound FindBoundAt(const Task& task, std::span<const Node> sequence, double most_cost,
                  const std::function<bool()>& should_stop) {
  constexpr int kPrices = 12;
  Trace trace;
  FindTrace(task, sequence, trace);
  std::vector<uint32_t> places;
  std::vector<uint8_t> is_done(task.size(), 0);
  for (uint32_t p = 0; p < sequence.size(); ++p) {
    if (is_done[sequence[p]] == 0) places.push_back(p);
    is_done[sequence[p]] = 1;
  }
  std::ranges::stable_sort(places, std::greater(), [&](uint32_t p) { return trace.loads[p]; });
  if (places.size() > CountOfCuts(task, kPrices)) places.resize(CountOfCuts(task, kPrices));
  LoadBounder bounder(task);
  Bound bound = FindBound(task, should_stop);
  for (const uint32_t p : places) {
    if (trace.loads[p] <= bound.bytes || (should_stop && should_stop())) break;
    const Node node = sequence[p];
    const int64_t bytes = bounder.LeastLoad(node, most_cost, kPrices);
    if (bytes > bound.bytes) bound = {bytes, node, bounder.OwnBytesOf(node)};
  }
  return bound;
}

}  // namespace stowplan::fit
