// SPDX-License-Identifier: Apache-2.0
// Small random problems, with whichever features are wanted; always sound.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "stowplan/pack.h"

namespace stowplan::pack {

struct Features {
  bool alignments = false;
  bool gaps = false;
  bool pins = false;
  bool hints = false;
  bool groups = false;
  bool apart = false;
  bool pools = false;
};

inline constexpr Features kEveryFeature = {true, true, true, true, true, true, true};

class ProblemMaker {
 public:
  explicit ProblemMaker(uint32_t seed) : chance_(seed) {}

  Problem Make(size_t count, int64_t times, int64_t sizes, const Features& features) {
    Problem problem;
    for (uint32_t b = 0; b < count; ++b) {
      const int64_t start = Below(times);
      const Buffer buffer = {.size = Below(sizes + 1),
                             .start = start,
                             .end = start + 1 + Below(times - start),
                             .alignment = features.alignments ? 1 + Below(4) : 1};
      problem.buffers.push_back(buffer);
      if (features.gaps && Below(3) == 0) AddGaps(b, problem);
      if (features.hints && Below(2) == 0) problem.hints.push_back({b, Below(2 * sizes + 1)});
    }
    if (features.groups) AddGroups(problem);
    if (features.apart) AddApart(problem);
    if (features.pools) AddPools(sizes, problem);
    if (features.pins) AddPins(sizes, problem);
    return problem;
  }

  int64_t Below(int64_t n) { return static_cast<int64_t>(chance_() % static_cast<uint64_t>(n)); }

 private:
  void AddGaps(uint32_t b, Problem& problem) {
    const Buffer& buffer = problem.buffers[b];
    for (int64_t time = buffer.start; time < buffer.end;) {
      const int64_t start = time + Below(3);
      const int64_t end = start + 1 + Below(2);
      if (end > buffer.end) return;
      const int64_t low = Below(buffer.size + 1);
      const int64_t high = low + Below(buffer.size - low + 1);
      const bool is_empty = low == high || Below(2) == 0;
      problem.gaps.push_back({b, start, end, is_empty ? 0 : low, is_empty ? 0 : high});
      time = end + Below(2);
    }
  }

  void AddGroups(Problem& problem) {
    std::vector<std::vector<uint32_t>> groups(1 + static_cast<size_t>(Below(2)));
    for (uint32_t b = 0; b < problem.buffers.size(); ++b) {
      if (Below(3) == 0) groups[static_cast<size_t>(Below(std::ssize(groups)))].push_back(b);
    }
    std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
    problem.groups = groups;
  }

  void AddApart(Problem& problem) {
    const auto count = static_cast<uint32_t>(problem.buffers.size());
    for (uint32_t a = 0; a < count; ++a) {
      for (uint32_t b = a + 1; b < count; ++b) {
        if (Below(6) != 0) continue;
        problem.apart.emplace_back(a, b);
        if (!CheckProblem(problem).empty()) problem.apart.pop_back();
      }
    }
  }

  void AddPools(int64_t sizes, Problem& problem) {
    problem.pools = {{"fast", Below(2 * sizes) + 1}, {"slow", Below(3 * sizes) + sizes}};
    if (Below(2) == 0) problem.pools.push_back({"host", INT32_MAX});
    for (uint32_t b = 0; b < problem.buffers.size(); ++b) {
      if (Below(2) == 0) continue;
      PoolChoice choice = {b, {}};
      for (uint32_t p = 0; p < problem.pools.size(); ++p)
        if (Below(3) != 0) choice.pools.push_back(p);
      if (choice.pools.empty()) continue;
      if (Below(2) == 0) std::ranges::reverse(choice.pools);
      problem.choices.push_back(choice);
      if (!CheckProblem(problem).empty()) problem.choices.pop_back();
    }
  }

  void AddPins(int64_t sizes, Problem& problem) {
    for (uint32_t b = 0; b < problem.buffers.size(); ++b) {
      if (Below(4) != 0) continue;
      problem.pins.push_back({b, Below(2 * sizes + 1)});
      if (!CheckProblem(problem).empty()) problem.pins.pop_back();
    }
  }

  std::mt19937 chance_;
};

}  // namespace stowplan::pack
