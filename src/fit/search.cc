// SPDX-License-Identifier: Apache-2.0
// A price for each byte at the peak rises step by step. At each price, what is worth computing
// again at the peak is (choose.h), the earliest first, as far as that lowers the peak; the next
// peak may be elsewhere. What was found is then improved: in another order, and by taking some of
// it back and lowering the peak again.
#include "fit/search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <utility>

#include "fit/arrange.h"
#include "fit/choose.h"
#include "fit/exact.h"
#include "fit/repeat.h"
#include "fit/stretch.h"
#include "fit/waists.h"

namespace stowplan::fit {
namespace {

// Between two prices.
constexpr double kPriceStep = 1.25;
// No price is higher than this many times the whole cost for the whole peak.
constexpr double kHighest = 20;
constexpr double kLowest = 1e-3;
// How many nodes all networks may have together: a microsecond or two each.
constexpr double kMostEffort = 3e6;
// And how many networks there are at least.
constexpr double kLeastNetworks = 60;
// How many prefixes of the groups are tried.
constexpr size_t kTries = 24;

// How many points are improved at a time, and how often.
constexpr size_t kPolished = 12;
constexpr int kPolishRounds = 4;
// How many sequences are disturbed at most, and what that may take.
constexpr int kMostTunings = 1500;
constexpr double kTuneEffort = 8e5;
// Every so many of them get another order, with this effort by node (order/effort.h), which is as
// much as so many networks.
constexpr int kTuningsByOrder = 4;
constexpr int64_t kOrderSteps = 3000;
constexpr double kOrderEffort = 10;
// Between two prices of a repair.
constexpr double kRepairStep = 1.6;
// Stretches that are solved exactly have so many places; each is as much as so many nodes in
// networks.
constexpr size_t kLeastStretch = 4;
constexpr size_t kMostStretch = 24;
constexpr double kStretchEffort = 400;
constexpr int kStretches = 6;

// The points that no other one beats.
class Front {
 public:
  void Add(double cost, int64_t peak, const Sequence& sequence) {
    // The first that is not cheaper.
    auto place = std::ranges::lower_bound(points_, cost, {}, &Point::cost);
    if (place != points_.end() && place->cost == cost && place->peak <= peak) return;
    if (place != points_.begin() && std::prev(place)->peak <= peak) return;
    auto end = place;
    while (end != points_.end() && end->peak >= peak) ++end;
    place = points_.erase(place, end);
    points_.insert(place, {cost, peak, sequence});
  }
  [[nodiscard]] const Curve& points() const { return points_; }
  Curve Take() && { return std::move(points_); }

 private:
  Curve points_;
};

struct State {
  Sequence sequence;
  Trace trace;
  double cost = 0;
};

class Searcher {
 public:
  Searcher(const Task& task, const SearchOptions& options)
      : task_(task), options_(options), chooser_(task), is_banned_(task.size(), 0) {}

  Curve Run() && {
    State given;
    given.sequence = GivenSequence(task_);
    Settle(given);
    if (options_.is_exact_allowed && AddExact()) return std::move(front_).Take();
    const double whole = std::max(WholeCost(task_), 1e-300);
    even_ = whole / static_cast<double>(std::max<int64_t>(given.trace.peak, 1));
    if (HasChains(task_)) {
      // What is gained by a chain early may be in the way later, so once without them.
      BanChains();
      RunAll(given);
      std::ranges::fill(is_banned_, 0);
    }
    RunAll(given);
    Tune(/*uses_stretches=*/true);
    return std::move(front_).Take();
  }

