// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "pack/chance.h"
#include "pack/orders.h"
#include "pack/race.h"
#include "pack/valley.h"

namespace stowplan::pack {
namespace {

struct Recipe {
  Order order;
  ValleyRule rule;
};
// No one is best for all: those that help where others do not come first.
constexpr Recipe kRecipes[] = {
    {Order::kDurationRootSize, {}},
    {Order::kDuration, {.tight = 0.003, .corner = Corner::kHigher}},
    {Order::kDurationRootSize, {.tight = 0.03}},
    {Order::kRootDurationSize, {.tight = 0.003, .corner = Corner::kLower, .is_corner_first = true}},
    {Order::kRootDurationSize, {.tight = 0.03}},
    {Order::kDuration, {.tight = 1}},
    {Order::kArea, {.tight = 1}},
    {Order::kDurationRootSize,
     {.tight = 0.003, .corner = Corner::kHigher, .is_corner_first = true}},
    {Order::kDuration, {.tight = 0.003, .corner = Corner::kLower, .is_corner_first = true}},
    {Order::kArea, {}},
    {Order::kDuration, {.tight = 0.001}},
    {Order::kSize, {}},
};

// What one plan costs, in nodes of a search.
int64_t CostOf(const Core& core) { return static_cast<int64_t>(core.items.size()) / 4 + 1; }

}  // namespace

// First every recipe once, then again with a little chance in their orders: ties and near ties
// decide more than one would think. The recipe that gave the lowest plan has every other turn.
void SolveByValleys(Race& race) {
  const Core& core = race.core();
  if (!core.pins.empty()) return;
  Valleys valleys(core);
  const auto decode = [&](const Recipe& recipe, double noise, uint64_t seed) {
    Chance chance(seed);
    const std::vector<int64_t> offsets =
        valleys.Decode(ItemsBy(core, recipe.order, noise, chance), recipe.rule, race.bound());
    race.Take(offsets);
    race.Spend(CostOf(core));
    return HeightOf(core, offsets);
  };
  std::vector<int64_t>& heights = race.recipe_heights();
  if (race.round() == 0) {
    for (const Recipe& recipe : kRecipes) {
      heights.push_back(decode(recipe, 0, 0));
      if (race.IsOver()) return;
    }
    return;
  }
  constexpr size_t kTurns = 8;
  for (size_t k = 0; k < kTurns && !race.IsOver(); ++k) {
    const size_t turn = static_cast<size_t>(race.round() - 1) * kTurns + k;
    const size_t best = static_cast<size_t>(std::ranges::min_element(heights) - heights.begin());
    const size_t recipe = turn % 2 == 0 ? best : turn / 2 % heights.size();
    const double noise = turn % 4 < 2 ? 0.05 : 0.01;
    heights[recipe] =
        std::min(heights[recipe], decode(kRecipes[recipe], noise, race.limits().seed + turn));
  }
}

}  // namespace stowplan::pack
