// SPDX-License-Identifier: Apache-2.0
#include "pack/solve/race.h"

#include <algorithm>
#include <utility>

namespace stowplan::pack {
namespace {

// How many members of sections, or pairs, are kept at most: some hundred megabytes.
constexpr int64_t kMaxGraph = int64_t{1} << 22U;

}  // namespace

Race::Race(const Core& core, int64_t bound, Limits limits)
    : core_(core), limits_(std::move(limits)), bound_(bound), effort_(limits_.effort) {}

const Graph* Race::graph() {
  if (!std::exchange(has_looked_for_graph_, true)) graph_ = FindGraph(core_, kMaxGraph);
  return graph_ ? &*graph_ : nullptr;
}

bool Race::Take(std::span<const int64_t> offsets) {
  const int64_t height = HeightOf(core_, offsets);
  if (height >= height_) return false;
  height_ = height;
  offsets_.assign(offsets.begin(), offsets.end());
  if (limits_.on_plan) limits_.on_plan(offsets_, height_, bound_);
  return true;
}

int64_t HeightOf(const Core& core, std::span<const int64_t> offsets) {
  int64_t height = 0;
  for (size_t i = 0; i < offsets.size(); ++i)
    height = std::max(height, offsets[i] + core.items[i].size);
  return height;
}

}  // namespace stowplan::pack
