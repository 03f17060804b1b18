// SPDX-License-Identifier: Apache-2.0
// Whether a plan is one.
#include <algorithm>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "pack/problem/overlaps.h"
#include "stowplan/pack.h"

namespace stowplan::pack {
namespace {

constexpr size_t kMaxComplaints = 20;

class PlanChecker {
 public:
  PlanChecker(const Problem& problem, const Plan& plan, const Names& ids)
      : problem_(problem), plan_(plan), ids_(ids) {}

  std::vector<std::string> Check() && {
    if (!HasAllRows()) return std::move(complaints_);
    CheckPlaces();
    CheckGroups();
    // What follows adds to offsets, and takes those of a group for one.
    if (!complaints_.empty()) return std::move(complaints_);
    CheckHeight();
    CheckPins();
    CheckApart();
    CheckPools();
    for (const Overlap& overlap : FindOverlaps(problem_, plan_.offsets, plan_.pools, left())) {
      Complain("buffers {} and {} share bytes at time {}", Name(overlap.first),
               Name(overlap.second), overlap.time);
    }
    return std::move(complaints_);
  }

 private:
  template <class... Words>
  void Complain(fmt::format_string<Words...> format, Words&&... words) {
    if (left() > 0) complaints_.push_back(fmt::format(format, std::forward<Words>(words)...));
  }
  [[nodiscard]] size_t left() const { return kMaxComplaints - complaints_.size(); }
  [[nodiscard]] std::string Name(size_t buffer) const {
    return ids_.empty() ? std::to_string(buffer) : fmt::format("`{}`", ids_[buffer]);
  }

  bool HasAllRows() {
    const size_t count = problem_.buffers.size();
    if (plan_.offsets.size() != count)
      Complain("the plan has {} offsets for {} buffers", plan_.offsets.size(), count);
    const size_t pools = problem_.pools.empty() ? 0 : count;
    if (plan_.pools.size() != pools)
      Complain("the plan names {} pools, where {} are wanted", plan_.pools.size(), pools);
    return complaints_.empty();
  }

  void CheckPlaces() {
    for (size_t b = 0; b < problem_.buffers.size(); ++b) {
      const Buffer& buffer = problem_.buffers[b];
      const int64_t offset = plan_.offsets[b];
      if (offset < 0 || !CheckedAdd(offset, buffer.size)) {
        Complain("buffer {} lies at {}", Name(b), offset);
      } else if (offset % buffer.alignment != 0) {
        Complain("buffer {} lies at {}, which is no multiple of {}", Name(b), offset,
                 buffer.alignment);
      }
      if (!plan_.pools.empty() && plan_.pools[b] >= problem_.pools.size())
        Complain("buffer {} is in pool {} of {}", Name(b), plan_.pools[b], problem_.pools.size());
    }
  }

  void CheckHeight() {
    int64_t height = 0;
    for (size_t b = 0; b < problem_.buffers.size(); ++b) {
      if (plan_.pools.empty() || plan_.pools[b] + 1 == problem_.pools.size())
        height = std::max(height, plan_.offsets[b] + problem_.buffers[b].size);
    }
    if (height != plan_.height) Complain("the plan is {} high, and says {}", height, plan_.height);
  }

  void CheckPins() {
    for (const Spot& pin : problem_.pins) {
      if (plan_.offsets[pin.buffer] != pin.offset) {
        Complain("buffer {} lies at {}, and is pinned to {}", Name(pin.buffer),
                 plan_.offsets[pin.buffer], pin.offset);
      }
    }
  }

  void CheckGroups() {
    for (const std::vector<uint32_t>& group : problem_.groups) {
      for (const uint32_t member : group) {
        if (plan_.offsets[member] != plan_.offsets[group.front()])
          Complain("buffers {} and {} of one group lie at {} and {}", Name(group.front()),
                   Name(member), plan_.offsets[group.front()], plan_.offsets[member]);
        else if (!AreInOnePool(member, group.front()))
          Complain("buffers {} and {} of one group are in two pools", Name(group.front()),
                   Name(member));
      }
    }
  }

  [[nodiscard]] bool AreInOnePool(uint32_t a, uint32_t b) const {
    return plan_.pools.empty() || plan_.pools[a] == plan_.pools[b];
  }

  void CheckApart() {
    for (const auto& [a, b] : problem_.apart) {
      const int64_t low = std::max(plan_.offsets[a], plan_.offsets[b]);
      const int64_t high = std::min(plan_.offsets[a] + problem_.buffers[a].size,
                                    plan_.offsets[b] + problem_.buffers[b].size);
      if (low < high && AreInOnePool(a, b))
        Complain("buffers {} and {} must be apart, and share byte {}", Name(a), Name(b), low);
    }
  }

  void CheckPools() {
    if (plan_.pools.empty()) return;
    for (size_t b = 0; b < problem_.buffers.size(); ++b) {
      const Pool& pool = problem_.pools[plan_.pools[b]];
      const int64_t end = plan_.offsets[b] + problem_.buffers[b].size;
      if (end > pool.capacity)
        Complain("buffer {} ends at {} in pool {}, which has {}", Name(b), end, pool.name,
                 pool.capacity);
    }
    for (const PoolChoice& choice : problem_.choices) {
      const uint32_t pool = plan_.pools[choice.buffer];
      if (std::ranges::find(choice.pools, pool) == choice.pools.end())
        Complain("buffer {} is in pool {}, where it may not be", Name(choice.buffer),
                 problem_.pools[pool].name);
    }
  }

  const Problem& problem_;
  const Plan& plan_;
  const Names& ids_;
  std::vector<std::string> complaints_;
};

}  // namespace

std::vector<std::string> CheckPlan(const Problem& problem, const Plan& plan, const Names& ids) {
  std::vector<std::string> mistakes;
  for (Diagnostic& mistake : CheckProblem(problem, ids))
    mistakes.push_back(std::move(mistake.message));
  return mistakes.empty() ? PlanChecker(problem, plan, ids).Check() : mistakes;
}

}  // namespace stowplan::pack
