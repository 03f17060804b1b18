// SPDX-License-Identifier: Apache-2.0
#include "pack/search.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "pack/align.h"

namespace stowplan::pack {
namespace {

// Small, quick, and the same everywhere.
class Chance {
 public:
  explicit Chance(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 0x2545F4914F6CDD1DULL) {}
  // In [0, 1).
  double Next() {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return static_cast<double>(state_ >> 11U) * 0x1.0p-53;
  }

 private:
  uint64_t state_;
};

}  // namespace

struct Search::State {
  using Words = std::vector<uint64_t>;
  // A moment at which no further buffer could be alive with all that are.
  struct Section {
    std::vector<uint32_t> buffers;  // by lower bound, nearly
    int64_t slack = 0;
    int64_t floor = 0;
    double failures = 0;
  };

  explicit State(const Problem& given) : problem(given) {
    FindSections();
    FindNeighbours();
    lows.resize(problem.buffers.size());
    is_placed.resize(problem.buffers.size());
    reasons.resize(problem.buffers.size());
    FindTwins();
  }

  // Sections in order of time; a buffer is in consecutive ones.
  void FindSections() {
    struct Event {
      int64_t time;
      bool is_begin;  // at one time, ends come first
      uint32_t buffer;
    };
    std::vector<Event> events;
    for (uint32_t b = 0; b < problem.buffers.size(); ++b) {
      if (problem.buffers[b].size == 0) continue;
      events.push_back({problem.buffers[b].start, true, b});
      events.push_back({problem.buffers[b].end, false, b});
    }
    std::ranges::sort(events, [](const Event& a, const Event& b) {
      if (a.time != b.time) return a.time < b.time;
      return a.is_begin != b.is_begin ? a.is_begin < b.is_begin : a.buffer < b.buffer;
    });
    firsts.assign(problem.buffers.size(), 0);
    lasts.assign(problem.buffers.size(), 0);
    std::vector<uint32_t> alive;
    bool has_begun = false;
    for (const Event& event : events) {
      if (event.is_begin) {
        firsts[event.buffer] = static_cast<uint32_t>(sections.size());
        alive.push_back(event.buffer);
        has_begun = true;
        continue;
      }
      if (std::exchange(has_begun, false)) sections.push_back({.buffers = alive});
      lasts[event.buffer] = static_cast<uint32_t>(sections.size());  // one past the last
      std::erase(alive, event.buffer);
    }
  }

  void FindNeighbours() {
    neighbours.resize(problem.buffers.size());
    std::vector<uint32_t> seen(problem.buffers.size(), 0);
    uint32_t mark = 0;
    for (uint32_t b = 0; b < problem.buffers.size(); ++b) {
      if (problem.buffers[b].size == 0) continue;
      ++mark;
      seen[b] = mark;
      for (uint32_t s = firsts[b]; s < lasts[b]; ++s) {
        for (const uint32_t other : sections[s].buffers) {
          if (std::exchange(seen[other], mark) != mark) neighbours[b].push_back(other);
        }
      }
    }
  }

  // Buffers that are alive with the same others and have one size are put down in one order.
  void FindTwins() {
    twins.resize(problem.buffers.size());
    for (const Section& section : sections) {
      for (const uint32_t a : section.buffers) {
        if (!twins[a].empty()) continue;
        for (const uint32_t b : section.buffers) {
          if (a != b && firsts[a] == firsts[b] && lasts[a] == lasts[b] &&
              problem.buffers[a].size == problem.buffers[b].size &&
              problem.buffers[a].alignment == problem.buffers[b].alignment)
            twins[a].push_back(b);
        }
      }
    }
  }

  // Reasons lie in one pool, which grows with the search and shrinks when it goes back.
  uint32_t NewReason() {
    const auto id = static_cast<uint32_t>(pool.size() / words);
    pool.resize(pool.size() + words, 0);
    return id;
  }
  void Include(uint32_t into, uint32_t other) {
    for (size_t w = 0; w < words; ++w) pool[into * words + w] |= pool[other * words + w];
  }
  void Include(uint32_t into, const Words& other) {
    for (size_t w = 0; w < words; ++w) pool[into * words + w] |= other[w];
  }
  void Include(Words& into, uint32_t other) const {
    for (size_t w = 0; w < words; ++w) into[w] |= pool[other * words + w];
  }

