// SPDX-License-Identifier: Apache-2.0
// The least load that a node can have in any order: a minimum cut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "order/effort.h"
#include "order/flow.h"
#include "order/problem.h"

namespace stowplan::order {

// Which nodes may come before or after, besides those that must.
struct Window {
  std::span<const uint32_t> places;  // by node; empty: all nodes are free
  uint32_t first = 0;                // what is placed before it stays before
  uint32_t last = 0;                 // what is placed after it stays after
};

class Cutter {
 public:
  explicit Cutter(const Problem& problem)
      : problem_(problem), size_(SizeOf(problem)), sides_(problem.size()) {}

  // A lower bound for the load of `node` in all orders that the window allows: the least load
  // itself, or less if finding that would take more than about `most_steps`.
  int64_t FindLeastLoad(Node node, const Window& window = {},
                        int64_t most_steps = Network::kUnlimited);
  // Of the last FindLeastLoad: whether there is a cut, and how many steps it took.
  [[nodiscard]] bool has_cut() const { return network_.is_exact(); }
  [[nodiscard]] int64_t steps() const { return network_.steps() + size_; }

  // After FindLeastLoad, if there is a cut: by node, whether it comes before `node` when the load
  // is least, with as few or as many such nodes as possible.
  [[nodiscard]] std::vector<uint8_t> NodesBefore(bool are_many) const;

 private:
  enum class Side : uint8_t { kFree, kBefore, kAfter };

  void FindSides(Node node, const Window& window);
  void AddDependencies();
  int64_t AddLives(Node node);
  void AddCost(uint32_t life, int64_t bytes, Node except, int64_t& fixed);
  [[nodiscard]] uint32_t VertexOf(Node node) const { return vertices_[node]; }

  const Problem& problem_;
  const int64_t size_;
  std::vector<Side> sides_;
  std::vector<uint32_t> vertices_;  // by node, of those that are free
  std::vector<Node> stack_;
  std::vector<Node> free_;
  Network network_;
};

}  // namespace stowplan::order
