// SPDX-License-Identifier: Apache-2.0
#include "explain/spaces.h"

#include <algorithm>
#include <map>

namespace stowplan::explain {
namespace {

int64_t AlignmentOf(const report::Report& report, const Space& space) {
  constexpr uint64_t kMost = 4096;
  uint64_t offsets = 0;
  for (const report::ValueId id : space.values) {
    const report::Value& value = report.values[id];
    if (!report.allocations[value.allocation].is_thread_local)
      offsets |= static_cast<uint64_t>(value.offset);
  }
  if (offsets == 0) return 1;
  return static_cast<int64_t>(std::min(kMost, offsets & (~offsets + 1)));
}

}  // namespace

std::vector<Space> SpacesOf(const report::Report& report) {
  std::map<int64_t, size_t> rows;  // by color
  for (const report::Allocation& allocation : report.allocations.rows())
    rows.try_emplace(allocation.color);
  std::vector<Space> spaces;
  spaces.reserve(rows.size());
  for (auto& [color, row] : rows) {
    row = spaces.size();
    spaces.push_back({.color = color});
  }
  std::vector<uint32_t> space_of;  // by allocation
  space_of.reserve(report.allocations.size());
  for (uint32_t i = 0; i < report.allocations.size(); ++i) {
    const report::AllocationId id(i);
    const size_t row = rows[report.allocations[id].color];
    spaces[row].allocations.push_back(id);
    space_of.push_back(static_cast<uint32_t>(row));
  }
  for (uint32_t i = 0; i < report.values.size(); ++i) {
    const report::AllocationId allocation = report.values[report::ValueId(i)].allocation;
    if (!allocation.is_none()) spaces[space_of[allocation.index]].values.emplace_back(i);
  }
  for (Space& space : spaces) space.alignment = AlignmentOf(report, space);
  return spaces;
}

const Space* Picture::FindSpace(int64_t color) const {
  const auto found = std::ranges::lower_bound(spaces, color, {}, &Space::color);
  return found == spaces.end() || found->color != color ? nullptr : &*found;
}

}  // namespace stowplan::explain
