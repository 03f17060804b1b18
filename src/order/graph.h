// SPDX-License-Identifier: Apache-2.0
// The instructions of a computation as nodes that can be reordered, and the order that a plan must
// keep between them.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "order/problem.h"
#include "stowplan/hlo/module.h"

namespace stowplan::order {

struct Graph {
  hlo::CompId computation;
  // By node. Parameters, constants, bitcasts and get-tuple-elements do nothing at run time and are
  // not nodes: they are placed where they are read.
  std::vector<hlo::InstrId> instructions;
  std::vector<Node> nodes;  // by instruction of the module; kNoNode for all others
  // By instruction of the module: its node, or that of what it names; kNoNode for parameters and
  // constants.
  std::vector<Node> sources;
  std::vector<std::pair<Node, Node>> edges;

  [[nodiscard]] Node NodeOf(hlo::InstrId id) const { return nodes[id.index]; }
  [[nodiscard]] Node SourceOf(hlo::InstrId id) const { return sources[id.index]; }
};

// Requires a scheduled computation. `effects` are FindEffects'.
Graph MakeGraph(const hlo::Module& module, hlo::CompId computation,
                std::span<const uint8_t> effects);

// Whether the instruction is only a name for the result of another one.
bool IsTransparent(hlo::Opcode opcode);

// All instructions of the computation: the nodes in this order, everything else right before its
// first reader.
std::vector<hlo::InstrId> FullOrder(const hlo::Module& module, const Graph& graph,
                                    std::span<const Node> order);

}  // namespace stowplan::order
