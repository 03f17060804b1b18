// SPDX-License-Identifier: Apache-2.0
#include "fit/arrange.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "order/solve.h"

namespace stowplan::fit {
namespace {

// How many nodes all cuts of one search may have together, and how many cuts there are at least.
constexpr size_t kCutEffort = 1'000'000;
constexpr size_t kLeastCuts = 20;

// Occurrences become nodes, and versions lives.
order::ProblemParts PartsOf(const Task& task, std::span<const Node> sequence, const Trace& trace) {
  order::ProblemParts parts;
  const auto count = static_cast<uint32_t>(sequence.size());
  parts.touches.resize(trace.versions.size());
  std::vector<uint32_t> first(task.size(), kAtStart);
  std::vector<uint8_t> has_version(task.problem.lives.size(), 0);
  for (uint32_t v = 0; v < trace.versions.size(); ++v) {
    const Version& version = trace.versions[v];
    order::Life life = task.problem.lives[version.life];
    life.begin = version.begin == kAtStart ? kNoNode : version.begin;
    // What is returned is what the first occurrence has made.
    life.lasts = life.lasts && has_version[version.life] == 0;
    has_version[version.life] = 1;
    parts.lives.push_back(life);
  }
  for (uint32_t p = 0; p < count; ++p) {
    const Node node = sequence[p];
    parts.inner.push_back(task.problem.inner[node]);
    const std::span<const uint32_t> reads = trace.reads_at(task, node, p);
    for (const uint32_t v : reads) {
      parts.touches[v].push_back(p);
      if (trace.versions[v].begin != kAtStart) parts.edges.emplace_back(trace.versions[v].begin, p);
    }
    if (first[node] == kAtStart) {
      first[node] = p;
      for (const Node before : task.problem.before[node])
        parts.edges.emplace_back(first[before], p);
    }
    for (const order::Overwrite& overwrite : task.problem.overwrites_at(node)) {
      const auto output = std::ranges::find(task.makes[node], overwrite.output);
      const auto operand = std::ranges::find(task.reads[node], overwrite.operand);
      if (output == task.makes[node].end() || operand == task.reads[node].end()) continue;
      parts.overwrites.push_back(
          {p, trace.made[p] + static_cast<uint32_t>(output - task.makes[node].begin()),
           reads[static_cast<size_t>(operand - task.reads[node].begin())]});
    }
  }
  // Who reads a value comes before who overwrites it, repetitions too.
  std::vector<uint32_t> overwritten(trace.versions.size(), kAtStart);  // where
  for (uint32_t p = 0; p < count; ++p) {
    const Node node = sequence[p];
    for (const uint32_t v : trace.reads_at(task, node, p)) {
      if (task.overwriters[trace.versions[v].life] == node) overwritten[v] = p;
    }
  }
  for (uint32_t p = 0; p < count; ++p) {
    for (const uint32_t v : trace.reads_at(task, sequence[p], p)) {
      const Node overwriter = task.overwriters[trace.versions[v].life];
      if (overwriter == kNoNode) continue;
      const uint32_t end = overwritten[v] != kAtStart ? overwritten[v] : first[overwriter];
      if (end != kAtStart && end > p) parts.edges.emplace_back(p, end);
    }
  }
  return parts;
}

}  // namespace

Sequence Arrange(const Task& task, std::span<const Node> sequence,
                 const std::function<bool()>& should_stop, std::optional<int64_t> effort) {
  Trace trace;
  FindTrace(task, sequence, trace);
  const order::Problem problem = order::MakeProblem(PartsOf(task, sequence, trace));
  const auto most_cuts = std::max(kLeastCuts, kCutEffort / (sequence.size() + 1));
  size_t cuts = 0;
  const order::Answer answer = order::Solve(
      problem, {.should_stop = [&] { return ++cuts > most_cuts || (should_stop && should_stop()); },
                .effort = effort,
                .needs_bound = false});
  Sequence arranged;
  arranged.reserve(sequence.size());
  for (const Node place : answer.order) arranged.push_back(sequence[place]);
  if (!IsPossible(task, arranged) || FindPeak(task, arranged) >= trace.peak)
    return {sequence.begin(), sequence.end()};
  return arranged;
}

Sequence WithoutRepetitions(const Task& task, std::span<const Node> sequence) {
  std::vector<uint8_t> is_done(task.size(), 0);
  Sequence once;
  once.reserve(task.size());
  for (const Node node : sequence) {
    if (is_done[node] == 0) once.push_back(node);
    is_done[node] = 1;
  }
  return once;
}

}  // namespace stowplan::fit