 private:
  void RunAll(const State& given) {
    RunFrom(given, 0.2);
    State other;
    other.sequence = FriendlyOrder(given);
    Settle(other);
    RunFrom(other, 0.2);
    Polish();
    Tune(/*uses_stretches=*/false);
  }
  // What is overwritten, and with it who overwrites it.
  void BanChains() {
    for (uint32_t i = 0; i < task_.overwriters.size(); ++i) {
      const Node begin = task_.problem.lives[i].begin;
      if (task_.overwriters[i] != kNoNode && begin != kNoNode) is_banned_[begin] = 1;
    }
  }
  // Whether these are all points there are.
  bool AddExact() {
    const ExactPart part = SolveFromAbove(task_, options_.should_stop);
    for (const Point& point : part.curve) {
      if (point.cost <= options_.most_cost) front_.Add(point.cost, point.peak, point.sequence);
    }
    return part.is_whole;
  }
  void Settle(State& state) {
    FindTrace(task_, state.sequence, state.trace);
    state.cost = ExtraCost(task_, state.sequence);
    if (options_.on_point) options_.on_point(state.cost, state.trace.peak);
    if (state.cost <= options_.most_cost || state.cost == 0)
      front_.Add(state.cost, state.trace.peak, state.sequence);
  }
  [[nodiscard]] double MostEffort() const {
    return std::max(kMostEffort, kLeastNetworks * static_cast<double>(task_.size()));
  }
  [[nodiscard]] bool IsDone(const State& state) const {
    return state.trace.peak <= options_.least_peak || state.cost > options_.most_cost ||
           (options_.should_stop && options_.should_stop());
  }

  // An order that is good once much is computed again.
  Sequence FriendlyOrder(const State& given) {
    // What is lost without repetitions must be small.
    const int64_t limit = given.trace.peak + given.trace.peak / 50;
    Sequence best = given.sequence;
    for (const double price : {0.3, 1.0, 3.0}) {
      State state;
      state.sequence = best;
      FindTrace(task_, state.sequence, state.trace);
      const std::optional<State> heavy = Try(state, Choose(state, price * even_, {}));
      if (!heavy) continue;
      State arranged;
      arranged.sequence = Arrange(task_, heavy->sequence, options_.should_stop);
      Settle(arranged);
      Sequence once = WithoutRepetitions(task_, arranged.sequence);
      if (IsPossible(task_, once) && FindPeak(task_, once) <= limit) best = std::move(once);
    }
    return best;
  }

  // What is cheaper at the same peak, and then on from there.
  void Improve(State& state, double price, double limit) {
    Drop(state, state.trace.peak);
    effort_ += kOrderEffort * static_cast<double>(state.sequence.size());
    state.sequence = Arrange(task_, state.sequence, options_.should_stop);
    Settle(state);
    Drop(state, state.trace.peak);
    Descend(std::move(state), price, limit);
  }
  void Drop(State& state, int64_t limit) {
    Sequence less = WithoutNeedless(task_, state.sequence, limit);
    if (less.size() == state.sequence.size()) return;
    state.sequence = std::move(less);
    Settle(state);
  }

  // What the next bytes cost on the curve.
  [[nodiscard]] double PriceAfter(const Curve& points, size_t index) const {
    if (index + 1 >= points.size()) return even_;
    const double price = (points[index + 1].cost - points[index].cost) /
                         static_cast<double>(points[index].peak - points[index + 1].peak);
    return std::max(price, even_ * kLowest);
  }

  // An order that is good without repetitions need not be good with them.
  void Polish() {
    const double share = 0.5 * MostEffort();
    const double part = share / (kPolishRounds * kPolished);
    const double limit = effort_ + share;
    for (int round = 0; round < kPolishRounds; ++round) {
      const Curve points = front_.points();
      const size_t count = std::min(points.size(), kPolished);
      for (size_t k = 0; k < count; ++k) {
        const size_t index = (points.size() * (k + 1) - 1) / count;
        State state;
        state.sequence = points[index].sequence;
        Settle(state);
        if (effort_ > limit) return;
        if (IsDone(state)) continue;
        Improve(state, PriceAfter(points, index) / 2, effort_ + part);
      }
    }
  }

