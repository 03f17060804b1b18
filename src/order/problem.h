// SPDX-License-Identifier: Apache-2.0
// The order of least memory, on plain numbers: nodes that depend on each other, and lives, which
// are stretches of an order during which bytes are in use.
//
// The load of a node is what is in use while it runs: all lives that have begun and not ended, less
// what it writes over operands that end there, plus what it needs inside. The peak of an order is
// its largest load.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "order/lists.h"

namespace stowplan::order {

// Nodes are numbered in the order that was given, which is possible: a node depends on lower ones.
using Node = uint32_t;
inline constexpr Node kNoNode = 0xffffffffU;

struct Life {
  int64_t size = 0;
  Node begin = kNoNode;    // none: in use before the first node
  bool lasts = false;      // in use after the last node
  bool is_capped = false;  // lies in a small memory: its load may not rise, and does not count
};

// The node may write `output` over `operand` if it is the last to touch `operand`.
struct Overwrite {
  Node node = 0;
  uint32_t output = 0;
  uint32_t operand = 0;
};

struct Problem {
  std::vector<int64_t> inner;  // by node: bytes it needs while it runs, besides all lives
  // By node: the part of `inner` that no order of its callees can avoid. The bound counts these.
  std::vector<int64_t> least_inner;
  Lists before;  // by node: what it depends on
  Lists after;   // by node: what depends on it
  std::vector<Life> lives;
  Lists touches;                      // by life: the nodes that need it, with `begin`, ascending
  Lists touched;                      // by node: the lives it needs
  std::vector<Overwrite> overwrites;  // by node, then by output; the first that works is taken
  std::vector<uint32_t> overwrite_begins;  // by node, and one more

  [[nodiscard]] size_t size() const { return inner.size(); }
  [[nodiscard]] std::span<const Overwrite> overwrites_at(Node node) const {
    return std::span(overwrites)
        .subspan(overwrite_begins[node], overwrite_begins[node + 1] - overwrite_begins[node]);
  }
};

// What Problem is made of. Edges are (earlier, later).
struct ProblemParts {
  std::vector<int64_t> inner;
  std::vector<int64_t> least_inner;  // empty: the same
  std::vector<std::pair<Node, Node>> edges;
  std::vector<Life> lives;
  std::vector<std::vector<Node>> touches;  // by life
  std::vector<Overwrite> overwrites;
};
// Sorts, and drops duplicates and overwrites from one memory to the other. Requires that edges go
// from lower to higher nodes, and that a life's `begin` precedes the other nodes that touch it.
Problem MakeProblem(ProblemParts parts);

using Order = std::vector<Node>;

// 0, 1, 2, ...
Order GivenOrder(const Problem& problem);

// Whether each node occurs once, after everything it depends on.
bool IsPossible(const Problem& problem, std::span<const Node> order);

struct Loads {
  std::vector<int64_t> loads;  // by place in the order
  int64_t peak = 0;
  uint32_t peak_place = 0;  // the first with this load
  uint32_t peak_count = 0;  // how many places have it
  int64_t capped_peak = 0;  // of the lives in the small memory

  // With equal peaks, fewer places at the peak are a step towards a lower one.
  [[nodiscard]] bool IsBetterThan(const Loads& other) const {
    return peak != other.peak ? peak < other.peak : peak_count < other.peak_count;
  }
};
Loads ComputeLoads(const Problem& problem, std::span<const Node> order);
// All places of the order, those with the largest loads first.
std::vector<uint32_t> PlacesByLoad(const Loads& loads);

}  // namespace stowplan::order
