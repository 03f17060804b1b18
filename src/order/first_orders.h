// SPDX-License-Identifier: Apache-2.0
// Orders to start a search from, each made by a simple rule in near linear time, and how many steps
// (effort.h) each takes per unit of the problem's size.
#pragma once

#include <span>
#include <vector>

#include "order/problem.h"

namespace stowplan::order {

// Which of a node's operands is computed first.
enum class DepthFirstRule : uint8_t {
  kMostReleased,  // the one that needs the most beyond what it leaves behind (Sethi and Ullman)
  kMostNeeded,
  kGiven,
  kGivenBackwards,
};
inline constexpr DepthFirstRule kDepthFirstRules[] = {
    DepthFirstRule::kMostReleased, DepthFirstRule::kMostNeeded, DepthFirstRule::kGiven,
    DepthFirstRule::kGivenBackwards};
inline constexpr int64_t kDepthFirstSteps = 12;
Order DepthFirstOrder(const Problem& problem, DepthFirstRule rule);

// The given order, except that a node that takes more than it frees moves right before its first
// user.
inline constexpr int64_t kLateSteps = 6;
Order LateOrder(const Problem& problem, std::span<const Node> order);

// Which of the nodes that could be next is taken. Ties go to the order that is given.
enum class ListRule : uint8_t {
  kLeastGrowth,
  kFreeing,    // one that frees more than it takes, if there is one
  kShrinking,  // one that does not take more than it frees, if there is one
};
inline constexpr ListRule kListRules[] = {ListRule::kLeastGrowth, ListRule::kFreeing,
                                          ListRule::kShrinking};
inline constexpr int64_t kListSteps = 12;
Order ListOrder(const Problem& problem, std::span<const Node> order, ListRule rule);

// The given order, except that a node whose load would exceed `limit` waits for others if that
// helps.
inline constexpr int64_t kLimitedSteps = 12;
Order LimitedOrder(const Problem& problem, std::span<const Node> order, int64_t limit);

// By node: its place.
std::vector<uint32_t> PlacesIn(std::span<const Node> order);

}  // namespace stowplan::order