  // Takes repetitions out of a stretch of a sequence, or moves one node, and lowers the peak again:
  // the choice may be another one now. Stretches are parts of a sequence that are solved exactly.
  void Tune(bool uses_stretches) {
    const double limit = effort_ + kTuneEffort;
    std::mt19937 random(1);
    int tries = 0;
    while (effort_ < limit && tries++ < kMostTunings) {
      const Curve& points = front_.points();
      const size_t index = random() % points.size();
      const Point& point = points[index];
      const bool has_next = index + 1 < points.size();
      // Between two points, or below the last.
      const int64_t below = has_next ? points[index + 1].peak : point.peak - point.peak / 8 - 1;
      const int64_t aim =
          point.peak - 1 -
          static_cast<int64_t>(random() % static_cast<uint64_t>(point.peak - below));
      const double price =
          PriceAfter(points, index) * std::exp2(static_cast<double>(random() % 5) - 3);
      State state;
      state.sequence = Disturb(point.sequence, random);
      FindTrace(task_, state.sequence, state.trace);
      state.cost = ExtraCost(task_, state.sequence);
      effort_ += static_cast<double>(state.sequence.size());
      if (tries % kTuningsByOrder == 0) {
        effort_ += kOrderEffort * static_cast<double>(state.sequence.size());
        state.sequence = Arrange(task_, state.sequence, options_.should_stop,
                                 kOrderSteps * static_cast<int64_t>(state.sequence.size()));
        Settle(state);
      }
      if (uses_stretches && tries % 2 == 0) LowerByStretches(state, aim, random);
      Repair(state, aim, price);
      if (uses_stretches) MakeCheaper(state, random);
      if (options_.should_stop && options_.should_stop()) return;
    }
  }

  Sequence Disturb(const Sequence& sequence, std::mt19937& random) const {
    const auto draw = [&](size_t count) { return static_cast<size_t>(random() % count); };
    Sequence changed;
    if (draw(2) == 0) {
      const size_t first = draw(sequence.size());
      const size_t length = 1 + draw(std::max<size_t>(sequence.size() / 4, 4));
      std::vector<uint8_t> is_done(task_.size(), 0);
      for (size_t p = 0; p < sequence.size(); ++p) {
        const Node node = sequence[p];
        if (is_done[node] == 0 || p < first || p >= first + length) changed.push_back(node);
        is_done[node] = 1;
      }
    } else {
      changed = sequence;
      const size_t from = draw(changed.size());
      const size_t to = draw(changed.size());
      const Node node = changed[from];
      changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(from));
      changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(to), node);
    }
    if (!IsPossible(task_, changed)) return sequence;
    return WithoutUnread(task_, changed);
  }

  void Repair(State& state, int64_t aim, double price) {
    for (; price <= kHighest * even_; price *= kRepairStep) {
      while (state.trace.peak > aim) {
        if (IsDone(state) || !Lower(state, price)) break;
      }
      if (state.trace.peak <= aim) break;
      if (IsDone(state)) return;
    }
    Drop(state, std::max(aim, state.trace.peak));
  }

  // A stretch with this place in it.
  Stretch StretchAround(const State& state, uint32_t place, std::mt19937& random) const {
    const auto size = static_cast<uint32_t>(state.sequence.size());
    const auto length = std::min(
        size, static_cast<uint32_t>(kLeastStretch + random() % (kMostStretch - kLeastStretch)));
    const auto before = std::min(place, static_cast<uint32_t>(random() % length));
    const uint32_t first = std::min(place - before, size - length);
    return {first, first + length};
  }
  std::optional<State> Solved(const State& state, Stretch stretch, int64_t limit,
                              double most_cost) {
    effort_ += kStretchEffort + static_cast<double>(state.sequence.size()) / 2;
    std::optional<Sequence> sequence =
        SolveStretchOf(task_, state.sequence, state.trace, stretch, limit, most_cost);
    if (!sequence) return std::nullopt;
    State next;
    next.sequence = *std::move(sequence);
    Settle(next);
    return next;
  }
  void LowerByStretches(State& state, int64_t aim, std::mt19937& random) {
    for (int k = 0; k < kStretches && state.trace.peak > aim; ++k) {
      const Stretch stretch = StretchAround(state, state.trace.peak_place, random);
      std::optional<State> next =
          Solved(state, stretch, aim, std::numeric_limits<double>::infinity());
      // Another place may be as high.
      if (next && next->trace.peak <= state.trace.peak) state = *std::move(next);
    }
  }
  void MakeCheaper(State& state, std::mt19937& random) {
    for (int k = 0; k < kStretches && state.cost > 0; ++k) {
      const auto place = static_cast<uint32_t>(random() % state.sequence.size());
      const Stretch stretch = StretchAround(state, place, random);
      const double cost = CostOf(task_, state.sequence, stretch);
      if (cost <= 0) continue;
      std::optional<State> next = Solved(state, stretch, state.trace.peak, cost);
      if (next && next->cost < state.cost && next->trace.peak <= state.trace.peak)
        state = *std::move(next);
    }
  }

