// SPDX-License-Identifier: Apache-2.0
// The result of a search for an order, with its proof: the problem, the order, and a flow or a
// search that proves the bound. `stowplan-certify` checks it, and shares no
// code with this library. docs/order.md has all lines.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assign/rules.h"
#include "live/analysis.h"
#include "order/graph.h"
#include "order/problem.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"

namespace stowplan::order {

inline constexpr std::string_view kOrderCertificateHead = "stowplan-order-certificate 1\n";

// What a section claims about an order of a computation.
struct Claim {
  std::span<const Node> order;  // empty: the one that is given
  struct Bound {
    int64_t bytes = 0;
    Node witness = kNoNode;  // none: all orders were tried
  };
  std::optional<Bound> bound;
  std::vector<std::pair<Node, size_t>> calls;  // a node, and the section of what it calls
};

// A section; `word` is what it begins with.
std::string WriteSection(std::string_view word, const hlo::Module& module, const Graph& graph,
                         const Problem& problem, const Claim& claim);

// By node: the computations that it calls, directly or indirectly, if they have a section.
// `sections`: by computation; nothing if it has none.
std::vector<std::pair<Node, size_t>> FindCalls(const hlo::Module& module, const Graph& graph,
                                               std::span<const std::optional<size_t>> sections);

// A section about the order that a module's entry has, by Objective::kAll. It claims nothing about
// other orders.
Result<std::string> WritePeakSection(std::string_view word, const hlo::Module& module,
                                     const Analysis& analysis, const Rules& rules);

}  // namespace stowplan::order
