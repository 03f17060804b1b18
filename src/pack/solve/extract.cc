// SPDX-License-Identifier: Apache-2.0
#include "pack/solve/extract.h"

namespace stowplan::pack {

Problem Extract(const Problem& problem, std::span<const uint32_t> buffers) {
  constexpr uint32_t kLeftOut = UINT32_MAX;
  std::vector<uint32_t> number(problem.buffers.size(), kLeftOut);
  Problem part;
  part.buffers.reserve(buffers.size());
  for (const uint32_t b : buffers) {
    number[b] = static_cast<uint32_t>(part.buffers.size());
    part.buffers.push_back(problem.buffers[b]);
  }
  const auto take = [&](const auto& from, auto& to) {
    for (auto entry : from) {
      if (number[entry.buffer] == kLeftOut) continue;
      entry.buffer = number[entry.buffer];
      to.push_back(entry);
    }
  };
  take(problem.gaps, part.gaps);
  take(problem.pins, part.pins);
  take(problem.hints, part.hints);
  for (std::vector<uint32_t> group : problem.groups) {
    if (group.empty() || number[group.front()] == kLeftOut) continue;
    for (uint32_t& member : group) member = number[member];
    part.groups.push_back(std::move(group));
  }
  for (const auto& [a, b] : problem.apart) {
    if (number[a] != kLeftOut && number[b] != kLeftOut)
      part.apart.emplace_back(number[a], number[b]);
  }
  return part;
}

}  // namespace stowplan::pack
