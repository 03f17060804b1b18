// SPDX-License-Identifier: Apache-2.0
#include "fit/stretch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "fit/exact.h"
#include "fit/repeat.h"

namespace stowplan::fit {
namespace {

constexpr size_t kStretchSteps = 2'000;
// How many nodes take part at most, and how many of these only occur elsewhere.
constexpr size_t kStretchNodes = 20;
constexpr size_t kStretchGuests = 5;

class StretchFinder {
 public:
  StretchFinder(const Task& task, std::span<const Node> sequence, const Trace& trace,
                Stretch stretch)
      : task_(task), sequence_(sequence), trace_(trace), stretch_(stretch) {}

  std::optional<Sequence> Solve(int64_t limit, double most_cost) {
    FindNodes();
    if (nodes_.size() > kStretchNodes || !FindLives()) return std::nullopt;
    const std::optional<ExactStretch> solved =
        SolveStretch(MakeOwnTask(), ends_, limit - besides_, most_cost, kStretchSteps);
    if (!solved) return std::nullopt;
    Sequence changed(sequence_.begin(), sequence_.begin() + stretch_.first);
    for (const Node node : solved->sequence) changed.push_back(nodes_[node]);
    changed.insert(changed.end(), sequence_.begin() + stretch_.end, sequence_.end());
    changed = WithoutUnread(task_, changed);
    if (!IsPossible(task_, changed)) return std::nullopt;
    return changed;
  }

 private:
  static constexpr uint32_t kNone = 0xffffffffU;

  void FindNodes() {
    is_done_.assign(task_.size(), 0);
    for (uint32_t p = 0; p < stretch_.first; ++p) is_done_[sequence_[p]] = 1;
    std::vector<uint8_t> is_here(task_.size(), 0);
    const auto add = [&](Node node) {
      if (is_here[node] == 0) nodes_.push_back(node);
      is_here[node] = 1;
    };
    for (uint32_t p = stretch_.first; p < stretch_.end; ++p) add(sequence_[p]);
    // Who made what is read here, the largest first.
    std::vector<std::pair<int64_t, Node>> guests;
    for (uint32_t p = stretch_.first; p < stretch_.end; ++p) {
      for (const uint32_t life : task_.reads[sequence_[p]]) {
        const order::Life& row = task_.problem.lives[life];
        if (row.begin != kNoNode && is_here[row.begin] == 0 && task_.can_repeat[row.begin] != 0)
          guests.emplace_back(-row.size, row.begin);
      }
    }
    std::ranges::sort(guests);
    size_t count = 0;
    for (const auto& [bytes, node] : guests) {
      if (count == kStretchGuests || nodes_.size() >= kStretchNodes) break;
      if (is_here[node] == 0) ++count;
      add(node);
    }
    std::ranges::sort(nodes_);
  }

  // Lives that take part, which of them are there before and needed after, and what else is there.
  // False if there are too many, or two of one.
  bool FindLives() {
    numbers_.assign(task_.problem.lives.size(), kNone);
    const auto add = [&](uint32_t life) {
      if (numbers_[life] != kNone) return;
      numbers_[life] = static_cast<uint32_t>(lives_.size());
      lives_.push_back(life);
    };
    for (const Node node : nodes_) {
      for (const uint32_t life : task_.reads[node]) add(life);
      for (const uint32_t life : task_.makes[node]) add(life);
    }
    if (lives_.size() > kMostExactLives) return false;
    for (size_t k = 0; k < nodes_.size(); ++k) ends_.done |= uint64_t{is_done_[nodes_[k]]} << k;
    // The latest version of each at both ends.
    std::vector<uint32_t> before(task_.problem.lives.size(), kNone);
    std::vector<uint32_t> after(task_.problem.lives.size(), kNone);
    for (uint32_t v = 0; v < trace_.versions.size(); ++v) {
      const Version& version = trace_.versions[v];
      if (version.begin == kAtStart || version.begin < stretch_.first) {
        if (IsHeld(before[version.life], stretch_.first)) {
          // One that is returned, and one that was made again.
          if (numbers_[version.life] != kNone) return false;
          besides_ += SizeOf(version.life);
        }
        before[version.life] = v;
      }
      if (version.begin == kAtStart || version.begin < stretch_.end) after[version.life] = v;
    }
    for (uint32_t life = 0; life < before.size(); ++life) {
      if (numbers_[life] == kNone) {
        if (IsHeld(before[life], stretch_.first)) besides_ += SizeOf(life);
        continue;
      }
      const uint64_t bit = uint64_t{1} << numbers_[life];
      if (IsHeld(before[life], stretch_.first)) ends_.held |= bit;
      if (IsHeld(after[life], stretch_.end)) ends_.needed |= bit;
    }
    return true;
  }
  // Whether a version is there at a place and later.
  [[nodiscard]] bool IsHeld(uint32_t version, uint32_t place) const {
    return version != kNone && trace_.versions[version].last >= place;
  }
  [[nodiscard]] int64_t SizeOf(uint32_t life) const {
    const order::Life& row = task_.problem.lives[life];
    return row.is_capped ? 0 : row.size;
  }