  struct Change {
    uint32_t buffer;
    int64_t low;
    uint32_t reason;
  };
  void Raise(uint32_t buffer, int64_t low, uint32_t reason) {
    trail.push_back({buffer, lows[buffer], reasons[buffer]});
    lows[buffer] = low;
    reasons[buffer] = reason;
    for (uint32_t s = firsts[buffer]; s < lasts[buffer]; ++s) {
      if (std::exchange(is_dirty[s], 1) == 0) dirty.push_back(s);
    }
  }
  void GoBack(size_t trail_size, size_t pool_size) {
    while (trail.size() > trail_size) {
      const Change& change = trail.back();
      lows[change.buffer] = change.low;
      reasons[change.buffer] = change.reason;
      for (uint32_t s = firsts[change.buffer]; s < lasts[change.buffer]; ++s) {
        if (std::exchange(is_dirty[s], 1) == 0) dirty.push_back(s);
      }
      trail.pop_back();
    }
    pool.resize(pool_size);
  }

  // Stacks what a section still has to take, from the lowest bound up. False when the ceiling is
  // too low; `conflict` is why.
  bool Stack(Section& section, Words* conflict) {
    std::vector<uint32_t>& order = section.buffers;
    for (size_t k = 1; k < order.size(); ++k) {
      const uint32_t buffer = order[k];
      size_t at = k;
      for (; at != 0 && lows[order[at - 1]] > lows[buffer]; --at) order[at] = order[at - 1];
      order[at] = buffer;
    }
    int64_t top = 0;
    size_t block = 0;  // where the stack last stood on a bound
    section.floor = std::numeric_limits<int64_t>::max();
    for (size_t k = 0; k < order.size(); ++k) {
      const uint32_t buffer = order[k];
      if (is_placed[buffer] != 0) continue;
      if (section.floor == std::numeric_limits<int64_t>::max()) section.floor = lows[buffer];
      if (lows[buffer] >= top) {
        top = lows[buffer];
        block = k;
      }
      top += problem.buffers[buffer].size;
      if (top <= capacity) continue;
      if (conflict != nullptr) {
        conflict->assign(words, 0);
        for (size_t j = block; j <= k; ++j) {
          if (is_placed[order[j]] == 0) Include(*conflict, reasons[order[j]]);
        }
      }
      return false;
    }
    section.slack = capacity - top;
    return true;
  }

  // Looks at all sections that have changed.
  bool Settle(Words& conflict) {
    bool is_fine = true;
    for (const uint32_t s : dirty) {
      is_dirty[s] = 0;
      if (is_fine && !Stack(sections[s], &conflict)) {
        is_fine = false;
        sections[s].failures += 1;
      } else if (!is_fine) {
        // It must be looked at again after going back, which marks it once more.
        late.push_back(s);
      }
    }
    dirty.clear();
    for (const uint32_t s : late) {
      is_dirty[s] = 1;
      dirty.push_back(s);
    }
    late.clear();
    return is_fine;
  }

  // Where something is still to be put down; none when all is done.
  std::optional<uint32_t> ChooseSection() {
    std::optional<uint32_t> best;
    double best_value = 0;
    for (uint32_t s = 0; s < sections.size(); ++s) {
      const Section& section = sections[s];
      if (section.floor == std::numeric_limits<int64_t>::max()) continue;
      double value = 0;
      switch (config.section) {
        case SectionRule::kLeastSlack:
          value = static_cast<double>(section.slack) / (1 + section.failures);
          break;
        case SectionRule::kLowestFloor:
          value = static_cast<double>(section.floor);
          break;
        case SectionRule::kFewestChoices: {
          int choices = 0;
          for (const uint32_t buffer : section.buffers) {
            if (is_placed[buffer] == 0 && lows[buffer] == section.floor) ++choices;
          }
          value = choices / (1 + section.failures);
          break;
        }
      }
      if (config.noise > 0) value *= 1 + config.noise * chance.Next();
      if (!best || value < best_value) {
        best = s;
        best_value = value;
      }
    }
    return best;
  }

