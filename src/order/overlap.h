// SPDX-License-Identifier: Apache-2.0
// Asynchronous operations: the work that an order puts between their start and their done hides the
// time they take.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "order/graph.h"
#include "order/problem.h"

namespace stowplan::order {

struct AsyncPair {
  Node start = 0;
  Node done = 0;
};

// By done.
std::vector<AsyncPair> FindAsyncPairs(const hlo::Module& module, const Graph& graph);

// Keeps the work between each start and its done where it is: adds the edges for that.
void KeepOverlap(std::span<const AsyncPair> pairs, size_t nodes,
                 std::vector<std::pair<Node, Node>>& edges);

// By pair: the work between the two. A node's work is the bytes that it touches.
std::vector<int64_t> OverlappedWork(const Problem& problem, std::span<const AsyncPair> pairs,
                                    std::span<const Node> order);

}  // namespace stowplan::order
