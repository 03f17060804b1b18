// SPDX-License-Identifier: Apache-2.0
#include "fit/task.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace stowplan::fit {
namespace {

using order::Life;
using order::Overwrite;

void CloseLives(const Task& task, std::span<const Node> sequence, Trace& trace) {
  const std::vector<Life>& lives = task.problem.lives;
  std::vector<int64_t>& loads = trace.loads;
  loads.assign(sequence.size() + 1, 0);
  for (const Version& version : trace.versions) {
    const Life& life = lives[version.life];
    if (life.is_capped) continue;
    // What is returned is what the first occurrence has made.
    const uint32_t begin = version.begin == kAtStart ? 0 : version.begin;
    loads[begin] += life.size;
    loads[version.last + 1] -= life.size;
  }
  for (size_t place = 1; place < loads.size(); ++place) loads[place] += loads[place - 1];
  loads.pop_back();
}

// What is written over an operand that ends takes no room of its own.
int64_t SavedAt(const Task& task, const Trace& trace, Node node, uint32_t place) {
  int64_t saved = 0;
  uint32_t done = kNoVersion;
  uint32_t taken[8];
  size_t count = 0;
  const std::span<const uint32_t> reads = task.reads[node];
  for (const Overwrite& overwrite : task.problem.overwrites_at(node)) {
    if (overwrite.output == done || count == std::size(taken)) continue;
    const auto found = std::ranges::find(reads, overwrite.operand);
    if (found == reads.end()) continue;
    const uint32_t version =
        trace.reads[trace.read[place] + static_cast<size_t>(found - reads.begin())];
    const Life& operand = task.problem.lives[overwrite.operand];
    if (trace.versions[version].last != place || operand.is_capped || operand.lasts ||
        std::find(taken, taken + count, version) != taken + count)
      continue;
    done = overwrite.output;
    taken[count++] = version;
    saved += std::min(task.problem.lives[overwrite.output].size, operand.size);
  }
  return saved;
}

}  // namespace

Task MakeTask(order::Problem problem, std::vector<double> costs, std::vector<uint8_t> can_repeat,
              std::vector<Node> overwriters, std::vector<uint32_t> buffers,
              bool is_overwritten_repeated) {
  Task task;
  if (buffers.empty()) {
    buffers.resize(problem.lives.size());
    std::iota(buffers.begin(), buffers.end(), 0);
  }
  task.buffers = std::move(buffers);
  std::vector<std::pair<uint32_t, uint32_t>> reads;
  std::vector<std::pair<uint32_t, uint32_t>> makes;
  for (Node i = 0; i < problem.size(); ++i) {
    for (const uint32_t life : problem.touched[i]) {
      const bool begins = problem.lives[life].begin == i;
      (begins ? makes : reads).emplace_back(i, life);
      const bool is_overwritten = begins && overwriters[life] != kNoNode;
      if (problem.lives[life].is_capped || (is_overwritten && !is_overwritten_repeated))
        can_repeat[i] = 0;
    }
  }
  task.reads = Lists(problem.size(), reads);
  task.makes = Lists(problem.size(), makes);
  task.problem = std::move(problem);
  task.costs = std::move(costs);
  task.can_repeat = std::move(can_repeat);
  task.overwriters = std::move(overwriters);
  return task;
}

Sequence GivenSequence(const Task& task) {
  Sequence sequence(task.size());
  std::iota(sequence.begin(), sequence.end(), 0);
  return sequence;
}

bool HasChains(const Task& task) {
  for (uint32_t i = 0; i < task.problem.lives.size(); ++i) {
    const Node begin = task.problem.lives[i].begin;
    if (task.overwriters[i] != kNoNode && begin != kNoNode && task.can_repeat[begin] != 0)
      return true;
  }
  return false;
}

bool IsPossible(const Task& task, std::span<const Node> sequence) {
  constexpr uint32_t kNever = 0;
  std::vector<uint32_t> times(task.size(), kNever);  // the last place so far, and one more
  size_t first_ones = 0;
  for (uint32_t place = 0; place < sequence.size(); ++place) {
    const Node node = sequence[place];
    if (node >= task.size()) return false;
    const bool is_first = times[node] == kNever;
    if (!is_first && task.can_repeat[node] == 0) return false;
    for (const uint32_t life : task.reads[node]) {
      const Node begin = task.problem.lives[life].begin;
      if (begin != kNoNode && times[begin] == kNever) return false;
      if (IsLost(task, life, times, kNever)) return false;
    }
    if (is_first &&
        std::ranges::any_of(task.problem.before[node], [&](Node b) { return times[b] == kNever; }))
      return false;
    times[node] = place + 1;
    first_ones += is_first ? 1 : 0;
  }
  return first_ones == task.size();
}

double ExtraCost(const Task& task, std::span<const Node> sequence) {
  double cost = 0;
  std::vector<uint8_t> is_done(task.size(), 0);
  for (const Node node : sequence) {
    if (is_done[node] != 0) cost += task.costs[node];
    is_done[node] = 1;
  }
  return cost;
}

double WholeCost(const Task& task) {
  return std::accumulate(task.costs.begin(), task.costs.end(), 0.0);
}

void FindTrace(const Task& task, std::span<const Node> sequence, Trace& trace) {
  const std::vector<Life>& lives = task.problem.lives;
  trace.versions.clear();
  trace.made.clear();
  trace.read.clear();
  trace.reads.clear();
  std::vector<uint32_t> current(lives.size(), kNoVersion);
  const auto end = static_cast<uint32_t>(sequence.size() - (sequence.empty() ? 0 : 1));
  const auto begin = [&](uint32_t life, uint32_t place) {
    const bool is_first = current[life] == kNoVersion;
    current[life] = static_cast<uint32_t>(trace.versions.size());
    const uint32_t first = place == kAtStart ? 0 : place;
    trace.versions.push_back({life, place, is_first && lives[life].lasts ? end : first});
  };
  for (uint32_t i = 0; i < lives.size(); ++i) {
    if (lives[i].begin == kNoNode) begin(i, kAtStart);
  }
  for (uint32_t place = 0; place < sequence.size(); ++place) {
    const Node node = sequence[place];
    trace.read.push_back(static_cast<uint32_t>(trace.reads.size()));
    for (const uint32_t life : task.reads[node]) {
      Version& version = trace.versions[current[life]];
      version.last = std::max(version.last, place);
      trace.reads.push_back(current[life]);
    }
    trace.made.push_back(static_cast<uint32_t>(trace.versions.size()));
    for (const uint32_t life : task.makes[node]) begin(life, place);
  }
  CloseLives(task, sequence, trace);
  trace.peak = 0;
  trace.peak_place = 0;
  for (uint32_t place = 0; place < sequence.size(); ++place) {
    const Node node = sequence[place];
    trace.loads[place] += task.problem.inner[node] - SavedAt(task, trace, node, place);
    if (place == 0 || trace.loads[place] > trace.peak) {
      trace.peak = trace.loads[place];
      trace.peak_place = place;
    }
  }
}

int64_t FindPeak(const Task& task, std::span<const Node> sequence) {
  Trace trace;
  FindTrace(task, sequence, trace);
  return trace.peak;
}

}  // namespace stowplan::fit
