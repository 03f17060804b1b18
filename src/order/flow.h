// SPDX-License-Identifier: Apache-2.0
// The minimum cut between two vertices of a network (Dinic's algorithm).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace stowplan::order {

class Network {
 public:
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
  static constexpr uint32_t kSource = 0;
  static constexpr uint32_t kSink = 1;

  // Keeps its memory from one use to the next.
  void Clear();
  uint32_t AddVertex();
  // Requires that all limited capacities together fit in 64 bits.
  void AddEdge(uint32_t from, uint32_t to, int64_t capacity);

  // The cost of the minimum cut. Requires that no path of unlimited edges leads to the sink. Gives
  // up after about `most_steps` and returns less, which is still a lower bound.
  int64_t FindLeastCut(int64_t most_steps = kUnlimited);
  // Of the last FindLeastCut: whether it came to its end, and how many steps it took.
  [[nodiscard]] bool is_exact() const { return is_exact_; }
  [[nodiscard]] int64_t steps() const { return steps_; }
  // After an exact FindLeastCut: the source's side of the least cut, as small or as large as
  // possible.
  [[nodiscard]] std::vector<uint8_t> SourceSide(bool is_large) const;
  // After FindLeastCut: the flow along an edge, given the number of edges added before it. Together
  // these flows prove that no cut costs less.
  [[nodiscard]] int64_t FlowOn(size_t edge) const { return edges_[2 * edge + 1].capacity; }

 private:
  struct Edge {
    uint32_t to = 0;
    uint32_t next = 0;  // of the same vertex; its partner in the other direction is at `index ^ 1`
    int64_t capacity = 0;
  };
  static constexpr uint32_t kNone = 0xffffffffU;

  bool FindLevels();
  int64_t Push();

  std::vector<uint32_t> first_ = {kNone, kNone};  // by vertex
  std::vector<Edge> edges_;
  std::vector<uint32_t> levels_;
  std::vector<uint32_t> current_;  // by vertex: the edge to try next
  std::vector<uint32_t> queue_;
  std::vector<uint32_t> path_;
  int64_t steps_ = 0;
  bool is_exact_ = false;
};

}  // namespace stowplan::order
