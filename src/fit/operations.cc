// SPDX-License-Identifier: Apache-2.0
#include "fit/operations.h"

#include <algorithm>
#include <utility>

namespace stowplan::fit {
namespace {

constexpr uint32_t kNoOperation = 0xffffffffU;
// So many clusters later, what was computed inside another one is computed again.
constexpr size_t kFar = 48;

std::vector<uint32_t> MakersOf(const Operations& program) {
  std::vector<uint32_t> makers(program.sizes.size(), kNoOperation);
  for (uint32_t i = 0; i < program.operations.size(); ++i) {
    for (const uint32_t value : program.operations[i].makes) makers[value] = i;
  }
  return makers;
}

}  // namespace

const char* FindMistake(const Operations& program) {
  const size_t count = program.sizes.size();
  if (program.is_result.size() != count)
    return "each value has a size and says whether it is a result";
  if (std::ranges::any_of(program.sizes, [](int64_t size) { return size < 0; }))
    return "a value has a negative size";
  for (const Operation& operation : program.operations) {
    for (const uint32_t value : operation.makes) {
      if (value >= count) return "an operation makes a value that does not exist";
    }
    for (const uint32_t value : operation.reads) {
      if (value >= count) return "an operation reads a value that does not exist";
    }
  }
  std::vector<uint32_t> makers(count, kNoOperation);
  for (uint32_t i = 0; i < program.operations.size(); ++i) {
    for (const uint32_t value : program.operations[i].makes) {
      if (makers[value] != kNoOperation) return "a value is made twice";
      makers[value] = i;
    }
  }
  for (uint32_t i = 0; i < program.operations.size(); ++i) {
    for (const uint32_t value : program.operations[i].reads) {
      if (makers[value] != kNoOperation && makers[value] >= i)
        return "a value is read before it is made";
    }
  }
  return "";
}

Clusters Singles(const Operations& program) {
  Clusters clusters(program.operations.size());
  for (uint32_t i = 0; i < clusters.size(); ++i) clusters[i] = {i};
  return clusters;
}

Clusters Cluster(const Operations& program) {
  const std::vector<Operation>& operations = program.operations;
  std::vector<std::vector<uint32_t>> readers(program.sizes.size());
  for (uint32_t i = 0; i < operations.size(); ++i) {
    for (const uint32_t value : operations[i].reads) readers[value].push_back(i);
  }
  // By operation: the operations at the ends of the clusters it is in.
  std::vector<std::vector<uint32_t>> ends(operations.size());
  for (uint32_t i = static_cast<uint32_t>(operations.size()); i-- > 0;) {
    const Operation& operation = operations[i];
    std::vector<uint32_t> around;
    bool is_inside = operation.is_absorbed && operation.can_repeat && operation.makes.size() == 1 &&
                     program.is_result[operation.makes[0]] == 0;
    if (is_inside) {
      for (const uint32_t reader : readers[operation.makes[0]]) {
        is_inside = is_inside && operations[reader].absorbs;
        around.insert(around.end(), ends[reader].begin(), ends[reader].end());
      }
      std::ranges::sort(around);
      around.erase(std::ranges::unique(around).begin(), around.end());
      is_inside = is_inside && !around.empty() && (around.size() == 1 || operation.is_spread);
    }
    if (is_inside)
      ends[i] = std::move(around);
    else
      ends[i] = {i};
  }
  std::vector<uint32_t> clusters_of(operations.size(), kNoOperation);  // by operation at the end
  Clusters clusters;
  for (uint32_t i = 0; i < operations.size(); ++i) {
    if (ends[i].size() != 1 || ends[i][0] != i) continue;
    clusters_of[i] = static_cast<uint32_t>(clusters.size());
    clusters.emplace_back();
  }
  for (uint32_t i = 0; i < operations.size(); ++i) {
    for (const uint32_t end : ends[i]) clusters[clusters_of[end]].push_back(i);
  }
  return clusters;
}

Task TaskOf(const Operations& program, const Clusters& clusters) {
  const std::vector<uint32_t> makers = MakersOf(program);
  std::vector<Node> nodes(program.operations.size(), kNoNode);  // by operation at the end
  for (Node i = 0; i < clusters.size(); ++i) nodes[clusters[i].back()] = i;

  order::ProblemParts parts;
  parts.inner.resize(clusters.size(), 0);
  std::vector<double> costs(clusters.size(), 0);
  std::vector<uint8_t> can_repeat(clusters.size(), 1);
  std::vector<uint32_t> lives(program.sizes.size(), 0xffffffffU);  // by value
  std::vector<uint32_t> rounds(program.operations.size(), kNoOperation);
  Node ordered = kNoNode;
  for (Node i = 0; i < clusters.size(); ++i) {
    for (const uint32_t k : clusters[i]) rounds[k] = i;
    const Operation& end = program.operations[clusters[i].back()];
    for (const uint32_t value : end.makes) {
      lives[value] = static_cast<uint32_t>(parts.lives.size());
      parts.lives.push_back({program.sizes[value], i, program.is_result[value] != 0, false});
      parts.touches.push_back({i});
    }
    for (const uint32_t k : clusters[i]) {
      const Operation& operation = program.operations[k];
      parts.inner[i] = std::max(parts.inner[i], operation.inner);
      costs[i] += operation.cost;
      if (!operation.can_repeat) can_repeat[i] = 0;
      if (operation.is_ordered) {
        if (ordered != kNoNode && ordered != i) parts.edges.emplace_back(ordered, i);
        ordered = i;
      }
      for (const uint32_t value : operation.reads) {
        const uint32_t maker = makers[value];
        if (maker != kNoOperation && rounds[maker] == i) continue;
        if (maker == kNoOperation && lives[value] == 0xffffffffU) {
          lives[value] = static_cast<uint32_t>(parts.lives.size());
          parts.lives.push_back({program.sizes[value], kNoNode, false, false});
          parts.touches.emplace_back();
        }
        const uint32_t life = lives[value];
        if (parts.touches[life].empty() || parts.touches[life].back() != i)
          parts.touches[life].push_back(i);
        if (maker != kNoOperation) parts.edges.emplace_back(nodes[maker], i);
        if (end.absorbs && end.makes.size() == 1 && maker != kNoOperation &&
            program.sizes[value] == program.sizes[end.makes[0]] && program.sizes[value] > 0)
          parts.overwrites.push_back({i, lives[end.makes[0]], life});
      }
    }
  }
  const size_t life_count = parts.lives.size();
  return MakeTask(order::MakeProblem(std::move(parts)), std::move(costs), std::move(can_repeat),
                  std::vector<Node>(life_count, kNoNode));
}

std::vector<uint32_t> Spell(const Operations& program, const Clusters& clusters,
                            std::span<const Node> sequence, int64_t least_bytes) {
  std::vector<uint8_t> is_done(clusters.size(), 0);
  std::vector<size_t> made(program.operations.size(), 0);  // the last place so far, and one more
  std::vector<uint32_t> spelled;
  const auto is_near = [&](uint32_t operation, size_t place) {
    if (made[operation] == 0) return false;
    const std::vector<uint32_t>& makes = program.operations[operation].makes;
    return made[operation] + kFar > place ||
           (!makes.empty() && program.sizes[makes[0]] < least_bytes);
  };
  for (size_t place = 0; place < sequence.size(); ++place) {
    const Node node = sequence[place];
    for (const uint32_t operation : clusters[node]) {
      if (is_done[node] == 0 && is_near(operation, place)) continue;
      made[operation] = place + 1;
      spelled.push_back(operation);
    }
    is_done[node] = 1;
  }
  return spelled;
}

}  // namespace stowplan::fit
