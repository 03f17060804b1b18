// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "pack/race.h"
#include "pack/search.h"

namespace stowplan::pack {
namespace {

// Solve times are heavy-tailed: a configuration finds a plan soon or hardly ever. So all have a
// small try each, then a larger one with some chance in it, and so on.
constexpr size_t kConfigurations = 12;

SearchConfig Configure(size_t k, int round, uint64_t seed) {
  using enum SectionRule;
  using enum ChoiceRule;
  static constexpr std::pair<SectionRule, ChoiceRule> kRules[kConfigurations] = {
      {kLowest, kLargest},      {kLowestTight, kFlushArea},   {kLowest, kFlushLongest},
      {kLowestTight, kLargest}, {kLowest, kFlushArea},        {kLowestTight, kFlushLongest},
      {kFewest, kFlushLongest}, {kLowest, kLargestArea},      {kFewest, kLargest},
      {kFewest, kFlushArea},    {kLowestTight, kLargestArea}, {kFewest, kLargestArea},
  };
  return {.section = kRules[k].first,
          .choice = kRules[k].second,
          .noise = round == 0 ? 0 : 0.1 * (1 + round % 4),
          .seed = seed + 1000 * static_cast<uint64_t>(round) + k};
}

class Squeezer {
 public:
  explicit Squeezer(Race& race) : race_(race), search_(race.core(), *race.graph()) {}

  // Is there a plan as high as the goal?
  void Fit() {
    double budget = 1000;
    for (int round = 0; !race_.IsOver(); ++round, budget *= 1.5) {
      for (size_t k = 0; k < kConfigurations && !race_.IsOver(); ++k) {
        if (Try(race_.limits().goal, k, round, budget) == SearchResult::kProved) return;
      }
    }
  }

  // The bound itself first: it is the optimum more often than not, and a low ceiling prunes best.
  // Then heights between it and what there is.
  void Squeeze() {
    double budget = 500;
    size_t next = 0;
    for (int round = 0; !race_.IsOver(); ++round, budget *= 1.4) {
      for (size_t k = 0; k < 4 && !race_.IsOver(); ++k) Try(race_.bound(), next++, round, budget);
      int64_t low = race_.bound();
      while (!race_.IsOver() && low + 1 < race_.height()) {
        const int64_t middle = low + (race_.height() - low) / 2;
        SearchResult result = SearchResult::kGaveUp;
        for (size_t k = 0; k < 2 && result == SearchResult::kGaveUp && !race_.IsOver(); ++k)
          result = Try(middle, next++, round, budget);
        if (result != SearchResult::kFound) low = middle;
        // The last percent is left to the next round.
        if (race_.height() - low < race_.height() / 256) break;
      }
    }
  }

 private:
  // One try of one configuration; the race takes what it shows.
  SearchResult Try(int64_t height, size_t k, int round, double budget) {
    int64_t left = std::min(static_cast<int64_t>(budget), race_.effort());
    const int64_t given = left;
    const SearchResult result =
        search_.Run(height, Configure(k % kConfigurations, round, race_.limits().seed), left,
                    race_.limits().should_stop);
    race_.Spend(std::max<int64_t>(given - left, 1));
    if (result == SearchResult::kFound) race_.Take(search_.offsets());
    if (result == SearchResult::kProved) race_.RaiseBound(height + 1);
    return result;
  }

  Race& race_;
  Search search_;
};

}  // namespace

void SolveBySearch(Race& race) {
  if (race.graph() == nullptr) return;
  Squeezer squeezer(race);
  if (race.limits().goal > 0) {
    squeezer.Fit();
  } else {
    squeezer.Squeeze();
  }
}

}  // namespace stowplan::pack
