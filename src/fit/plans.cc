// SPDX-License-Identifier: Apache-2.0
#include "fit/plans.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <variant>

#include "fit/choose.h"
#include "fit/repeat.h"
#include "fit/waists.h"

namespace stowplan::fit {
namespace {

// Between two prices, and how far they go: times the whole cost for the whole peak.
constexpr double kPlanPriceStep = 1.6;
constexpr double kHighestPlanPrice = 30;
constexpr double kLowestPlanPrice = 1e-3;
// Where the first part may end.
constexpr size_t kBorders = 8;
// How many plans are lowered further, peak by peak, and how often at most.
constexpr size_t kLowered = 12;
constexpr int kMostLowerings = 40;
// How many sets of values are kept.
constexpr size_t kMostKeptSets = 6;

struct Attempt {
  Sequence sequence;
  Trace trace;
  double cost = 0;
};

class StepPlanner {
 public:
  StepPlanner(const Task& task, const PlanOptions& options)
      : task_(task), options_(options), chooser_(task), is_refused_(task.size(), 0) {}

  std::vector<Plan> Run() && {
    const Attempt given = AttemptOf(GivenSequence(task_));
    Add(given, 0, 0, false);
    even_ = std::max(WholeCost(task_), 1e-300) /
            static_cast<double>(std::max<int64_t>(given.trace.peak, 1));
    std::vector<std::vector<uint8_t>> sets = KeptSets(given);
    for (uint32_t k = 0; k < sets.size(); ++k) RunSet(given, k, sets[k]);
    LowerAll();
    MarkFront();
    return std::move(plans_);
  }

 private:
  [[nodiscard]] bool IsStopped() const { return options_.should_stop && options_.should_stop(); }
  Attempt AttemptOf(Sequence sequence) const {
    Attempt attempt;
    attempt.sequence = std::move(sequence);
    FindTrace(task_, attempt.sequence, attempt.trace);
    attempt.cost = ExtraCost(task_, attempt.sequence);
    return attempt;
  }
  void Add(const Attempt& attempt, uint32_t set, double price, bool is_mixed) {
    if (attempt.cost > options_.most_cost) return;
    if (!seen_.insert({attempt.cost, attempt.trace.peak}).second) return;
    plans_.push_back(
        {{attempt.cost, attempt.trace.peak, attempt.sequence}, set, price, is_mixed, false});
  }

  // Nothing, then what is handed on at the deepest waists, then at more of them.
  std::vector<std::vector<uint8_t>> KeptSets(const Attempt& given) const {
    const uint32_t end = given.trace.peak_place;
    std::vector<Waist> waists = FindWaists(task_, given.sequence, given.trace, end);
    std::ranges::stable_sort(waists, std::greater(), &Waist::depth);
    std::vector<std::vector<uint8_t>> sets(1, std::vector<uint8_t>(task_.size(), 0));
    const auto add = [&](std::vector<uint32_t> places) {
      std::ranges::sort(places);
      std::vector<uint8_t> kept = HandedOnAt(task_, given.sequence, given.trace, end, places);
      if (std::ranges::find(sets, kept) == sets.end()) sets.push_back(std::move(kept));
    };
    std::vector<uint32_t> places;
    for (size_t k = 0; k < waists.size() && sets.size() < kMostKeptSets; ++k) {
      places.push_back(waists[k].place);
      // Between two degrees of depth.
      const bool is_step = k + 1 == waists.size() || waists[k].depth >= 2 * waists[k + 1].depth;
      if (!is_step) continue;
      add(places);
      if (places.size() < 6) continue;
      std::vector<uint32_t> sorted = places;
      std::ranges::sort(sorted);
      std::vector<uint32_t> every_other;
      for (size_t i = 1; i < sorted.size(); i += 2) every_other.push_back(sorted[i]);
      add(every_other);
    }
    return sets;
  }

