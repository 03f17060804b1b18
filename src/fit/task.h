// SPDX-License-Identifier: Apache-2.0
// Recomputation on plain numbers: an order in which nodes may occur more than once.
//
// A sequence of nodes is a program: a node reads what the last occurrence before it of each of its
// sources has computed. A value that is computed again right before a late reader need not stay in
// memory until then. What this costs is the sum over all occurrences beyond the first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "order/lists.h"
#include "order/problem.h"

namespace stowplan::fit {

using order::kNoNode;
using order::Lists;
using order::Node;

struct Task {
  order::Problem problem;           // its nodes are in the order that is given
  std::vector<double> costs;        // by node
  std::vector<uint8_t> can_repeat;  // by node
  // By life: the node after which it can no longer be read, because its bytes are overwritten; only
  // what its own node computes again after that can.
  std::vector<Node> overwriters;
  std::vector<uint32_t> buffers;  // by life: those of the same number have the same bytes
  Lists reads;                    // by node: the lives it needs and does not begin
  Lists makes;                    // by node: the lives it begins

  [[nodiscard]] size_t size() const { return problem.size(); }
};
// Nodes that begin a life in a small memory, or need one, are not repeated, whatever the caller
// says, nor are those that begin lives that are overwritten, unless `is_overwritten_repeated`.
// `buffers` empty: each life has bytes of its own.
Task MakeTask(order::Problem problem, std::vector<double> costs, std::vector<uint8_t> can_repeat,
              std::vector<Node> overwriters, std::vector<uint32_t> buffers = {},
              bool is_overwritten_repeated = false);

// Whether what a life is read from is gone: its overwriter has run after the node that begins it.
// `times`: by node, a number that rises from each run to the next; `never`: it has not run.
inline bool IsLost(const Task& task, uint32_t life, std::span<const uint32_t> times,
                   uint32_t never) {
  const Node overwriter = task.overwriters[life];
  if (overwriter == kNoNode || times[overwriter] == never) return false;
  const Node begin = task.problem.lives[life].begin;
  return begin == kNoNode || times[begin] == never || times[begin] < times[overwriter];
}
// Whether there are lives that are overwritten and can be computed again.
bool HasChains(const Task& task);

using Sequence = std::vector<Node>;

// 0, 1, 2, ...
Sequence GivenSequence(const Task& task);

// Whether each node occurs, only those more than once that may, all after what they read, as long
// as that is not overwritten, and the first occurrences of nodes that depend on each other in their
// order.
bool IsPossible(const Task& task, std::span<const Node> sequence);

// The sum over all occurrences beyond the first.
double ExtraCost(const Task& task, std::span<const Node> sequence);
// The sum over all nodes.
double WholeCost(const Task& task);

// A life as one occurrence of the node that begins it has made it.
struct Version {
  uint32_t life = 0;
  uint32_t begin = 0;  // the place; `kAtStart` for what is there before the first node
  uint32_t last = 0;   // the last place at which it is needed
};
inline constexpr uint32_t kAtStart = 0xffffffffU;
inline constexpr uint32_t kNoVersion = 0xffffffffU;

// A sequence, and what is in memory while it runs.
struct Trace {
  std::vector<Version> versions;
  std::vector<uint32_t> made;   // by place: the first version it makes; one each of Task::makes
  std::vector<uint32_t> read;   // by place: the first of its rows in `reads`
  std::vector<uint32_t> reads;  // versions, in the order of Task::reads
  std::vector<int64_t> loads;   // by place
  int64_t peak = 0;
  uint32_t peak_place = 0;

  [[nodiscard]] std::span<const uint32_t> reads_at(const Task& task, Node node,
                                                   uint32_t place) const {
    return std::span(reads).subspan(read[place], task.reads[node].size());
  }
};
// Requires a possible sequence. Keeps the memory of `trace`.
void FindTrace(const Task& task, std::span<const Node> sequence, Trace& trace);

// The peak alone.
int64_t FindPeak(const Task& task, std::span<const Node> sequence);

}  // namespace stowplan::fit
