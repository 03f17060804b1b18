// SPDX-License-Identifier: Apache-2.0
#include "pack/solve/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "pack/solve/align.h"
#include "pack/solve/chance.h"

namespace stowplan::pack {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

}  // namespace

class Search::State {
 public:
  State(const Core& core, const Graph& graph)
      : core_(core),
        graph_(graph),
        lows_(core.items.size()),
        reasons_(core.items.size()),
        is_placed_(core.items.size()),
        sections_(graph.section_count()),
        is_dirty_(graph.section_count()),
        words_(core.items.size() / 64 + 1) {
    // A member is an item and what it needs in a section; where items are whole, the item says it
    // all.
    if (core.is_whole()) {
      for (uint32_t i = 0; i < core.items.size(); ++i)
        members_.push_back({i, 0, core.items[i].room});
      for (const Member& member : graph.members) first_order_.push_back(member.item);
    } else {
      members_ = graph.members;
      for (uint32_t m = 0; m < members_.size(); ++m) first_order_.push_back(m);
    }
    FindTwins();
  }

  SearchResult Run(int64_t capacity, const SearchConfig& config, int64_t& nodes,
                   const std::function<bool()>& should_stop) {
    Start(capacity, config);
    GoAbovePins();
    bool is_fine = Settle();
    while (true) {
      if (is_fine) {
        const uint32_t section = ChooseSection();
        if (section == kNone) return SearchResult::kFound;
        if (nodes-- <= 0) return SearchResult::kGaveUp;
        if (nodes % 128 == 0 && should_stop && should_stop()) return SearchResult::kGaveUp;
        const uint32_t item = ChooseItem(section);
        frames_.push_back({item, trail_.size(), section_trail_.size(), pool_.size()});
        is_fine = Place(item, frames_.size() - 1) && Settle();
        continue;
      }
      // Back to the last decision that the conflict follows from.
      while (true) {
        if (frames_.empty()) return SearchResult::kProved;
        const size_t level = frames_.size() - 1;
        const uint32_t item = frames_.back().item;
        GoBack(frames_.back());
        frames_.pop_back();
        const uint64_t bit = uint64_t{1} << (level % 64);
        if ((conflict_[level / 64] & bit) == 0) continue;
        conflict_[level / 64] &= ~bit;
        if (nodes-- <= 0) return SearchResult::kGaveUp;
        is_fine = Lift(item) && Settle();
        break;
      }
    }
  }

  [[nodiscard]] std::span<const int64_t> offsets() const { return lows_; }

 private:
  using Words = std::vector<uint64_t>;
  struct Section {
    // How much lower the stack is than the ceiling, at least.
    int64_t slack = 0;
    int64_t slack_before = 0;  // at the start of the step
    int64_t floor = 0;         // the least bound of what is to be put down; kNever when all is
    // The last step in which it changed. A search takes more than 2^32 of them: in 32 bits, a
    // section would some day seem to be saved that is not, and going back would leave it wrong.
    uint64_t step = 0;
    uint32_t on_floor = 0;  // how many have it
    uint32_t placed = 0;    // how many of its members are down; they come first in its order
    float failures = 0;
  };
  // What is open at one depth of the search, and how long the trails were before.
  struct Frame {
    uint32_t item = 0;
    size_t trail = 0;
    size_t section_trail = 0;
    size_t pool = 0;
  };
  struct Change {
    uint32_t item;
    uint32_t reason;
    int64_t low;
  };
  struct SectionChange {
    uint32_t section;
    uint32_t on_floor;
    int64_t slack;
    int64_t floor;
  };