  [[nodiscard]] double ValueOf(uint32_t buffer) const {
    const auto size = static_cast<double>(problem.buffers[buffer].size);
    const auto duration =
        static_cast<double>(problem.buffers[buffer].end - problem.buffers[buffer].start);
    switch (config.choice) {
      case ChoiceRule::kLongest:
        return duration;
      case ChoiceRule::kLargest:
        return size;
      case ChoiceRule::kLargestArea:
        return size * duration;
      case ChoiceRule::kTightest: {
        double tight = 0;
        for (uint32_t s = firsts[buffer]; s < lasts[buffer]; ++s)
          tight += 1.0 / (1.0 + static_cast<double>(sections[s].slack));
        return tight;
      }
    }
    return 0;
  }

  // A buffer on the floor of the section under which nothing else fits. Where something does, the
  // search goes down to it first.
  uint32_t ChooseBuffer(uint32_t s) {
    uint32_t best = 0;
    while (true) {
      const Section& section = sections[s];
      std::optional<uint32_t> found;
      double best_value = 0;
      for (const uint32_t buffer : section.buffers) {
        if (is_placed[buffer] != 0 || lows[buffer] != section.floor) continue;
        double value = ValueOf(buffer);
        if (config.noise > 0) value *= 1 + config.noise * chance.Next();
        if (!found || value > best_value) {
          found = buffer;
          best_value = value;
        }
      }
      best = *found;
      std::optional<uint32_t> beneath;
      for (const uint32_t other : neighbours[best]) {
        if (is_placed[other] == 0 && lows[other] + problem.buffers[other].size <= lows[best] &&
            (!beneath || lows[other] < lows[*beneath]))
          beneath = other;
      }
      if (!beneath) return best;
      // Of that buffer's sections, the one with the lowest floor.
      s = firsts[*beneath];
      for (uint32_t other = s; other < lasts[*beneath]; ++other) {
        if (sections[other].floor < sections[s].floor) s = other;
      }
    }
  }

  // Puts a buffer down at its bound: all alive with it must lie above it.
  void Place(uint32_t buffer, size_t level) {
    is_placed[buffer] = 1;
    for (uint32_t s = firsts[buffer]; s < lasts[buffer]; ++s) {
      if (std::exchange(is_dirty[s], 1) == 0) dirty.push_back(s);
    }
    const int64_t top = lows[buffer] + problem.buffers[buffer].size;
    for (const uint32_t other : neighbours[buffer]) {
      if (is_placed[other] != 0) continue;
      const int64_t low = AlignUp(top, problem.buffers[other].alignment);
      if (lows[other] >= low) continue;
      const uint32_t reason = NewReason();
      Include(reason, reasons[other]);
      Include(reason, reasons[buffer]);
      pool[reason * words + level / 64] |= uint64_t{1} << (level % 64);
      Raise(other, low, reason);
    }
  }

  // It does not lie at its bound, for `why`: then it rests on something that is not down yet. So do
  // its twins. False when there is nothing to rest on.
  bool Lift(uint32_t buffer, const Words& why, Words& conflict) {
    int64_t low = std::numeric_limits<int64_t>::max();
    const uint32_t reason = NewReason();
    Include(reason, reasons[buffer]);
    Include(reason, why);
    for (const uint32_t other : neighbours[buffer]) {
      if (is_placed[other] != 0) continue;
      low = std::min(low, lows[other] + problem.buffers[other].size);
      Include(reason, reasons[other]);
    }
    if (low == std::numeric_limits<int64_t>::max()) {
      conflict.assign(words, 0);
      Include(conflict, reason);
      return false;
    }
    const int64_t before = lows[buffer];
    Raise(buffer, AlignUp(low, problem.buffers[buffer].alignment), reason);
    for (const uint32_t twin : twins[buffer]) {
      if (is_placed[twin] == 0 && lows[twin] == before) {
        const uint32_t same = NewReason();
        Include(same, reason);
        Include(same, reasons[twin]);
        Raise(twin, lows[buffer], same);
      }
    }
    return true;
  }

