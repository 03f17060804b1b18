// SPDX-License-Identifier: Apache-2.0
#include "fit/repeat.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace stowplan::fit {
namespace {

class Repeater {
 public:
  Repeater(const Task& task, std::span<const Node> sequence, uint32_t place,
           std::span<const uint8_t> is_chosen)
      : task_(task),
        sequence_(sequence),
        place_(place),
        is_chosen_(is_chosen),
        latest_(task.size(), kNone),
        times_(task.size(), 0) {}

  std::variant<Sequence, Refused> Run() && {
    out_.reserve(sequence_.size());
    for (uint32_t p = 0; p <= place_; ++p) Emit(sequence_[p], p);
    for (uint32_t p = place_ + 1; p < sequence_.size(); ++p) {
      if (!Provide(sequence_[p])) return refused_;
      Emit(sequence_[p], p);
    }
    Sequence read = WithoutUnread(task_, out_);
    // A repetition may overwrite what another one was made for.
    if (HasChains(task_) && !IsPossible(task_, read)) return Refused{AnyOverwritten()};
    return read;
  }

 private:
  static constexpr uint32_t kNone = 0xffffffffU;

  // A chosen occurrence whose result is overwritten, or any.
  [[nodiscard]] uint32_t AnyOverwritten() const {
    uint32_t any = 0;
    for (uint32_t p = 0; p <= place_; ++p) {
      if (is_chosen_[p] == 0) continue;
      any = p;
      if (std::ranges::any_of(task_.makes[sequence_[p]],
                              [&](uint32_t life) { return task_.overwriters[life] != kNoNode; }))
        return p;
    }
    return any;
  }

  void Emit(Node node, uint32_t place) {
    out_.push_back(node);
    latest_[node] = place;
    times_[node] = static_cast<uint32_t>(out_.size());
  }
  // Where the node that makes the life has to be repeated before it can be read.
  [[nodiscard]] bool IsMissing(uint32_t life) const {
    const Node node = task_.problem.lives[life].begin;
    if (node == kNoNode) return false;
    const uint32_t latest = latest_[node];
    return latest <= place_ && is_chosen_[latest] != 0;
  }
  [[nodiscard]] bool CanRepeat(uint32_t life) const {
    const Node node = task_.problem.lives[life].begin;
    return node != kNoNode && task_.can_repeat[node] != 0;
  }

  // Repeats what `reader` needs; false if that is not possible.
  bool Provide(Node reader) {
    stack_.assign(1, {reader, 0});
    while (!stack_.empty()) {
      auto& [node, next] = stack_.back();
      const std::span<const uint32_t> reads = task_.reads[node];
      if (next == reads.size()) {
        if (stack_.size() > 1) Repeat(node);
        stack_.pop_back();
        continue;
      }
      const uint32_t life = reads[next++];
      const bool is_lost = IsLost(task_, life, times_, 0);
      if (is_lost && !CanRepeat(life)) {
        // Only what was chosen can be left out the next time.
        const uint32_t latest = latest_[node];
        const bool is_own = stack_.size() > 1 && latest <= place_ && is_chosen_[latest] != 0;
        refused_ = {is_own ? latest : AnyOverwritten()};
        return false;
      }
      if (is_lost || IsMissing(life)) stack_.emplace_back(task_.problem.lives[life].begin, 0);
    }
    return true;
  }
  // Two readers on the stack may need the same.
  void Repeat(Node node) {
    const bool is_lost = std::ranges::any_of(
        task_.makes[node], [&](uint32_t life) { return IsLost(task_, life, times_, 0); });
    if (is_lost || latest_[node] <= place_) Emit(node, kNew);
  }
  static constexpr uint32_t kNew = 0xfffffffeU;

  const Task& task_;
  const std::span<const Node> sequence_;
  const uint32_t place_;
  const std::span<const uint8_t> is_chosen_;
  std::vector<uint32_t> latest_;  // by node: where its last occurrence so far was; kNew: a new one
  std::vector<uint32_t> times_;   // by node: the length up to its last occurrence
  std::vector<std::pair<Node, uint32_t>> stack_;
  Sequence out_;
  Refused refused_;
};

}  // namespace

std::variant<Sequence, Refused> Repeat(const Task& task, std::span<const Node> sequence,
                                       uint32_t place, std::span<const uint8_t> is_chosen) {
  return Repeater(task, sequence, place, is_chosen).Run();
}

Sequence WithoutUnread(const Task& task, std::span<const Node> sequence) {
  std::vector<uint32_t> counts(task.size(), 0);
  for (const Node node : sequence) ++counts[node];
  std::vector<uint8_t> is_wanted(task.problem.lives.size(), 0);
  Sequence kept;
  kept.reserve(sequence.size());
  for (size_t p = sequence.size(); p-- > 0;) {
    const Node node = sequence[p];
    const std::span<const uint32_t> makes = task.makes[node];
    const bool is_read =
        std::ranges::any_of(makes, [&](uint32_t life) { return is_wanted[life] != 0; });
    if (!is_read && counts[node] > 1) {
      --counts[node];
      continue;
    }
    for (const uint32_t life : makes) is_wanted[life] = 0;
    for (const uint32_t life : task.reads[node]) is_wanted[life] = 1;
    kept.push_back(node);
  }
  std::ranges::reverse(kept);
  return kept;
}