  std::vector<uint32_t> Choose(const Attempt& attempt, double price,
                               std::span<const uint8_t> kept) {
    std::vector<uint8_t> is_banned = is_refused_;
    for (size_t i = 0; i < kept.size(); ++i) is_banned[i] |= kept[i];
    std::vector<uint32_t> places;
    for (const Group& group : chooser_.Choose(attempt.sequence, attempt.trace,
                                              attempt.trace.peak_place, price, is_banned))
      places.insert(places.end(), group.places.begin(), group.places.end());
    std::ranges::sort(places);
    return places;
  }
  std::optional<Attempt> Try(const Attempt& attempt, std::span<const uint32_t> places) {
    std::vector<uint8_t> is_chosen(attempt.sequence.size(), 0);
    for (const uint32_t place : places) is_chosen[place] = 1;
    auto repeated = Repeat(task_, attempt.sequence, attempt.trace.peak_place, is_chosen);
    if (const Refused* refused = std::get_if<Refused>(&repeated)) {
      is_refused_[attempt.sequence[refused->place]] = 1;
      return std::nullopt;
    }
    return AttemptOf(std::get<Sequence>(std::move(repeated)));
  }

  void RunSet(const Attempt& given, uint32_t set, std::span<const uint8_t> kept) {
    const std::vector<uint32_t> most = Choose(given, kHighestPlanPrice * even_, kept);
    std::vector<uint32_t> low;
    for (double price = kLowestPlanPrice * even_; price <= kHighestPlanPrice * even_;
         price *= kPlanPriceStep) {
      if (IsStopped()) return;
      std::vector<uint32_t> high = Choose(given, price, kept);
      if (high == low) continue;
      if (const std::optional<Attempt> all = Try(given, high)) Add(*all, set, price, false);
      Mix(given, set, price, low, high);
      low = std::move(high);
      if (low == most) break;
    }
  }
  // The early part by one choice, the rest by another.
  void Mix(const Attempt& given, uint32_t set, double price, std::span<const uint32_t> low,
           std::span<const uint32_t> high) {
    if (high.empty()) return;
    for (size_t k = 1; k < kBorders; ++k) {
      const uint32_t border = high[high.size() * k / kBorders];
      std::vector<uint32_t> both;
      for (const uint32_t place : high) {
        if (place < border) both.push_back(place);
      }
      for (const uint32_t place : low) {
        if (place >= border) both.push_back(place);
      }
      if (const std::optional<Attempt> mixed = Try(given, both)) Add(*mixed, set, price, true);
    }
  }

  // Once much is computed again, the peak is elsewhere, and there may be more to gain.
  void LowerAll() {
    MarkFront();
    std::vector<Plan> starts;
    for (const Plan& plan : plans_) {
      if (plan.is_on_front && plan.point.cost > 0) starts.push_back(plan);
    }
    const size_t count = std::min(starts.size(), kLowered);
    for (size_t k = 0; k < count; ++k) {
      const Plan& start = starts[(starts.size() * (k + 1) - 1) / count];
      Attempt attempt = AttemptOf(start.point.sequence);
      double price = start.price;
      for (int step = 0; step < kMostLowerings && price <= kHighestPlanPrice * even_; ++step) {
        if (IsStopped()) return;
        std::optional<Attempt> next;
        if (const std::vector<uint32_t> places = Choose(attempt, price, {}); !places.empty())
          next = Try(attempt, places);
        if (!next || next->trace.peak >= attempt.trace.peak) {
          price *= kPlanPriceStep;
          continue;
        }
        attempt = *std::move(next);
        Add(attempt, start.set, price, true);
      }
    }
  }

  void MarkFront() {
    std::ranges::stable_sort(plans_, [](const Plan& a, const Plan& b) {
      return a.point.cost != b.point.cost ? a.point.cost < b.point.cost
                                          : a.point.peak < b.point.peak;
    });
    int64_t least = std::numeric_limits<int64_t>::max();
    for (Plan& plan : plans_) {
      plan.is_on_front = plan.point.peak < least;
      least = std::min(least, plan.point.peak);
    }
  }

  const Task& task_;
  const PlanOptions& options_;
  Chooser chooser_;
  std::vector<uint8_t> is_refused_;  // by node
  std::set<std::pair<double, int64_t>> seen_;
  double even_ = 1;
  std::vector<Plan> plans_;
};

}  // namespace

std::vector<Plan> FindPlans(const Task& task, const PlanOptions& options) {
  if (task.size() == 0) return {};
  return StepPlanner(task, options).Run();
}

}  // namespace stowplan::fit
