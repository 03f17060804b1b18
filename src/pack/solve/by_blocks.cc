// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "pack/solve/blocks.h"
#include "pack/solve/race.h"

namespace stowplan::pack {
namespace {

// Beyond this many items the first round has better things to do.
constexpr size_t kMaxItemsAtFirst = 200'000;

}  // namespace

// A race within the race.
struct BlockRace {
  Blocks blocks;
  Race race;

  BlockRace(Race& whole, uint64_t seed)
      : blocks(MakeBlocks(whole.core(), seed)), race(blocks.core, whole.bound(), LimitsOf(whole)) {}

  [[nodiscard]] Race::Limits LimitsOf(Race& whole) const {
    Race::Limits limits = whole.limits();
    limits.on_plan = [this, &whole](std::span<const int64_t> offsets, int64_t, int64_t) {
      whole.Take(OffsetsOfItems(blocks, whole.core().items.size(), offsets));
    };
    return limits;
  }
};

// Plans of blocks, by the same solvers. What is proved of blocks is not proved of their items: when
// it is certain that these blocks do not help, others may.
void SolveByBlocks(Race& race) {
  if (race.round() == 0 && race.core().items.size() > kMaxItemsAtFirst) return;
  std::shared_ptr<BlockRace>& inner = race.blocks();
  if (!inner || inner->race.bound() >= race.height() || inner->race.IsLost()) {
    if (race.core().items.empty() || !CanMakeBlocks(race.core())) return;
    const auto round = static_cast<uint64_t>(race.round());
    inner = std::make_shared<BlockRace>(race, round == 0 ? 0 : race.limits().seed + round);
  }
  if (inner->blocks.core.items.size() == race.core().items.size()) return;  // nothing fits
  for (const Solver solve : {SolveByValleys, SolveBySearch}) {
    inner->race.SetEffort(race.effort());
    inner->race.SetGoalAtLeast(race.goal());
    inner->race.SetHeightToBeat(race.height());
    if (inner->race.IsOver()) break;
    solve(inner->race);
    race.SetEffort(inner->race.effort());
    if (race.IsOver()) return;
  }
  inner->race.StartRound();
}

}  // namespace stowplan::pack
