// SPDX-License-Identifier: Apache-2.0
// A state is the set of nodes that have run and the set of lives in memory. Running a node again
// costs something, and lives are dropped only to make room for the node that runs next. Below a
// limit of memory, the cheapest path is found by the A* algorithm: what has been dropped and is
// needed by a node to come has to be computed again, with all that this needs. The limit is lowered
// until there is no path.
#include "fit/exact.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stowplan::fit {
namespace {

constexpr size_t kMostSteps = 300'000;
constexpr size_t kPicksByStep = 40;
constexpr double kNever = std::numeric_limits<double>::infinity();

using Set = uint64_t;  // of lives
using Nodes = uint64_t;

Set Only(uint32_t life) { return Set{1} << life; }

struct Memory {
  Nodes done = 0;
  Set held = 0;
  Set promised = 0;  // of these: what will be read again; else less would be saved than was counted
  bool operator==(const Memory&) const = default;
  auto operator<=>(const Memory&) const = default;
};
struct HashOfMemory {
  size_t operator()(const Memory& memory) const {
    uint64_t hash = memory.done * 0x9E3779B97F4A7C15ULL;
    hash = (hash ^ memory.held) * 0xBF58476D1CE4E5B9ULL;
    hash = (hash ^ (hash >> 29U) ^ memory.promised) * 0x94D049BB133111EBULL;
    return hash ^ (hash >> 32U);
  }
};

// The task as sets.
struct Sets {
  explicit Sets(const Task& task) {
    const auto count = static_cast<uint32_t>(task.size());
    reads.assign(count, 0);
    makes.assign(count, 0);
    endable.assign(count, 0);
    before.assign(count, 0);
    overwritten.assign(count, 0);
    for (uint32_t i = 0; i < task.problem.lives.size(); ++i) {
      const order::Life& life = task.problem.lives[i];
      bytes.push_back(life.is_capped ? 0 : life.size);
      if (life.begin == kNoNode) start |= Only(i);
      if (life.lasts) lasting |= Only(i);
      if (task.overwriters[i] != kNoNode) overwritten[task.overwriters[i]] |= Only(i);
    }
    for (Node i = 0; i < count; ++i) {
      for (const uint32_t life : task.makes[i]) makes[i] |= Only(life);
      for (const uint32_t life : task.reads[i]) reads[i] |= Only(life);
      for (const Node b : task.problem.before[i]) before[i] |= Nodes{1} << b;
      for (const order::Overwrite& overwrite : task.problem.overwrites_at(i))
        endable[i] |= Only(overwrite.operand) & ~lasting;
    }
  }

  [[nodiscard]] int64_t BytesOf(Set lives) const {
    int64_t sum = 0;
    for (; lives != 0; lives &= lives - 1)
      sum += bytes[static_cast<size_t>(std::countr_zero(lives))];
    return sum;
  }

  std::vector<int64_t> bytes;  // by life
  std::vector<Set> reads;      // by node
  std::vector<Set> makes;
  std::vector<Set> endable;  // what may be written over
  std::vector<Nodes> before;
  std::vector<Set> overwritten;  // what is gone once it runs
  Set start = 0;
  Set lasting = 0;
};

class ExactSearch {
 public:
  ExactSearch(const Task& task, const std::function<bool()>& should_stop, size_t most_steps)
      : task_(task), should_stop_(should_stop), most_steps_(most_steps), sets_(task) {
    for (Node i = 0; i < task.size(); ++i) all_ |= Nodes{1} << i;
    start_.held = sets_.start;
  }

  std::optional<ExactStretch> RunStretch(const ExactEnds& ends, int64_t limit, double most_cost) {
    start_ = {ends.done, ends.held};
    needed_ = ends.needed;
    most_cost_ = most_cost;
    const std::optional<Memory> end = Cheapest(limit);
    if (!end) return std::nullopt;
    return ExactStretch{SequenceTo(*end), marks_[*end].cost};
  }

  ExactPart Run() {
    ExactPart part;
    Curve& curve = part.curve;
    int64_t limit = std::numeric_limits<int64_t>::max();
    while (true) {
      const std::optional<Memory> end = Cheapest(limit);
      if (is_stopped_) return part;
      if (!end) break;
      std::optional<Point> point = PointAt(*end);
      if (point->peak > limit) return part;
      limit = point->peak - 1;
      // The same cost with a lower peak.
      if (!curve.empty() && curve.back().cost >= point->cost) curve.pop_back();
      curve.push_back(*std::move(point));
    }
    part.is_whole = true;
    return part;
  }

 private:
  struct Mark {
    double cost = 0;  // so far
    Memory from;
    Node node = kNoNode;  // that ran
    bool is_final = false;
  };
  // Cost with what is certain to come, nodes that are missing, the state: the least first.
  using Entry = std::tuple<double, int, Memory>;

