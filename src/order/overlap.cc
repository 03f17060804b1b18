// SPDX-License-Identifier: Apache-2.0
#include "order/overlap.h"

#include <algorithm>

#include "base/checked_math.h"
#include "order/effects.h"

namespace stowplan::order {

using hlo::InstrId;
using hlo::Opcode;

std::vector<AsyncPair> FindAsyncPairs(const hlo::Module& module, const Graph& graph) {
  std::vector<AsyncPair> pairs;
  const auto opcode_of = [&](Node node) {
    return module.instructions[graph.instructions[node]].opcode;
  };
  for (Node i = 0; i < graph.instructions.size(); ++i) {
    if (!IsDone(opcode_of(i))) continue;
    // Through the updates of a chain.
    Node start = i;
    while (start != kNoNode && (start == i || opcode_of(start) == Opcode::kAsyncUpdate)) {
      const std::span<const InstrId> operands = module.operands_of(graph.instructions[start]);
      start = operands.empty() ? kNoNode : graph.SourceOf(operands[0]);
    }
    if (start != kNoNode && start < i && IsStart(opcode_of(start))) pairs.push_back({start, i});
  }
  return pairs;
}

void KeepOverlap(std::span<const AsyncPair> pairs, size_t nodes,
                 std::vector<std::pair<Node, Node>>& edges) {
  // Each pair needs an edge to and from each node between. Beyond this many, the order between the
  // two is kept as it is, which takes fewer.
  const size_t most = 16 * nodes + 4096;
  size_t count = 0;
  Node kept = 0;  // the order is kept up to here
  for (const auto& [start, done] : pairs) {
    count += done - start;
    if (count <= most) {
      for (Node i = start + 1; i < done; ++i) {
        edges.emplace_back(start, i);
        edges.emplace_back(i, done);
      }
      continue;
    }
    for (Node i = std::max(start, kept); i < done; ++i) edges.emplace_back(i, i + 1);
    kept = std::max(kept, done);
  }
}

std::vector<int64_t> OverlappedWork(const Problem& problem, std::span<const AsyncPair> pairs,
                                    std::span<const Node> order) {
  std::vector<uint32_t> places(order.size());
  std::vector<int64_t> before(order.size() + 1, 0);  // by place: the work of all before it
  for (uint32_t k = 0; k < order.size(); ++k) {
    places[order[k]] = k;
    int64_t work = problem.inner[order[k]];
    for (const uint32_t life : problem.touched[order[k]])
      work = SaturatingAdd(work, problem.lives[life].size);
    before[k + 1] = SaturatingAdd(before[k], work);
  }
  std::vector<int64_t> overlapped;
  overlapped.reserve(pairs.size());
  for (const AsyncPair& pair : pairs)
    overlapped.push_back(before[places[pair.done]] - before[places[pair.start] + 1]);
  return overlapped;
}

}  // namespace stowplan::order