  // Items that are alive with the same others and have one size are put down in one order.
  void FindTwins() {
    twins_.resize(core_.items.size());
    if (!core_.is_whole() || !core_.pins.empty()) return;
    std::vector<uint32_t> items(core_.items.size());
    for (uint32_t i = 0; i < items.size(); ++i) items[i] = i;
    const auto key = [&](uint32_t i) {
      const std::span<const uint32_t> sections = graph_.SectionsOf(i);
      return std::tuple(sections.front(), sections.back(), core_.items[i].size,
                        core_.items[i].alignment);
    };
    std::ranges::sort(items, {}, key);
    for (size_t from = 0, to = 0; from < items.size(); from = to) {
      while (to < items.size() && key(items[to]) == key(items[from])) ++to;
      for (size_t a = from; a < to; ++a) {
        for (size_t b = from; b < to; ++b) {
          if (a != b) twins_[items[a]].push_back(items[b]);
        }
      }
    }
  }

  void Start(int64_t capacity, const SearchConfig& config) {
    capacity_ = capacity;
    config_ = config;
    chance_ = Chance(config.seed);
    order_ = first_order_;    // a run does not depend on those before it
    pool_.assign(words_, 0);  // the first reason: none
    trail_.clear();
    section_trail_.clear();
    frames_.clear();
    conflict_.assign(words_, 0);
    step_ = 1;
    last_failed_ = kNone;
    dirty_.clear();
    for (uint32_t s = 0; s < sections_.size(); ++s) {
      sections_[s] = {};
      is_dirty_[s] = 1;
      dirty_.push_back(s);
    }
    for (uint32_t i = 0; i < core_.items.size(); ++i) {
      lows_[i] = core_.is_pinned(i) ? core_.pins[i] : 0;
      reasons_[i] = 0;
      is_placed_[i] = 0;
    }
  }

