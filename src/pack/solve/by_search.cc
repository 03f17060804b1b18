// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <numeric>
#include <system_error>
#include <thread>

#include "pack/solve/race.h"
#include "pack/solve/search.h"

namespace stowplan::pack {
namespace {

// Beyond this many members of sections a try costs more than it finds.
constexpr size_t kMaxMembers = 400'000;

// Tries of a round, several at once if there are threads. What is found does not depend on their
// number: of the tries at one ceiling the first that finds something counts, and those after it
// are as if they had not been.
class Tries {
 public:
  explicit Tries(Race& race) : race_(race), node_cost_(NodeCostOf(race)) {
    // At least what it takes to put all items down once.
    const auto least = 500 + static_cast<double>(race.core().items.size());
    budget_ = static_cast<int64_t>(least * (1 + 0.25 * race.round()));
    large_budget_ = static_cast<int64_t>(least * std::pow(1.3, std::min(race.round(), 60)));
    const auto threads = static_cast<size_t>(std::max(race.limits().threads, 1));
    for (size_t t = 0; t < threads; ++t)
      searches_.push_back(std::make_unique<Search>(race.core(), *race.graph()));
  }

  // Is there a plan as high as the ceiling? The race takes what is found. kGaveUp: not decided.
  SearchResult Run(int64_t ceiling, size_t count) {
    std::vector<Try> tries(count);
    int64_t left = race_.effort() / node_cost_;
    for (size_t k = 0; k < count; ++k) {
      // Most plans are found soon or not at all; a proof takes the time it takes.
      const int64_t budget = k + 1 == count ? std::max(budget_, large_budget_) : budget_;
      tries[k].config = ConfigureSearch(race_.next_config()++, race_.round(), race_.limits().seed);
      tries[k].given = std::clamp<int64_t>(left, 0, budget);
      tries[k].nodes = tries[k].given;
      left -= budget;
    }
    RunAll(ceiling, tries);
    for (const Try& one : tries) {
      race_.Spend((one.given - one.nodes) * node_cost_ + 1);
      if (one.result == SearchResult::kFound) race_.Take(one.offsets);
      // Of windows the search does not know everything.
      if (one.result == SearchResult::kProved && !race_.core().has_windows())
        race_.RaiseBound(ceiling + 1, AllItems());
      if (one.result != SearchResult::kGaveUp) return one.result;
    }
    return SearchResult::kGaveUp;
  }

 private:
  struct Try {
    SearchConfig config;
    int64_t given = 0;
    int64_t nodes = 0;  // left
    SearchResult result = SearchResult::kGaveUp;
    std::vector<int64_t> offsets;
  };

  // A node looks at the sections of some items, and at all members of these.
  static int64_t NodeCostOf(Race& race) {
    const size_t members = race.graph()->members.size();
    const size_t per_node = members / race.core().items.size() *
                            (members / std::max<size_t>(race.graph()->section_count(), 1));
    return 1 + static_cast<int64_t>(per_node / 1000);
  }

  [[nodiscard]] std::vector<uint32_t> AllItems() const {
    std::vector<uint32_t> items(race_.core().items.size());
    std::iota(items.begin(), items.end(), 0U);
    return items;
  }

  void RunAll(int64_t ceiling, std::vector<Try>& tries) {
    std::atomic<size_t> next = 0;
    std::atomic<size_t> first_decided = tries.size();
    const auto work = [&](Search& search) {
      while (true) {
        const size_t k = next++;
        if (k >= tries.size() || k > first_decided) return;
        Try& one = tries[k];
        const auto should_stop = [&] {
          return first_decided < k || (race_.limits().should_stop && race_.limits().should_stop());
        };
        one.result = search.Run(ceiling, one.config, one.nodes, should_stop);
        if (one.result == SearchResult::kGaveUp) continue;
        if (one.result == SearchResult::kFound)
          one.offsets.assign(search.offsets().begin(), search.offsets().end());
        size_t before = first_decided;
        while (k < before && !first_decided.compare_exchange_weak(before, k)) {
        }
      }
    };
    // An exception that leaves a thread ends the program; the caller can handle one.
    std::vector<std::exception_ptr> failures(searches_.size());
    const auto work_safely = [&](size_t t) {
      try {
        work(*searches_[t]);
      } catch (...) {
        failures[t] = std::current_exception();
        next = tries.size();
        first_decided = 0;
      }
    };
    {
      std::vector<std::jthread> threads;
      threads.reserve(searches_.size());
      try {
        for (size_t t = 1; t < std::min(searches_.size(), tries.size()); ++t)
          threads.emplace_back(work_safely, t);
      } catch (const std::system_error&) {
        // There are no more threads to be had. Fewer give the same answer.
      }
      work_safely(0);
    }
    for (const std::exception_ptr& failure : failures) {
      if (failure) std::rethrow_exception(failure);
    }
  }

  Race& race_;
  int64_t node_cost_;
  int64_t budget_;  // of a try, in nodes
  int64_t large_budget_;
  std::vector<std::unique_ptr<Search>> searches_;
};

}  // namespace

SearchConfig ConfigureSearch(size_t k, int round, uint64_t seed) {
  using enum SectionRule;
  using enum ChoiceRule;
  static constexpr std::pair<SectionRule, ChoiceRule> kRules[] = {
      {kLowest, kLargest},      {kLowestTight, kFlushArea},    {kLowest, kFlushLongest},
      {kFewest, kFlushArea},    {kLowestTight, kLargest},      {kLowest, kFlushArea},
      {kFewest, kFlushLongest}, {kLowestTight, kFlushLongest}, {kLowest, kLargestArea},
      {kFewest, kLargest},      {kLowestTight, kLargestArea},  {kFewest, kLargestArea},
  };
  static constexpr double kNoises[] = {0.1, 0.4, 1.0, 0.2};
  const auto& [section, choice] = kRules[k % std::size(kRules)];
  return {.section = section,
          .choice = choice,
          .noise = round == 0 ? 0 : kNoises[static_cast<size_t>(round) % std::size(kNoises)],
          .seed = seed + 1000 * static_cast<uint64_t>(round) + k};
}

// With a goal: can it be met? Else the bound itself is tried first: it is the optimum more often
// than not, and a low ceiling prunes best. Then heights between it and what there is.
void SolveBySearch(Race& race) {
  if (race.graph() == nullptr || race.graph()->members.size() > kMaxMembers) return;
  Tries tries(race);
  if (race.limits().goal > 0) {
    tries.Run(race.limits().goal, 12);
    return;
  }
  tries.Run(race.bound(), race.round() == 0 ? 4 : 8);
  int64_t low = race.bound();
  while (!race.IsOver() && low + 1 < race.height_to_beat()) {
    const int64_t middle = low + (race.height_to_beat() - low) / 2;
    if (tries.Run(middle, 2) != SearchResult::kFound) low = middle;
    // The last percent is left to the next round.
    if (race.height_to_beat() - low < race.height_to_beat() / 256) break;
  }
}

}  // namespace stowplan::pack