  [[nodiscard]] static bool Has(Nodes nodes, Node node) { return ((nodes >> node) & 1U) != 0; }

  [[nodiscard]] bool CanRun(const Memory& memory, Node node) const {
    if ((sets_.reads[node] & ~memory.held) != 0) return false;
    if (!Has(memory.done, node)) return (sets_.before[node] & ~memory.done) == 0;
    return task_.can_repeat[node] != 0 && (sets_.makes[node] & ~memory.held) != 0;
  }

  bool IsStopped() {
    const bool asks = should_stop_ && (steps_ + picks_) % 1024 == 0;
    is_stopped_ = is_stopped_ || steps_ > most_steps_ || picks_ > kPicksByStep * most_steps_ ||
                  (asks && should_stop_());
    return is_stopped_;
  }

  // What must be computed again in any case; never: that is not possible.
  [[nodiscard]] double CostToCome(const Memory& memory) const {
    Set needed = needed_;
    for (Node i = 0; i < task_.size(); ++i) {
      if (!Has(memory.done, i)) needed |= sets_.reads[i];
    }
    double cost = 0;
    // Sources have lower numbers.
    for (auto i = static_cast<Node>(task_.size()); i-- > 0;) {
      if (!Has(memory.done, i) || (sets_.makes[i] & needed & ~memory.held) == 0) continue;
      if (task_.can_repeat[i] == 0) return kNever;
      needed |= sets_.reads[i];
      cost += task_.costs[i];
    }
    return (needed & sets_.start & ~memory.held) != 0 ? kNever : cost;
  }

  // What may be read once more.
  [[nodiscard]] Set UsefulIn(Nodes done) const {
    Set useful = needed_;
    for (auto i = static_cast<Node>(task_.size()); i-- > 0;) {
      if (!Has(done, i) || (task_.can_repeat[i] != 0 && (sets_.makes[i] & useful) != 0))
        useful |= sets_.reads[i];
    }
    return useful;
  }

  // The state that it ends in.
  std::optional<Memory> Cheapest(int64_t limit) {
    limit_ = limit;
    marks_.clear();
    settled_.clear();
    queue_ = {};
    Reach(start_, 0, start_, kNoNode);
    while (!queue_.empty() && std::get<double>(queue_.top()) < most_cost_) {
      const Memory memory = std::get<Memory>(queue_.top());
      queue_.pop();
      Mark& mark = marks_[memory];
      if (mark.is_final) continue;
      mark.is_final = true;
      const double cost = mark.cost;
      if (memory.done == all_ && memory.promised == 0 && (needed_ & ~memory.held) == 0)
        return memory;
      ++steps_;
      if (IsStopped()) return std::nullopt;
      if (IsBeaten(memory, cost)) continue;
      for (Node i = 0; i < task_.size(); ++i) {
        if (CanRun(memory, i)) RunNode(memory, i, cost);
      }
    }
    return std::nullopt;
  }

  // By a state with the same nodes done, all of these lives and perhaps more in memory, at no
  // higher cost.
  bool IsBeaten(const Memory& memory, double cost) {
    std::vector<std::pair<Memory, double>>& others = settled_[memory.done];
    const bool is_beaten = std::ranges::any_of(others, [&](const auto& other) {
      return (memory.held & ~other.first.held) == 0 &&
             (other.first.promised & ~memory.promised) == 0 && other.second <= cost;
    });
    if (!is_beaten) others.emplace_back(memory, cost);
    return is_beaten;
  }

  // With each set of operands that end there, as results may be written over these.
  void RunNode(const Memory& memory, Node node, double cost) {
    const bool is_done = Has(memory.done, node);
    const double next = cost + (is_done ? task_.costs[node] : 0);
    const Set makes = sets_.makes[node];
    // What lasts is there twice if it is made again.
    const int64_t twice = is_done ? sets_.BytesOf(makes & sets_.lasting) : 0;
    const Set promised = memory.promised & ~sets_.reads[node];
    const Set fixed = sets_.reads[node] | (memory.held & sets_.lasting) | promised | makes;
    const int64_t least = sets_.BytesOf(fixed) + twice + task_.problem.inner[node];
    const Nodes done = memory.done | (Nodes{1} << node);
    const Set useful = UsefulIn(done) | sets_.lasting;
    if ((promised & ~useful) != 0) return;
    // What nobody can read any more ends in any case.
    const Set gone = sets_.overwritten[node];
    const Set ended = sets_.endable[node] & (gone | ~useful);
    const Set endable = sets_.endable[node] & useful & ~promised & ~gone;
    for (Set ends = endable;; ends = (ends - 1) & endable) {
      const int64_t saved = Saved(node, ended | ends);
      Set stays = 0;
      for (Set left = endable & ~ends; left != 0; left &= left - 1) {
        const Set one = left & -left;
        if (Saved(node, ended | ends | one) < saved) stays |= one;
      }
      Keep(memory.held & ~fixed, fixed & ~ends, limit_ - least + saved, [&](Set held) {
        Reach({done, held & useful & ~gone, promised | stays}, next, memory, node);
      });
      if (ends == 0) break;
    }
  }