  // What would lie across a pinned item must lie above it.
  void GoAbovePins() {
    if (core_.pins.empty()) return;
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (uint32_t pinned = 0; pinned < core_.items.size(); ++pinned) {
        if (!core_.is_pinned(pinned)) continue;
        graph_.EachNeighbour(core_, pinned, [&](uint32_t item, int64_t rise, int64_t drop) {
          const int64_t above = AlignUp(core_.pins[pinned] + rise, core_.items[item].alignment);
          if (core_.is_pinned(item) || lows_[item] >= above ||
              lows_[item] + drop <= core_.pins[pinned])
            return;
          lows_[item] = above;
          has_changed = true;
        });
      }
    }
  }

  // Reasons are sets of levels. They lie in one pool, which grows with the search and shrinks when
  // it goes back.
  uint32_t NewReason() {
    const auto id = static_cast<uint32_t>(pool_.size() / words_);
    pool_.resize(pool_.size() + words_, 0);
    return id;
  }
  void Include(uint32_t into, uint32_t other) {
    for (size_t w = 0; w < words_; ++w) pool_[into * words_ + w] |= pool_[other * words_ + w];
  }
  void IncludeInConflict(uint32_t other) {
    for (size_t w = 0; w < words_; ++w) conflict_[w] |= pool_[other * words_ + w];
  }

  void Mark(uint32_t section) {
    if (std::exchange(is_dirty_[section], 1) == 0) dirty_.push_back(section);
  }
  // To be called before a section is changed.
  void Save(uint32_t s) {
    Section& section = sections_[s];
    if (std::exchange(section.step, step_) == step_) return;
    section_trail_.push_back({s, section.on_floor, section.slack, section.floor});
    section.slack_before = section.slack;
  }
  // An item leaves the floor of a section.
  void LeaveFloor(uint32_t s) {
    if (--sections_[s].on_floor == 0) Mark(s);
  }
  // False, with the conflict, when the item must lie lower.
  bool Raise(uint32_t item, int64_t low, uint32_t reason) {
    if (core_.is_pinned(item)) {
      conflict_.assign(words_, 0);
      IncludeInConflict(reason);
      return false;
    }
    trail_.push_back({item, reasons_[item], lows_[item]});
    const int64_t before = std::exchange(lows_[item], low);
    reasons_[item] = reason;
    // However many items of a section are raised in a step, by no more than this: the stack is no
    // higher than it was by more.
    const int64_t change = low - before;
    for (const uint32_t s : graph_.SectionsOf(item)) {
      Save(s);
      Section& section = sections_[s];
      section.slack = std::min(section.slack, section.slack_before - change);
      if (section.slack < 0) Mark(s);
      if (before == section.floor) LeaveFloor(s);
    }
    return true;
  }

  void GoBack(const Frame& frame) {
    for (const uint32_t s : dirty_) is_dirty_[s] = 0;
    dirty_.clear();
    is_placed_[frame.item] = 0;
    for (const uint32_t s : graph_.SectionsOf(frame.item)) --sections_[s].placed;
    while (section_trail_.size() > frame.section_trail) {
      const SectionChange& change = section_trail_.back();
      sections_[change.section].slack = change.slack;
      sections_[change.section].floor = change.floor;
      sections_[change.section].on_floor = change.on_floor;
      section_trail_.pop_back();
    }
    while (trail_.size() > frame.trail) {
      const Change& change = trail_.back();
      lows_[change.item] = change.low;
      reasons_[change.item] = change.reason;
      trail_.pop_back();
    }
    pool_.resize(frame.pool);
  }

  [[nodiscard]] bool IsUnderCeiling(uint32_t item) const {
    return lows_[item] + core_.items[item].size <= capacity_;
  }

  // Stacks what a section still has to take, from the lowest bound up. False, with the conflict,
  // when the ceiling is too low.
  template <bool kIsWhole>
  bool Stack(uint32_t s) {
    Section& section = sections_[s];
    uint32_t* const order = order_.data() + graph_.section_begins[s] + section.placed;
    const size_t count = graph_.section_begins[s + 1] - graph_.section_begins[s] - section.placed;
    const auto bound = [&](uint32_t m) {
      return kIsWhole ? lows_[m] : lows_[members_[m].item] + members_[m].low;
    };
    for (size_t k = 1; k < count; ++k) {
      const uint32_t member = order[k];
      const int64_t low = bound(member);
      size_t at = k;
      for (; at != 0 && bound(order[at - 1]) > low; --at) order[at] = order[at - 1];
      order[at] = member;
    }
    int64_t top = 0;
    size_t block = 0;  // where the stack last stood on a bound
    int64_t floor = kNever;
    uint32_t on_floor = 0;
    for (size_t k = 0; k < count; ++k) {
      const Member& member = members_[order[k]];
      const int64_t low = bound(order[k]);
      if (low >= top) {
        top = low;
        block = k;
      }
      top += member.size;
      if (lows_[member.item] < floor) {
        floor = lows_[member.item];
        on_floor = 0;
      }
      if (lows_[member.item] == floor) ++on_floor;
      // Of the highest, only the size must be under the ceiling.
      if (top - core_.rounding <= capacity_ && (core_.rounding == 0 || IsUnderCeiling(member.item)))
        continue;
      conflict_.assign(words_, 0);
      for (size_t j = block; j <= k; ++j) IncludeInConflict(reasons_[members_[order[j]].item]);
      section.failures += 1;
      return false;
    }
    Save(s);
    section.slack = capacity_ - top;
    section.floor = floor;
    section.on_floor = on_floor;
    return true;
  }

  // Looks at all sections that have changed.
  bool Settle() {
    const bool is_whole = core_.is_whole();
    // What failed last is the first to be looked at.
    if (last_failed_ < is_dirty_.size() && is_dirty_[last_failed_] != 0 && dirty_.size() > 1)
      std::swap(*std::ranges::find(dirty_, last_failed_), dirty_.front());
    for (size_t k = 0; k < dirty_.size(); ++k) {
      const uint32_t s = dirty_[k];
      if (!(is_whole ? Stack<true>(s) : Stack<false>(s))) {
        last_failed_ = s;
        for (size_t j = k; j < dirty_.size(); ++j) is_dirty_[dirty_[j]] = 0;
        dirty_.clear();
        return false;
      }
      is_dirty_[s] = 0;
    }
    dirty_.clear();
    return true;
  }

  // Where something is still to be put down; none when all is done.
  uint32_t ChooseSection() {
    const bool is_anywhere = config_.section == SectionRule::kFewest;
    uint32_t best = kNone;
    double best_value = 0;
    for (uint32_t s = 0; s < sections_.size(); ++s) {
      const Section& section = sections_[s];
      if (section.floor == kNever) continue;
      if (best != kNone && !is_anywhere && section.floor > sections_[best].floor) continue;
      double value = section.on_floor;
      // Where it failed before, it fails soon: the sooner it is known the better.
      const double failures = 1 + static_cast<double>(section.failures);
      switch (config_.section) {
        case SectionRule::kLowest:
          value /= std::sqrt(failures);
          break;
        case SectionRule::kLowestTight:
          value *= (0.1 + static_cast<double>(section.slack) / static_cast<double>(capacity_)) /
                   failures;
          break;
        case SectionRule::kFewest:
          value /= failures;
          break;
      }
      if (config_.noise > 0) value *= 1 + config_.noise * chance_.Fraction();
      const bool is_lower = best != kNone && !is_anywhere && section.floor < sections_[best].floor;
      if (best == kNone || is_lower || value < best_value) {
        best = s;
        best_value = value;
      }
    }
    return best;
  }
  // Calls visit(item) for what lies on the floor of a section.
  template <class Visit>
  void EachOnFloor(uint32_t s, Visit visit) const {
    for (uint32_t k = graph_.section_begins[s] + sections_[s].placed;
         k < graph_.section_begins[s + 1]; ++k) {
      const uint32_t item = members_[order_[k]].item;
      if (lows_[item] == sections_[s].floor) visit(item);
    }
  }

  [[nodiscard]] double ValueOf(uint32_t item) const {
    const auto size = static_cast<double>(core_.items[item].size);
    const auto duration = static_cast<double>(core_.durations[item]);
    switch (config_.choice) {
      case ChoiceRule::kLargest:
        return size;
      case ChoiceRule::kLargestArea:
        return size * duration;
      case ChoiceRule::kFlushLongest:
        return (1 + 1e9 * CountWalls(item)) * duration;
      case ChoiceRule::kFlushArea:
        return (1 + 1e9 * CountWalls(item)) * size * duration;
    }
    return 0;
  }
  // At how many of its two ends the floor beside the item is higher.
  [[nodiscard]] double CountWalls(uint32_t item) const {
    const std::span<const uint32_t> sections = graph_.SectionsOf(item);
    const int64_t floor = lows_[item];
    double walls = 0;
    if (sections.front() == 0 || sections_[sections.front() - 1].floor > floor) walls += 1;
    if (sections.back() + 1 == sections_.size() || sections_[sections.back() + 1].floor > floor)
      walls += 1;
    return walls;
  }

  // An item on the floor of the section under which nothing else fits. Where something does, the
  // search goes down to it first.
  uint32_t ChooseItem(uint32_t s) {
    while (true) {
      uint32_t best = kNone;
      double best_value = 0;
      EachOnFloor(s, [&](uint32_t item) {
        double value = ValueOf(item);
        if (config_.noise > 0) value *= 1 + config_.noise * chance_.Fraction();
        if (best == kNone || value > best_value) {
          best = item;
          best_value = value;
        }
      });
      uint32_t beneath = kNone;
      graph_.EachNeighbour(core_, best, [&](uint32_t other, int64_t, int64_t drop) {
        if (is_placed_[other] == 0 && lows_[other] + drop <= lows_[best] &&
            (beneath == kNone || lows_[other] < lows_[beneath]))
          beneath = other;
      });
      if (beneath == kNone) return best;
      // Of that item's sections, the one with the lowest floor.
      const std::span<const uint32_t> sections = graph_.SectionsOf(beneath);
      s = *std::ranges::min_element(sections, {}, [&](uint32_t k) { return sections_[k].floor; });
    }
  }

  // Puts an item down at its bound: all alive with it must lie above it.
  bool Place(uint32_t item, size_t level) {
    is_placed_[item] = 1;
    ++step_;
    for (const uint32_t s : graph_.SectionsOf(item)) {
      Save(s);
      if (lows_[item] == sections_[s].floor) LeaveFloor(s);
      uint32_t* const order = order_.data() + graph_.section_begins[s] + sections_[s].placed++;
      uint32_t* at = order;
      while (members_[*at].item != item) ++at;
      std::rotate(order, at, at + 1);
    }
    bool is_fine = true;
    graph_.EachNeighbour(core_, item, [&](uint32_t other, int64_t rise, int64_t) {
      if (!is_fine || is_placed_[other] != 0 || lows_[other] >= lows_[item] + rise) return;
      const uint32_t reason = NewReason();
      Include(reason, reasons_[other]);
      Include(reason, reasons_[item]);
      pool_[reason * words_ + level / 64] |= uint64_t{1} << (level % 64);
      is_fine = Raise(other, AlignUp(lows_[item] + rise, core_.items[other].alignment), reason);
    });
    return is_fine;
  }

  // The item does not lie at its bound, for what is in the conflict: then it rests on something
  // that is not down yet. So do its twins. False, with the conflict, when there is nothing to rest
  // on.
  bool Lift(uint32_t item) {
    int64_t low = kNever;
    const uint32_t reason = NewReason();
    Include(reason, reasons_[item]);
    for (size_t w = 0; w < words_; ++w) pool_[reason * words_ + w] |= conflict_[w];
    graph_.EachNeighbour(core_, item, [&](uint32_t other, int64_t, int64_t drop) {
      if (is_placed_[other] != 0) return;
      low = std::min(low, lows_[other] + drop);
      Include(reason, reasons_[other]);
    });
    if (low == kNever) {
      conflict_.assign(words_, 0);
      IncludeInConflict(reason);
      return false;
    }
    ++step_;
    const int64_t before = lows_[item];
    if (!Raise(item, AlignUp(low, core_.items[item].alignment), reason)) return false;
    for (const uint32_t twin : twins_[item]) {
      if (is_placed_[twin] != 0 || lows_[twin] != before) continue;
      const uint32_t same = NewReason();
      Include(same, reason);
      Include(same, reasons_[twin]);
      Raise(twin, lows_[item], same);
    }
    return true;
  }

  const Core& core_;
  const Graph& graph_;
  std::vector<Member> members_;
  std::vector<std::vector<uint32_t>> twins_;

  int64_t capacity_ = 0;
  SearchConfig config_;
  Chance chance_{0};
  std::vector<int64_t> lows_;      // by item
  std::vector<uint32_t> reasons_;  // by item: rows of the pool
  std::vector<uint8_t> is_placed_;
  std::vector<Section> sections_;
  std::vector<uint32_t> first_order_;
  std::vector<uint32_t> order_;  // members by section: those that are down, then by bound, nearly
  std::vector<uint32_t> dirty_;  // sections to look at again
  std::vector<uint8_t> is_dirty_;
  uint32_t last_failed_ = kNone;
  uint64_t step_ = 0;
  size_t words_;  // of a reason: a bit a level
  Words pool_;
  Words conflict_;
  std::vector<Change> trail_;
  std::vector<SectionChange> section_trail_;
  std::vector<Frame> frames_;
};

Search::Search(const Core& core, const Graph& graph)
    : state_(std::make_unique<State>(core, graph)) {}
Search::~Search() = default;

SearchResult Search::Run(int64_t capacity, const SearchConfig& config, int64_t& nodes,
                         const std::function<bool()>& should_stop) {
  return state_->Run(capacity, config, nodes, should_stop);
}

std::span<const int64_t> Search::offsets() const { return state_->offsets(); }

}  // namespace stowplan::pack