  // From one order: what is worth each price at the peak, for each set of nodes that is kept.
  void RunFrom(const State& given, double share) {
    const double limit = effort_ + share * MostEffort();
    std::vector<std::pair<double, State>> starts;
    std::vector<uint32_t> before;
    for (const std::vector<uint8_t>& kept : KeptSets(given)) {
      const std::vector<uint32_t> most = PlacesOf(Choose(given, kHighest * even_, kept));
      std::vector<Group> low;
      for (double price = LowestPrice(given, kept); price <= kHighest * even_;
           price *= kPriceStep) {
        if (IsDone(given) || effort_ > limit) break;
        std::vector<Group> high = Choose(given, price, kept);
        const std::vector<uint32_t> places = PlacesOf(high);
        if (!places.empty() && places != before) {
          std::optional<State> all = Mix(given, low, high);
          low = std::move(high);
          if (all) starts.emplace_back(price, *std::move(all));
          before = places;
        }
        if (places == most) break;
      }
    }
    // Cheap ones first: they are where most budgets are.
    std::ranges::stable_sort(starts, {}, [](const auto& start) { return start.second.cost; });
    const double rest = share * MostEffort();
    for (size_t k = 0; k < starts.size(); ++k) {
      const double part = rest / static_cast<double>(starts.size());
      Descend(std::move(starts[k].second), starts[k].first, effort_ + part);
    }
  }

  // The price from which on something is worth it, roughly.
  double LowestPrice(const State& given, std::span<const uint8_t> kept) {
    double low = even_ * kLowest;
    double high = kHighest * even_;
    while (high > low * kPriceStep && !IsDone(given)) {
      const double middle = std::sqrt(low * high);
      (Choose(given, middle, kept).empty() ? low : high) = middle;
    }
    return high;
  }

  // On from a state, peak by peak, for rising prices. Where one price has no effect, the next ones
  // are likely to have none either.
  void Descend(State state, double price, double limit) {
    double step = kPriceStep;
    while (price <= kHighest * even_ && !IsDone(state) && effort_ <= limit) {
      step = Exhaust(state, price, limit) ? kPriceStep : step * kPriceStep;
      price *= step;
    }
  }

  // What is not computed again, by node: nothing, and what is handed on where the program is
  // narrow, for several degrees of this.
  std::vector<std::vector<uint8_t>> KeptSets(const State& given) const {
    constexpr size_t kMostSets = 4;
    const uint32_t end = given.trace.peak_place;
    std::vector<Waist> waists = FindWaists(task_, given.sequence, given.trace, end);
    std::ranges::stable_sort(waists, std::greater(), &Waist::depth);
    std::vector<std::vector<uint8_t>> sets(1, std::vector<uint8_t>(task_.size(), 0));
    for (size_t k = 0; k < waists.size() && sets.size() < kMostSets; ++k) {
      // Between two degrees.
      if (k + 1 < waists.size() && waists[k].depth < 2 * waists[k + 1].depth) continue;
      if (k + 1 < 3) continue;
      std::vector<uint32_t> places;
      for (size_t i = 0; i <= k; ++i) places.push_back(waists[i].place);
      std::ranges::sort(places);
      sets.push_back(HandedOnAt(task_, given.sequence, given.trace, end, places));
    }
    return sets;
  }

