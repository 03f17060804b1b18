// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <vector>

#include "pack/solve/chance.h"
#include "pack/solve/orders.h"
#include "pack/solve/race.h"
#include "pack/solve/valley.h"

namespace stowplan::pack {
namespace {

struct Recipe {
  Order order;
  ValleyRule rule;
};
// No one is best for all: those that help where others do not come first.
constexpr ValleyRule kLow = {
    .tight = 0.003, .corner = Corner::kLower, .is_corner_first = true, .is_snug = true};
constexpr Recipe kRecipes[] = {
    {kByDurationRootSize, {}},
    {kByDuration, {.tight = 0.003, .corner = Corner::kHigher, .is_snug = true}},
    {kByMostlyDuration, {.tight = 0.03, .is_snug = true}},
    {kByDurationRootSize, {.tight = 0.03, .is_snug = true}},
    {kByRootDurationSize, kLow},
    {kByArea, kLow},
    {kByDuration, kLow},
    {kByRootDurationSize, {.tight = 0.03}},
    {kBySize, kLow},
    {kByDuration, {.tight = 0.03, .is_snug = true}},
    {kByDurationRootSize, {.tight = 0.003, .corner = Corner::kHigher, .is_corner_first = true}},
    {kByArea, {}},
    {kByDuration, {.tight = 1}},
};

// What one plan costs, in nodes of a search.
int64_t CostOf(const Core& core) { return static_cast<int64_t>(core.items.size()) / 4 + 1; }

// Items by time from the end on.
Core Mirror(const Core& core) {
  Core mirror;
  mirror.items = core.items;
  for (Item& item : mirror.items) {
    const int32_t lower = core.slot_count - item.upper;
    item.upper = core.slot_count - item.lower;
    item.lower = lower;
  }
  mirror.slot_count = core.slot_count;
  return mirror;
}

class Decoder {
 public:
  explicit Decoder(Race& race) : race_(race), core_(race.core()), valleys_(core_) {}

  // A plan by a recipe, with factors of its order; how high it is. From the last slot to the first,
  // ties fall another way.
  int64_t Decode(const Recipe& recipe, std::span<const float> factors, bool is_backward) {
    if (is_backward && !backward_) {
      mirror_ = Mirror(core_);
      backward_.emplace(mirror_);
    }
    Valleys& valleys = is_backward ? *backward_ : valleys_;
    offsets_ = valleys.Decode(ItemsBy(core_, recipe.order, factors), recipe.rule, race_.bound());
    race_.Take(offsets_);
    race_.Spend(CostOf(core_));
    return HeightOf(core_, offsets_);
  }

  // The wheel that squeaks gets the grease: what lies above the goal in the last plan is to come
  // earlier.
  void Grease(std::vector<float>& factors, float factor) const {
    factors.resize(core_.items.size(), 1);
    for (size_t i = 0; i < factors.size(); ++i) {
      if (offsets_[i] + core_.items[i].size > race_.goal())
        factors[i] = std::min(factors[i] * factor, 1e12F);
    }
  }

  // Ties and near ties decide more than one would think.
  [[nodiscard]] std::vector<float> Shake(std::vector<float> factors, double noise,
                                         uint64_t seed) const {
    factors.resize(core_.items.size(), 1);
    Chance chance(seed);
    for (float& factor : factors) factor *= static_cast<float>(1 + noise * chance.Fraction());
    return factors;
  }

 private:
  Race& race_;
  const Core& core_;
  Valleys valleys_;
  Core mirror_;
  std::optional<Valleys> backward_;
  std::vector<int64_t> offsets_;
};

}  // namespace

void TakeFirstPlan(Race& race) {
  if (race.core().pins.empty()) Decoder(race).Decode(kRecipes[0], {}, false);
}

// First every recipe once, for large problems once more with what that shows; then again and again,
// with grease and with chance, the recipe that gave the lowest plan every other time.
void SolveByValleys(Race& race) {
  if (!race.core().pins.empty()) return;
  static constexpr float kGrease[] = {1.05F, 1.3F, 2.0F};
  Decoder decoder(race);
  std::vector<Taste>& tastes = race.tastes();
  if (race.round() == 0) {
    // What is small can be searched next, which is better.
    const bool is_large = race.core().items.size() >= 4000;
    for (const Recipe& recipe : kRecipes) {
      const int passes = is_large && !tastes.empty() ? 2 : 1;
      Taste& taste = tastes.emplace_back();
      for (int pass = 0; pass < passes; ++pass) {
        taste.height = std::min(taste.height, decoder.Decode(recipe, taste.factors, pass == 1));
        if (race.IsOver()) return;
        decoder.Grease(taste.factors, kGrease[0]);
      }
    }
    return;
  }
  constexpr size_t kTurns = 12;
  for (size_t k = 0; k < kTurns && !race.IsOver(); ++k) {
    const size_t turn = static_cast<size_t>(race.round() - 1) * kTurns + k;
    const size_t best =
        static_cast<size_t>(std::ranges::min_element(tastes, {}, &Taste::height) - tastes.begin());
    const size_t at = turn % 2 == 0 ? best : turn / 2 % tastes.size();
    Taste& taste = tastes[at];
    if (turn % 4 < 2) {
      taste.height =
          std::min(taste.height, decoder.Decode(kRecipes[at], taste.factors, turn / 4 % 2 == 0));
      decoder.Grease(taste.factors, kGrease[turn / 4 % std::size(kGrease)]);
    } else {
      const double noise = turn % 8 < 4 ? 0.05 : 0.01;
      decoder.Decode(kRecipes[at], decoder.Shake({}, noise, race.limits().seed + turn),
                     turn / 4 % 2 == 0);
    }
  }
}

}  // namespace stowplan::pack