  // What is open at one depth of the search.
  struct Frame {
    uint32_t buffer = 0;
    size_t trail = 0;
    size_t pool = 0;
  };

  SearchResult Run(int64_t height, const SearchConfig& how, int64_t& nodes,
                   const std::function<bool()>& should_stop) {
    capacity = height;
    config = how;
    chance = Chance(how.seed);
    words = problem.buffers.size() / 64 + 1;
    pool.assign(words, 0);  // the first reason: none
    trail.clear();
    dirty.clear();
    is_dirty.assign(sections.size(), 1);
    for (uint32_t s = 0; s < sections.size(); ++s) {
      dirty.push_back(s);
      sections[s].failures = 0;
    }
    for (uint32_t b = 0; b < problem.buffers.size(); ++b) {
      lows[b] = 0;
      reasons[b] = 0;
      is_placed[b] = problem.buffers[b].size == 0 ? 1 : 0;
    }
    std::vector<Frame> frames;
    Words conflict(words, 0);
    bool is_fine = Settle(conflict);
    while (true) {
      if (is_fine) {
        const std::optional<uint32_t> section = ChooseSection();
        if (!section) return SearchResult::kFound;
        if (nodes-- <= 0) return SearchResult::kGaveUp;
        if (nodes % 256 == 0 && should_stop && should_stop()) return SearchResult::kGaveUp;
        Frame frame;
        frame.buffer = ChooseBuffer(*section);
        frame.trail = trail.size();
        frame.pool = pool.size();
        frames.push_back(frame);
        Place(frame.buffer, frames.size() - 1);
        is_fine = Settle(conflict);
        continue;
      }
      // Back to the last decision that the conflict follows from.
      while (true) {
        if (frames.empty()) return SearchResult::kNone;
        const size_t level = frames.size() - 1;
        const Frame frame = frames.back();
        frames.pop_back();
        is_placed[frame.buffer] = 0;
        for (uint32_t s = firsts[frame.buffer]; s < lasts[frame.buffer]; ++s) {
          if (std::exchange(is_dirty[s], 1) == 0) dirty.push_back(s);
        }
        GoBack(frame.trail, frame.pool);
        const uint64_t bit = uint64_t{1} << (level % 64);
        if ((conflict[level / 64] & bit) == 0) continue;
        conflict[level / 64] &= ~bit;
        if (nodes-- <= 0) return SearchResult::kGaveUp;
        const Words why = conflict;
        is_fine = Lift(frame.buffer, why, conflict) && Settle(conflict);
        break;
      }
    }
  }

  const Problem problem;
  std::vector<Section> sections;
  std::vector<uint32_t> firsts;  // by buffer: its sections [first, last)
  std::vector<uint32_t> lasts;
  std::vector<std::vector<uint32_t>> neighbours;  // by buffer: alive with it at some moment
  std::vector<std::vector<uint32_t>> twins;

  int64_t capacity = 0;
  SearchConfig config;
  Chance chance{0};
  std::vector<int64_t> lows;       // by buffer
  std::vector<uint8_t> is_placed;  // by buffer
  std::vector<uint32_t> reasons;   // by buffer: rows of the pool
  size_t words = 1;                // of a reason: a bit a level
  Words pool;
  std::vector<Change> trail;
  std::vector<uint32_t> dirty;  // sections to look at again
  std::vector<uint32_t> late;
  std::vector<uint8_t> is_dirty;
};

Search::Search(const Problem& problem) : state_(std::make_unique<State>(problem)) {}
Search::~Search() = default;

SearchResult Search::Run(int64_t capacity, const SearchConfig& config, int64_t& nodes,
                         const std::function<bool()>& should_stop) {
  return state_->Run(capacity, config, nodes, should_stop);
}

Plan Search::plan() const {
  Plan plan;
  for (size_t b = 0; b < state_->problem.buffers.size(); ++b) {
    plan.offsets.push_back(state_->lows[b]);
    plan.height = std::max(plan.height, state_->lows[b] + state_->problem.buffers[b].size);
  }
  return plan;
}

}  // namespace stowplan::pack
