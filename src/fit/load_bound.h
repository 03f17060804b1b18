// SPDX-License-Identifier: Apache-2.0
// The least load at the first run of a node, over all orders and repetitions of a given cost.
//
// At that time, some nodes have run. What is read later either stays in memory or is computed again
// from what stays. For a price of this work in bytes, the cheapest choice of all three (who has
// run, what stays, what is computed again) is a least cut; less the price of all work that is
// allowed, it is a bound.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fit/task.h"
#include "order/flow.h"

namespace stowplan::fit {

// What the node reads and makes, less what it may write over what it reads. Lives of one buffer
// count once.
//
// A result in a buffer of several lives, such as a donated argument, may be written over any
// operand: the packer can put that operand into the same place.
int64_t OwnBytes(const Task& task, Node node, const std::vector<uint8_t>& is_shared);

// By buffer: whether it has several lives.
std::vector<uint8_t> SharedBuffers(const Task& task);

class LoadBounder {
 public:
  // `is_gone`: by node, whether it may be left out of the program; empty: none may.
  explicit LoadBounder(const Task& task, std::span<const uint8_t> is_gone = {});

  [[nodiscard]] int64_t OwnBytesOf(Node node) const { return OwnBytes(task_, node, is_shared_); }

  // Without a limit of cost.
  int64_t LeastLoad(Node node) { return LeastLoadAt(node, 0, 0); }
  // For sequences whose extra cost is at most `most_cost`. The prices are chosen one after the
  // other; each takes a cut.
  int64_t LeastLoad(Node node, double most_cost, int most_prices);

 private:
  // `price`: bytes for a unit of cost.
  int64_t LeastLoadAt(Node node, double price, double most_cost);
  enum class Side : uint8_t { kFree, kBefore, kAfter, kGone };
  void FindSides(Node node);
  void Mark(Node node, const Lists& next, Side side);
  void AddNodes(double price);
  void AddLives(Node node);
  void AddLife(uint32_t life, int64_t bytes);
  [[nodiscard]] bool IsFixed(uint32_t life) const;
  bool Take(uint32_t life);
  [[nodiscard]] double CostOfCut() const;

  const Task& task_;
  const std::span<const uint8_t> is_gone_;
  const std::vector<uint8_t> is_shared_;
  std::vector<Side> sides_;
  std::vector<Node> stack_;
  std::vector<uint32_t> ran_;     // by node: a vertex on the sink's side if it has run
  std::vector<uint32_t> runs_;    // by node: one on the source's side if it runs later
  std::vector<uint32_t> rounds_;  // by buffer: when it was counted last
  uint32_t round_ = 0;
  int64_t fixed_ = 0;
  order::Network network_;
};

}  // namespace stowplan::fit