namespace {

// The largest load of a stretch, by blocks.
class Maxima {
 public:
  explicit Maxima(std::span<int64_t> loads) : loads_(loads), blocks_(loads.size() / kBlock + 1) {
    for (size_t b = 0; b < blocks_.size(); ++b) Update(b);
  }
  [[nodiscard]] int64_t Max(size_t first, size_t end) const {
    int64_t most = 0;
    while (first < end) {
      if (first % kBlock == 0 && first + kBlock <= end) {
        most = std::max(most, blocks_[first / kBlock]);
        first += kBlock;
      } else {
        most = std::max(most, loads_[first++]);
      }
    }
    return most;
  }
  void Add(size_t first, size_t end, int64_t bytes) {
    for (size_t p = first; p < end; ++p) loads_[p] += bytes;
    for (size_t b = first / kBlock; b * kBlock < end; ++b) Update(b);
  }

 private:
  static constexpr size_t kBlock = 64;
  void Update(size_t block) {
    const size_t first = block * kBlock;
    const size_t end = std::min(first + kBlock, loads_.size());
    blocks_[block] = 0;
    for (size_t p = first; p < end; ++p) blocks_[block] = std::max(blocks_[block], loads_[p]);
  }
  std::span<int64_t> loads_;
  std::vector<int64_t> blocks_;
};

// Drops what the loads of one trace allow. Loads are kept from above: what else dropped
// occurrences free is seen by the next pass.
class Dropper {
 public:
  Dropper(const Task& task, const Sequence& sequence, int64_t limit)
      : task_(task), sequence_(sequence), limit_(limit) {
    FindTrace(task, sequence, trace_);
    previous_.assign(sequence.size(), kAtStart);
    std::vector<uint32_t> latest(task.size(), kAtStart);
    is_lost_.assign(sequence.size(), 0);
    for (uint32_t p = 0; p < sequence.size(); ++p) {
      const Node node = sequence[p];
      previous_[p] = latest[node];
      is_lost_[p] = static_cast<uint8_t>(std::ranges::any_of(
          task.makes[node], [&](uint32_t life) { return IsLost(task, life, latest, kAtStart); }));
      latest[node] = p;
    }
  }

  std::optional<Sequence> Run() && {
    std::vector<uint32_t> repetitions;
    for (uint32_t p = 0; p < sequence_.size(); ++p) {
      if (previous_[p] != kAtStart && is_lost_[p] == 0) repetitions.push_back(p);
    }
    std::ranges::stable_sort(repetitions, std::greater(),
                             [&](uint32_t p) { return task_.costs[sequence_[p]]; });
    Maxima maxima(trace_.loads);
    std::vector<uint8_t> is_dropped(sequence_.size(), 0);
    bool has_dropped = false;
    for (const uint32_t p : repetitions) {
      // One of a node's repetitions in each pass: the next one's predecessor may be gone.
      const uint32_t before = previous_[p];
      if (is_dropped[before] != 0 || !Fits(maxima, before, p)) continue;
      is_dropped[p] = 1;
      has_dropped = true;
    }
    if (!has_dropped) return std::nullopt;
    Sequence kept;
    for (uint32_t p = 0; p < sequence_.size(); ++p) {
      if (is_dropped[p] == 0) kept.push_back(sequence_[p]);
    }
    return WithoutUnread(task_, kept);
  }

 private:
  // Reserves the room for what now lives longer.
  bool Fits(Maxima& maxima, uint32_t before, uint32_t place) {
    const std::span<const uint32_t> makes = task_.makes[sequence_[place]];
    int64_t sum = 0;
    size_t first = place;
    for (size_t k = 0; k < makes.size(); ++k) {
      const Version& version = trace_.versions[trace_.made[place] + k];
      const Version& old = trace_.versions[trace_.made[before] + k];
      if (version.last == place) continue;
      // Counting all of them from the first end on is too much for nodes of several results only.
      sum += task_.problem.lives[makes[k]].size;
      first = std::min<size_t>(first, old.last + 1);
    }
    if (maxima.Max(first, place + 1) + sum > limit_) return false;
    maxima.Add(first, place, sum);
    for (size_t k = 0; k < makes.size(); ++k) {
      Version& old = trace_.versions[trace_.made[before] + k];
      old.last = std::max(old.last, trace_.versions[trace_.made[place] + k].last);
    }
    return true;
  }

  const Task& task_;
  const Sequence& sequence_;
  const int64_t limit_;
  Trace trace_;
  std::vector<uint32_t> previous_;  // by place: the occurrence before it of the same node
  std::vector<uint8_t> is_lost_;    // by place: what that one has made is overwritten by then
};

}  // namespace

Sequence WithoutNeedless(const Task& task, Sequence sequence, int64_t limit) {
  constexpr int kPasses = 8;
  for (int pass = 0; pass < kPasses; ++pass) {
    std::optional<Sequence> less = Dropper(task, sequence, limit).Run();
    if (!less) break;
    // Overwriting can be lost where a value lives longer.
    if (FindPeak(task, *less) > limit || (HasChains(task) && !IsPossible(task, *less))) break;
    sequence = *std::move(less);
  }
  return sequence;
}

}  // namespace stowplan::fit
