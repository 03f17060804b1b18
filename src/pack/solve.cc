// SPDX-License-Identifier: Apache-2.0
#include "stowplan/pack/solve.h"

#include <algorithm>
#include <array>

#include "pack/search.h"
#include "pack/valley.h"

namespace stowplan::pack {
namespace {

// The exact search keeps who is alive with whom; beyond this many pairs it is left out.
constexpr int64_t kMaxPairs = int64_t{1} << 23U;

// Solve times are heavy-tailed: a configuration finds a plan soon or hardly ever. So all have a
// small try each, then a larger one with some chance in it, and so on.
std::array<SearchConfig, 12> Configurations() {
  std::array<SearchConfig, 12> configs;
  size_t k = 0;
  for (const ChoiceRule choice : {ChoiceRule::kLongest, ChoiceRule::kTightest,
                                  ChoiceRule::kLargestArea, ChoiceRule::kLargest}) {
    for (const SectionRule section :
         {SectionRule::kLeastSlack, SectionRule::kLowestFloor, SectionRule::kFewestChoices})
      configs[k++] = {.section = section, .choice = choice};
  }
  return configs;
}

class Solver {
 public:
  Solver(const Problem& problem, const SolveOptions& options)
      : problem_(problem), options_(options), effort_(options.effort) {}

  Answer Run() {
    answer_.load = FindLoadBound(problem_);
    answer_.bound = answer_.load.bytes;
    Decode();
    if (!IsDone() && CountPairs() <= kMaxPairs) {
      Search search(problem_);
      if (options_.capacity) {
        FitCapacity(search);
      } else {
        Squeeze(search);
      }
    }
    answer_.status = StatusOf();
    return std::move(answer_);
  }

 private:
  // What the plan need not get below.
  [[nodiscard]] int64_t goal() const {
    return std::max(answer_.bound, options_.capacity.value_or(0));
  }
  [[nodiscard]] bool IsDone() const { return has_plan_ && answer_.plan.height <= goal(); }
  [[nodiscard]] bool IsOver() const {
    return IsDone() || effort_ <= 0 || (options_.should_stop && options_.should_stop());
  }

  void Take(Plan plan) {
    if (has_plan_ && plan.height >= answer_.plan.height) return;
    answer_.plan = std::move(plan);
    has_plan_ = true;
    if (options_.on_plan) options_.on_plan(answer_.plan, answer_.bound);
  }

  void Decode() {
    for (const Tightness tightness : {Tightness::kPlain, Tightness::kTight}) {
      for (const Priority priority : kPriorities) {
        Take(DecodeValleys(problem_, PrioritiesOf(problem_, priority), tightness,
                           answer_.load.bytes));
        if (IsDone() || (options_.should_stop && options_.should_stop())) return;
      }
    }
  }

  // How many pairs of buffers are alive together, at least; counting stops when it is too many.
  [[nodiscard]] int64_t CountPairs() const {
    std::vector<std::pair<int64_t, int>> events;  // at one time, ends come first
    for (const Buffer& buffer : problem_.buffers) {
      events.emplace_back(buffer.start, 1);
      events.emplace_back(buffer.end, -1);
    }
    std::ranges::sort(events);
    int64_t alive = 0;
    int64_t pairs = 0;
    for (const auto& [time, change] : events) {
      if (change > 0) pairs += alive;
      alive += change;
      if (pairs > kMaxPairs) break;
    }
    return pairs;
  }

  // One try of one configuration; the answer takes what it shows.
  SearchResult Try(Search& search, int64_t height, SearchConfig config, int64_t nodes) {
    int64_t left = std::min(nodes, effort_);
    const int64_t given = left;
    const SearchResult result = search.Run(height, config, left, options_.should_stop);
    effort_ -= std::max<int64_t>(given - left, 1);
    if (result == SearchResult::kFound) Take(search.plan());
    if (result == SearchResult::kNone) answer_.bound = std::max(answer_.bound, height + 1);
    return result;
  }

  SearchConfig Configure(size_t k, int round) const {
    SearchConfig config = Configurations()[k % 12];
    config.seed = options_.seed + 1000 * static_cast<uint64_t>(round) + k;
    config.noise = round == 0 ? 0 : 0.1 * (1 + round % 4);
    return config;
  }

  void FitCapacity(Search& search) {
    if (*options_.capacity < answer_.bound) return;
    double budget = 1000;
    for (int round = 0; !IsOver(); ++round, budget *= 1.5) {
      for (size_t k = 0; k < 12 && !IsOver(); ++k) {
        if (Try(search, *options_.capacity, Configure(k, round), static_cast<int64_t>(budget)) ==
            SearchResult::kNone)
          return;
      }
    }
  }

  // The bound itself first: it is the optimum more often than not, and a low ceiling prunes best.
  // Then heights between it and what there is.
  void Squeeze(Search& search) {
    double budget = 500;
    size_t next = 0;
    for (int round = 0; !IsOver(); ++round, budget *= 1.4) {
      for (size_t k = 0; k < 4 && !IsOver(); ++k)
        Try(search, answer_.bound, Configure(next++, round), static_cast<int64_t>(budget));
      int64_t low = answer_.bound;
      while (!IsOver() && low + 1 < answer_.plan.height) {
        const int64_t middle = low + (answer_.plan.height - low) / 2;
        SearchResult result = SearchResult::kGaveUp;
        for (size_t k = 0; k < 2 && result == SearchResult::kGaveUp && !IsOver(); ++k)
          result = Try(search, middle, Configure(next++, round), static_cast<int64_t>(budget));
        if (result != SearchResult::kFound) low = middle;
        // The last percent is left to the next round.
        if (answer_.plan.height - low < answer_.plan.height / 256) break;
      }
    }
  }

  [[nodiscard]] Status StatusOf() const {
    const bool fits = !options_.capacity || answer_.plan.height <= *options_.capacity;
    if (options_.capacity && !fits)
      return answer_.bound > *options_.capacity ? Status::kInfeasible : Status::kUndecided;
    return answer_.plan.height <= answer_.bound ? Status::kOptimal : Status::kFeasible;
  }

  const Problem& problem_;
  const SolveOptions& options_;
  int64_t effort_;
  Answer answer_;
  bool has_plan_ = false;
};

}  // namespace

std::string_view Name(Status status) {
  switch (status) {
    case Status::kOptimal:
      return "optimal";
    case Status::kFeasible:
      return "feasible";
    case Status::kInfeasible:
      return "infeasible";
    case Status::kUndecided:
      return "undecided";
  }
  return {};
}

std::vector<std::string_view> SolverNames() { return {"valley", "search"}; }

Answer Solve(const Problem& problem, const SolveOptions& options) {
  return Solver(problem, options).Run();
}

}  // namespace stowplan::pack
