// SPDX-License-Identifier: Apache-2.0
// A program before it is compiled, on plain numbers: operations that read and make values.
//
// What a compiler makes of it is not known yet, but its habits are: cheap operations are computed
// inside their readers, so that their results never lie in memory. A *cluster* is an operation with
// all that is computed inside of it. Clusters are the nodes of a task.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fit/task.h"

namespace stowplan::fit {

struct Operation {
  double cost = 0;
  int64_t inner = 0;            // bytes it needs while it runs, besides its values
  bool can_repeat = true;       // it has no effect but its results
  bool is_absorbed = false;     // may be computed inside its reader, if that absorbs
  bool is_spread = false;       // may be computed inside each of several readers
  bool absorbs = false;         // may compute what it reads
  bool is_ordered = false;      // keeps its place among all such operations
  std::vector<uint32_t> reads;  // values, each once
  std::vector<uint32_t> makes;
};

struct Operations {
  std::vector<int64_t> sizes;         // by value; 0 for what is in memory anyway, such as arguments
  std::vector<uint8_t> is_result;     // by value
  std::vector<Operation> operations;  // in an order in which they can run
};
// An empty text, or what is wrong: values made twice, or read before they are made.
const char* FindMistake(const Operations& program);

// By cluster: its operations, ascending; the last is the one whose results lie in memory.
using Clusters = std::vector<std::vector<uint32_t>>;
Clusters Cluster(const Operations& program);
// Each operation by itself.
Clusters Singles(const Operations& program);

// The node i is cluster i. What a cluster makes may lie over an operand of the same size that it is
// the last to read if it computes element by element (`absorbs`).
Task TaskOf(const Operations& program, const Clusters& clusters);

// A sequence of clusters as one of operations. What several clusters compute inside occurs once,
// unless the cluster is a repetition or much later: then values of at least `least_bytes` occur
// again, so that the compiler does not keep them until then.
std::vector<uint32_t> Spell(const Operations& program, const Clusters& clusters,
                            std::span<const Node> sequence, int64_t least_bytes);

}  // namespace stowplan::fit