  [[nodiscard]] Task MakeOwnTask() const {
    order::ProblemParts parts;
    std::vector<double> costs;
    std::vector<uint8_t> can_repeat;
    std::vector<Node> own(task_.size(), kNoNode);
    for (Node k = 0; k < nodes_.size(); ++k) own[nodes_[k]] = k;
    const auto own_of = [&](Node node) { return node == kNoNode ? kNoNode : own[node]; };
    std::vector<Node> overwriters;
    for (const uint32_t life : lives_) {
      order::Life row = task_.problem.lives[life];
      row.begin = own_of(row.begin);
      parts.lives.push_back(row);
      overwriters.push_back(own_of(task_.overwriters[life]));
      parts.touches.emplace_back();
      for (const Node touch : task_.problem.touches[life]) {
        if (own[touch] != kNoNode) parts.touches.back().push_back(own[touch]);
      }
    }
    for (const Node node : nodes_) {
      parts.inner.push_back(task_.problem.inner[node]);
      costs.push_back(task_.costs[node]);
      can_repeat.push_back(task_.can_repeat[node]);
      for (const Node before : task_.problem.before[node]) {
        if (own[before] != kNoNode) parts.edges.emplace_back(own[before], own[node]);
      }
      for (const order::Overwrite& overwrite : task_.problem.overwrites_at(node)) {
        if (numbers_[overwrite.output] != kNone && numbers_[overwrite.operand] != kNone)
          parts.overwrites.push_back(
              {own[node], numbers_[overwrite.output], numbers_[overwrite.operand]});
      }
    }
    return MakeTask(order::MakeProblem(std::move(parts)), std::move(costs), std::move(can_repeat),
                    std::move(overwriters), {}, true);
  }

  const Task& task_;
  const std::span<const Node> sequence_;
  const Trace& trace_;
  const Stretch stretch_;
  std::vector<uint8_t> is_done_;   // by node: before the stretch
  std::vector<Node> nodes_;        // ascending
  std::vector<uint32_t> lives_;    // of the nodes
  std::vector<uint32_t> numbers_;  // by life: in `lives_`
  ExactEnds ends_;
  int64_t besides_ = 0;  // bytes that are there all the time
};

}  // namespace

std::optional<Sequence> SolveStretchOf(const Task& task, std::span<const Node> sequence,
                                       const Trace& trace, Stretch stretch, int64_t limit,
                                       double most_cost) {
  return StretchFinder(task, sequence, trace, stretch).Solve(limit, most_cost);
}

double CostOf(const Task& task, std::span<const Node> sequence, Stretch stretch) {
  std::vector<uint8_t> is_done(task.size(), 0);
  double cost = 0;
  for (uint32_t p = 0; p < stretch.end; ++p) {
    if (p >= stretch.first && is_done[sequence[p]] != 0) cost += task.costs[sequence[p]];
    is_done[sequence[p]] = 1;
  }
  return cost;
}

}  // namespace stowplan::fit
