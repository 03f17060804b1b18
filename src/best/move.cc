// SPDX-License-Identifier: Apache-2.0
#include "best/move.h"

#include <algorithm>
#include <numeric>

#include "base/checked_math.h"

namespace stowplan {
namespace {

// Looks at residents of hosts, all together: beyond this, what is in the heap stays there.
constexpr int64_t kMaxLooks = int64_t{1} << 27U;

// Bytes by instant: added to a span of time, asked for the highest.
class LoadTree {
 public:
  explicit LoadTree(int64_t instants) {
    while (leaves_ < static_cast<size_t>(instants)) leaves_ *= 2;
    nodes_.resize(2 * leaves_);
  }

  void Add(const Segment& segment, int64_t bytes) {
    Add(1, 0, static_cast<int64_t>(leaves_), segment, bytes);
  }

  // The first instant with the highest load.
  [[nodiscard]] int64_t Peak() const {
    size_t node = 1;
    while (node < leaves_) node = 2 * node + (nodes_[2 * node].most < nodes_[2 * node + 1].most);
    return static_cast<int64_t>(node - leaves_);
  }

 private:
  struct Node {
    int64_t added = 0;  // to all below
    int64_t most = 0;   // of all below, with what was added here
  };

  // Depth is the logarithm of the number of instants.
  void Add(size_t node, int64_t start, int64_t end, const Segment& segment, int64_t bytes) {
    if (segment.end <= start || end <= segment.start) return;
    if (segment.start <= start && end <= segment.end) {
      nodes_[node].added += bytes;
      nodes_[node].most += bytes;
      return;
    }
    const int64_t middle = start + (end - start) / 2;
    Add(2 * node, start, middle, segment, bytes);
    Add(2 * node + 1, middle, end, segment, bytes);
    nodes_[node].most =
        std::max(nodes_[2 * node].most, nodes_[2 * node + 1].most) + nodes_[node].added;
  }

  size_t leaves_ = 1;
  std::vector<Node> nodes_;
};

bool IsAlive(const Unit& unit, int64_t time) {
  return std::ranges::any_of(unit.segments, [&](const Segment& segment) {
    return segment.start <= time && time < segment.end;
  });
}

}  // namespace

std::vector<Spot> MoveToHosts(std::vector<Host> hosts, std::span<const Unit> units,
                              int64_t alignment, const Analysis& analysis, ShareRules& share) {
  std::vector<Spot> spots(units.size());
  if (hosts.empty()) return spots;
  LoadTree load(analysis.schedule.end() + 1);
  const auto change_load = [&](const Unit& unit, int64_t sign) {
    for (const Segment& segment : unit.segments)
      load.Add(segment, sign * *CheckedRoundUp(unit.size, alignment));
  };
  for (const Unit& unit : units) change_load(unit, 1);
  // Small hosts first: large ones are kept for what needs them.
  std::vector<uint32_t> by_size(hosts.size());
  std::iota(by_size.begin(), by_size.end(), 0U);
  std::ranges::stable_sort(by_size, {}, [&](uint32_t h) { return hosts[h].size; });
  // Units that no host was asked for yet, the largest first. Hosts only fill up: who found no room
  // never will.
  std::vector<uint32_t> pending;
  for (uint32_t u = 0; u < units.size(); ++u) {
    if (units[u].size <= hosts[by_size.back()].size) pending.push_back(u);
  }
  std::ranges::stable_sort(pending, std::ranges::greater(),
                           [&](uint32_t u) { return units[u].size; });
  int64_t looks = 0;
  const auto try_move = [&](uint32_t u) {
    const auto first = std::ranges::lower_bound(by_size, units[u].size, {},
                                                [&](uint32_t h) { return hosts[h].size; });
    for (auto row = first; row != by_size.end(); ++row) {
      looks += 1 + static_cast<int64_t>(hosts[*row].residents.size());
      const std::optional<int64_t> offset =
          FindRoom(hosts[*row], units[u], alignment, analysis.live, share);
      if (!offset) continue;
      MoveIn(hosts[*row], units[u], *offset, analysis.live);
      spots[u] = {*row, *offset};
      change_load(units[u], -1);
      return true;
    }
    return false;
  };
  while (looks < kMaxLooks) {
    const int64_t peak = load.Peak();
    bool has_moved = false;
    std::erase_if(pending, [&](uint32_t u) {
      if (has_moved || looks >= kMaxLooks || !IsAlive(units[u], peak)) return false;
      has_moved = try_move(u);
      return true;
    });
    if (!has_moved) break;
  }
  return spots;
}

}  // namespace stowplan
