// SPDX-License-Identifier: Apache-2.0
// A flow proves what the cut says. The replay itself is tested by tests/cli/order_certificate_test.
#include "order/least_flow.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "order/cut.h"

namespace stowplan::order {
namespace {

Problem DrawProblem(std::mt19937& random, uint32_t nodes) {
  const auto draw = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  ProblemParts parts;
  for (Node i = 0; i < nodes; ++i) {
    parts.inner.push_back(draw(4) == 0 ? draw(20) : 0);
    parts.lives.push_back(
        {.size = draw(30), .begin = i, .lasts = draw(6) == 0, .is_capped = draw(8) == 0});
    parts.touches.emplace_back();
  }
  parts.lives.push_back({.size = 1 + draw(30)});
  parts.touches.push_back({draw(nodes), draw(nodes)});
  parts.lives.push_back({.size = 1 + draw(30), .lasts = true});
  parts.touches.push_back({draw(nodes)});
  for (Node i = 1; i < nodes; ++i) {
    for (uint32_t k = draw(3); k > 0; --k) {
      const Node from = draw(i);
      parts.edges.emplace_back(from, i);
      parts.touches[from].push_back(i);
      if (draw(2) == 0) parts.overwrites.push_back({i, i, from});
    }
  }
  return MakeProblem(std::move(parts));
}

TEST(LeastFlow, IsTheLeastCut) {
  std::mt19937 random(11);
  size_t with_backs = 0;
  size_t with_spared = 0;
  for (int t = 0; t < 300; ++t) {
    const Problem problem = DrawProblem(random, 1 + static_cast<uint32_t>(random() % 40));
    Cutter cutter(problem);
    for (Node node = 0; node < problem.size(); ++node) {
      const LeastFlow flow = FindLeastFlow(problem, node);
      ASSERT_EQ(flow.bound, cutter.FindLeastLoad(node));
      std::map<uint32_t, int64_t> used;
      for (const auto& [life, to, bytes] : flow.lives) used[life] += bytes;
      for (const auto& [life, bytes] : used) EXPECT_LE(bytes, problem.lives[life].size);
      with_backs += flow.backs.empty() ? 0U : 1U;
      with_spared += flow.spared.empty() ? 0U : 1U;
    }
  }
  EXPECT_GT(with_backs, 100U);
  EXPECT_GT(with_spared, 100U);
}

}  // namespace
}  // namespace stowplan::order
