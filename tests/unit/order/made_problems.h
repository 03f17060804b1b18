// SPDX-License-Identifier: Apache-2.0
// Problems of known shapes and any size, for tests and for bench/: what a search must get through
// in time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "order/problem.h"

namespace stowplan::order {

enum class Shape : uint8_t {
  kRandom,       // each node reads up to three others, near or far
  kEqualSizes,   // the same, all lives of one size: every step is a plateau
  kChain,        // each node reads the one before it
  kStar,         // all read the first node; the last reads all
  kBipartite,    // layers of 300 nodes, each of which reads the whole layer before it
  kForwardBack,  // each layer is read again on the way back, as in training
  kButterfly,    // each node reads two of the layer before, at a distance that doubles
  kForest,       // chains that have nothing to do with each other
};
inline constexpr Shape kShapes[] = {Shape::kRandom,    Shape::kEqualSizes, Shape::kChain,
                                    Shape::kStar,      Shape::kBipartite,  Shape::kForwardBack,
                                    Shape::kButterfly, Shape::kForest};
inline constexpr std::string_view kShapeNames[] = {
    "random",           "random, equal sizes", "chain",           "star", "layers, all read all",
    "forward and back", "butterflies",         "unrelated chains"};

// One life for each node, from it to its readers.
class ProblemBuilder {
 public:
  ProblemBuilder(Shape shape, uint32_t nodes) : shape_(shape), nodes_(nodes), random_(nodes) {
    parts_.inner.assign(nodes, 0);
    parts_.touches.resize(nodes);
    for (Node i = 0; i < nodes; ++i) parts_.lives.push_back({.size = Size(), .begin = i});
  }

  Problem Build() && {
    for (Node i = 1; i < nodes_; ++i) AddReads(i);
    return MakeProblem(std::move(parts_));
  }

 private:
  uint32_t Draw(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  int64_t Size() { return shape_ == Shape::kEqualSizes ? 64 : 64 * (1 + Draw(1000)); }
  void Read(Node from, Node reader) {
    if (from >= reader) return;
    parts_.edges.emplace_back(from, reader);
    parts_.touches[from].push_back(reader);
  }

  void AddReads(Node i) {
    constexpr Node kWidth = 300;
    switch (shape_) {
      case Shape::kRandom:
      case Shape::kEqualSizes:
        for (uint32_t k = 1 + Draw(3); k > 0; --k)
          Read(Draw(4) == 0 ? Draw(i) : i - 1 - Draw(std::min<Node>(i, 50)), i);
        return;
      case Shape::kChain:
        return Read(i - 1, i);
      case Shape::kStar:
        Read(0, i);
        if (i + 1 == nodes_) {
          for (Node k = 1; k < i; ++k) Read(k, i);
        }
        return;
      case Shape::kBipartite:
        if (i >= kWidth) {
          for (Node k = 0; k < kWidth; ++k) Read((i / kWidth - 1) * kWidth + k, i);
        }
        return;
      case Shape::kForwardBack:
        Read(i - 1, i);
        if (i > nodes_ / 2) Read(nodes_ - 1 - i, i);
        return;
      case Shape::kButterfly: {
        const Node layer = i / 256;
        if (layer == 0) return;
        Read((layer - 1) * 256 + i % 256, i);
        return Read((layer - 1) * 256 + ((i % 256) ^ (Node{1} << (layer % 8))), i);
      }
      case Shape::kForest:
        if (i >= 1000) Read(i - 1000, i);
        return;
    }
  }

  const Shape shape_;
  const uint32_t nodes_;
  std::mt19937 random_;
  ProblemParts parts_;
};

inline Problem MadeProblem(Shape shape, uint32_t nodes) {
  return ProblemBuilder(shape, nodes).Build();
}

}  // namespace stowplan::order