  // With each part of `rest` of at most `room` bytes to which nothing can be added.
  template <typename Reacher>
  void Keep(Set rest, Set kept, int64_t room, const Reacher& reach) {
    if (room < 0) return;
    const int64_t bytes = sets_.BytesOf(rest);
    if (bytes <= room) return reach(kept | rest);
    choices_.clear();
    for (Set left = rest; left != 0; left &= left - 1)
      choices_.push_back(static_cast<uint32_t>(std::countr_zero(left)));
    const std::vector<uint32_t> choices = choices_;
    Pick(choices, 0, kept, room, std::numeric_limits<int64_t>::max(), reach);
  }
  // `least`: the smallest that was left out.
  template <typename Reacher>
  void Pick(std::span<const uint32_t> choices, size_t k, Set kept, int64_t room, int64_t least,
            const Reacher& reach) {
    ++picks_;
    if (k == choices.size()) {
      if (least > room) reach(kept);
      return;
    }
    if (IsStopped()) return;
    const int64_t bytes = sets_.bytes[choices[k]];
    if (bytes <= room) Pick(choices, k + 1, kept | Only(choices[k]), room - bytes, least, reach);
    if (bytes > 0) Pick(choices, k + 1, kept, room, std::min(least, bytes), reach);
  }

  [[nodiscard]] int64_t Saved(Node node, Set ends) const {
    int64_t saved = 0;
    uint32_t done = kNoVersion;
    for (const order::Overwrite& overwrite : task_.problem.overwrites_at(node)) {
      const Set bit = Only(overwrite.operand);
      const order::Life& operand = task_.problem.lives[overwrite.operand];
      if (overwrite.output == done || (ends & bit) == 0 || operand.is_capped) continue;
      done = overwrite.output;
      ends &= ~bit;
      saved += std::min(task_.problem.lives[overwrite.output].size, operand.size);
    }
    return saved;
  }

  void Reach(const Memory& memory, double cost, const Memory& from, Node node) {
    const auto [entry, is_new] = marks_.try_emplace(memory);
    Mark& mark = entry->second;
    if (!is_new && (mark.is_final || mark.cost <= cost)) return;
    const double to_come = CostToCome(memory);
    mark = {.cost = cost, .from = from, .node = node, .is_final = to_come == kNever};
    if (to_come != kNever)
      queue_.emplace(cost + to_come, std::popcount(all_ & ~memory.done), memory);
  }

  [[nodiscard]] Sequence SequenceTo(Memory memory) {
    Sequence sequence;
    while (marks_[memory].node != kNoNode) {
      sequence.push_back(marks_[memory].node);
      memory = marks_[memory].from;
    }
    std::ranges::reverse(sequence);
    return sequence;
  }
  [[nodiscard]] Point PointAt(const Memory& memory) {
    Point point = {.cost = marks_[memory].cost, .peak = 0, .sequence = SequenceTo(memory)};
    point.peak = FindPeak(task_, point.sequence);
    return point;
  }

  const Task& task_;
  const std::function<bool()>& should_stop_;
  const size_t most_steps_;
  const Sets sets_;
  Nodes all_ = 0;
  Memory start_;
  Set needed_ = 0;  // at the end
  double most_cost_ = kNever;
  int64_t limit_ = 0;
  std::unordered_map<Memory, Mark, HashOfMemory> marks_;
  std::unordered_map<Nodes, std::vector<std::pair<Memory, double>>> settled_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  std::vector<uint32_t> choices_;
  size_t steps_ = 0;
  size_t picks_ = 0;
  bool is_stopped_ = false;
};

}  // namespace

ExactPart SolveFromAbove(const Task& task, const std::function<bool()>& should_stop) {
  if (task.size() > kMostExactNodes || task.problem.lives.size() > kMostExactLives) return {};
  return ExactSearch(task, should_stop, kMostSteps).Run();
}

std::optional<ExactStretch> SolveStretch(const Task& task, const ExactEnds& ends, int64_t limit,
                                         double most_cost, size_t most_steps) {
  if (task.size() > kMostExactNodes || task.problem.lives.size() > kMostExactLives)
    return std::nullopt;
  const std::function<bool()> never;
  return ExactSearch(task, never, most_steps).RunStretch(ends, limit, most_cost);
}

std::optional<Curve> SolveExactly(const Task& task, const std::function<bool()>& should_stop) {
  ExactPart part = SolveFromAbove(task, should_stop);
  if (!part.is_whole) return std::nullopt;
  return std::move(part.curve);
}

}  // namespace stowplan::fit