  std::vector<Group> Choose(const State& state, double price, std::span<const uint8_t> is_kept) {
    std::vector<uint8_t> is_banned = is_banned_;
    for (size_t i = 0; i < is_kept.size(); ++i) is_banned[i] |= is_kept[i];
    effort_ += static_cast<double>(state.sequence.size());
    return chooser_.Choose(state.sequence, state.trace, state.trace.peak_place, price, is_banned);
  }

  // All that is worth this price. Returns whether anything was.
  bool Exhaust(State& state, double price, double limit) {
    bool has_changed = false;
    while (!IsDone(state) && effort_ <= limit && Lower(state, price)) has_changed = true;
    if (!has_changed) return false;
    Drop(state, state.trace.peak);
    return true;
  }

  std::optional<State> Try(const State& state, std::span<const Group> groups) {
    effort_ += static_cast<double>(state.sequence.size()) / 4;
    std::vector<uint8_t> is_chosen(state.sequence.size(), 0);
    for (const Group& group : groups) {
      for (const uint32_t place : group.places) is_chosen[place] = 1;
    }
    auto repeated = Repeat(task_, state.sequence, state.trace.peak_place, is_chosen);
    if (const Refused* refused = std::get_if<Refused>(&repeated)) {
      is_banned_[state.sequence[refused->place]] = 1;
      return std::nullopt;
    }
    State next;
    next.sequence = std::get<Sequence>(std::move(repeated));
    Settle(next);
    return next;
  }

  // The early part by one choice, the rest by another. Returns the state all by `high`.
  std::optional<State> Mix(const State& given, std::span<const Group> low,
                           std::span<const Group> high) {
    const std::vector<uint32_t> cheap = PlacesOf(low);
    const std::vector<uint32_t> dear = PlacesOf(high);
    std::vector<uint32_t> borders;
    const size_t tries = std::min(dear.size(), kTries);
    for (size_t k = 1; k < tries; ++k) borders.push_back(dear[dear.size() * k / tries]);
    if (high.size() > 1 && high.size() <= kTries) {
      for (size_t k = 1; k < high.size(); ++k) borders.push_back(high[k].places[0]);
    }
    for (const uint32_t border : borders) {
      Group both;
      for (const uint32_t place : dear) {
        if (place < border) both.places.push_back(place);
      }
      for (const uint32_t place : cheap) {
        if (place >= border) both.places.push_back(place);
      }
      Try(given, {&both, 1});
    }
    return Try(given, high);
  }
  static std::vector<uint32_t> PlacesOf(std::span<const Group> groups) {
    std::vector<uint32_t> places;
    for (const Group& group : groups)
      places.insert(places.end(), group.places.begin(), group.places.end());
    std::ranges::sort(places);
    return places;
  }

  // Whether the peak is lower now.
  bool Lower(State& state, double price) {
    effort_ += static_cast<double>(state.sequence.size());
    const std::vector<Group> groups =
        chooser_.Choose(state.sequence, state.trace, state.trace.peak_place, price, is_banned_);
    if (groups.empty()) return false;
    const size_t tries = std::min(groups.size(), kTries);
    std::optional<State> best;
    for (size_t k = 1; k <= tries; ++k) {
      const size_t count = groups.size() * k / tries;
      std::optional<State> next = Try(state, std::span(groups).first(count));
      if (!next) return true;  // something is banned now
      const int64_t least = best ? best->trace.peak : state.trace.peak;
      if (next->trace.peak < least) {
        best = std::move(next);
      } else if (best) {
        break;
      }
    }
    if (!best) return false;
    state = *std::move(best);
    return true;
  }

  const Task& task_;
  const SearchOptions& options_;
  Chooser chooser_;
  std::vector<uint8_t> is_banned_;  // by node
  double effort_ = 0;               // nodes in all networks so far
  double even_ = 1;                 // a price: the whole cost for the whole peak
  Front front_;
};

}  // namespace

Curve Search(const Task& task, const SearchOptions& options) {
  return Searcher(task, options).Run();
}

}  // namespace stowplan::fit
