// SPDX-License-Identifier: Apache-2.0
// What the solvers share: a core, the best plan so far, and how much may still be spent.
//
// A solver is a function `void SolveByX(Race& race)` in a file of its own. The race goes in rounds:
// in each, a solver looks for lower plans for a while, the longer the higher the round.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "pack/solve/core.h"
#include "pack/solve/graph.h"

namespace stowplan::pack {

// What the valley decoder has learned about one of its recipes.
struct Taste {
  std::vector<float> factors;                            // of the values by which it orders items
  int64_t height = std::numeric_limits<int64_t>::max();  // of the lowest plan by it
};

struct BlockRace;

class Race {
 public:
  struct Limits {
    int64_t goal = 0;    // a plan this high is good enough
    int64_t effort = 0;  // nodes of searches, all together
    int threads = 1;
    uint64_t seed = 1;
    std::function<bool()> should_stop;  // none: never
    std::function<void(std::span<const int64_t> offsets, int64_t height, int64_t bound)> on_plan;
  };
  // `bound`: no plan is lower.
  Race(const Core& core, int64_t bound, Limits limits);

  [[nodiscard]] const Core& core() const { return core_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }
  // None when too many items are alive together.
  [[nodiscard]] const Graph* graph();

  [[nodiscard]] bool has_plan() const { return height_ != kNoHeight; }
  [[nodiscard]] std::span<const int64_t> offsets() const { return offsets_; }
  [[nodiscard]] int64_t height() const { return height_; }
  // Plans as high as this are of no use.
  [[nodiscard]] int64_t height_to_beat() const { return std::min(height_, height_to_beat_); }
  void SetHeightToBeat(int64_t height) { height_to_beat_ = height; }
  [[nodiscard]] int64_t bound() const { return bound_; }
  // What need not be gone below.
  [[nodiscard]] int64_t goal() const { return std::max({bound_, limits_.goal, low_enough_}); }

  [[nodiscard]] int round() const { return round_; }
  void StartRound() { ++round_; }

  [[nodiscard]] bool IsWon() const { return height_ <= goal(); }
  // No plan meets the goal.
  [[nodiscard]] bool IsLost() const {
    return has_plan() && limits_.goal > 0 && bound_ > limits_.goal;
  }
  [[nodiscard]] bool IsOver() const {
    return IsWon() || IsLost() || effort_ <= 0 || (limits_.should_stop && limits_.should_stop());
  }
  [[nodiscard]] int64_t effort() const { return effort_; }
  void SetEffort(int64_t effort) { effort_ = effort; }
  // What is as low as others must be is low enough.
  void SetGoalAtLeast(int64_t goal) { low_enough_ = std::max(low_enough_, goal); }
  void Spend(int64_t effort) { effort_ -= effort; }
  // A plan, taken if it is lower than the best. True if it is.
  bool Take(std::span<const int64_t> offsets);
  // What solvers remember from round to round.
  [[nodiscard]] std::vector<Taste>& tastes() { return tastes_; }
  [[nodiscard]] size_t& next_config() { return next_config_; }
  [[nodiscard]] std::shared_ptr<BlockRace>& blocks() { return blocks_; }
  // No plan is lower than this, since these items need as much.
  void RaiseBound(int64_t bound, std::span<const uint32_t> witness) {
    if (bound <= bound_) return;
    bound_ = bound;
    witness_.assign(witness.begin(), witness.end());
  }
  // Of the bound that there is.
  void SetWitness(std::span<const uint32_t> witness) {
    witness_.assign(witness.begin(), witness.end());
  }
  [[nodiscard]] const std::vector<uint32_t>& witness() const { return witness_; }

 private:
  static constexpr int64_t kNoHeight = std::numeric_limits<int64_t>::max();
  const Core& core_;
  Limits limits_;
  int64_t bound_;
  int64_t low_enough_ = 0;
  std::vector<uint32_t> witness_;  // of a bound above the load
  int64_t effort_;
  std::vector<int64_t> offsets_;
  int64_t height_ = kNoHeight;
  int64_t height_to_beat_ = kNoHeight;
  std::optional<Graph> graph_;
  bool has_looked_for_graph_ = false;
  int round_ = 0;
  std::vector<Taste> tastes_;
  size_t next_config_ = 0;
  std::shared_ptr<BlockRace> blocks_;
};

using Solver = void (*)(Race& race);

// The end of the highest item.
int64_t HeightOf(const Core& core, std::span<const int64_t> offsets);

void TakeFirstPlan(Race& race);   // the quickest there is, so that there is one
void SolveByHints(Race& race);    // the plan that was given, or what is near it
void SolveByBlocks(Race& race);   // items that fit together taken for one
void SolveByValleys(Race& race);  // from above, into the lowest valley: near linear
void SolveByFit(Race& race);      // one item after the other into the first gap
void SolveByPairs(Race& race);    // exact where there are windows; for few items
void SolveByProof(Race& race);    // no plan, but a higher bound
void SolveBySearch(Race& race);   // exact search under ceilings

}  // namespace stowplan::pack
