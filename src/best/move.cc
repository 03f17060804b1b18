// SPDX-License-Identifier: Apache-2.0
#include "best/move.h"

#include <algorithm>
#include <numeric>

#include "base/checked_math.h"

namespace stowplan {
namespace {

// Looks at residents of hosts and at units, all together: beyond this, what is in the heap stays
// there.
constexpr int64_t kMaxLooks = int64_t{1} << 25U;

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

// How long the host stays free around the unit.
int64_t IdleTime(const Host& host, const Unit& unit, int64_t end) {
  const Segment hull = unit.hull();
  int64_t before = -1;
  int64_t behind = end + 1;
  for (const Host::Resident& resident : host.residents) {
    if (resident.range.end < hull.start) before = std::max(before, resident.range.end);
    if (resident.range.start >= hull.end) behind = std::min(behind, resident.range.start);
  }
  return hull.start - before + behind - hull.end;
}

class Mover {
 public:
  Mover(std::vector<Host> hosts, std::span<const Unit> units, const MoveRule& rule,
        int64_t alignment, const Analysis& analysis, ShareRules& share)
      : hosts_(std::move(hosts)),
        units_(units),
        rule_(rule),
        alignment_(alignment),
        analysis_(analysis),
        share_(share),
        load_(analysis.schedule.end() + 1),
        by_size_(hosts_.size()),
        spots_(units.size()) {
    std::iota(by_size_.begin(), by_size_.end(), 0U);
    std::ranges::stable_sort(by_size_, {}, [&](uint32_t h) { return hosts_[h].size; });
  }

  std::vector<Spot> Run() && {
    if (hosts_.empty()) return std::move(spots_);
    for (const Unit& unit : units_) ChangeLoad(unit, 1);
    // Units that no host was asked for yet. Hosts only fill up: who found no room never will.
    std::vector<uint32_t> pending;
    for (uint32_t u = 0; u < units_.size(); ++u) {
      if (units_[u].size <= hosts_[by_size_.back()].size) pending.push_back(u);
    }
    std::ranges::stable_sort(pending, {}, [&](uint32_t u) { return KeyOf(units_[u]); });
    bool has_moved = true;
    while (has_moved && looks_ < kMaxLooks) {
      const int64_t peak = load_.Peak();
      looks_ += std::ssize(pending) / 4;
      has_moved = false;
      std::erase_if(pending, [&](uint32_t u) {
        if (has_moved || !IsAlive(units_[u], peak)) return false;
        has_moved = TryMove(u);
        return true;
      });
    }
    return std::move(spots_);
  }

 private:
  [[nodiscard]] std::pair<int64_t, int64_t> KeyOf(const Unit& unit) const {
    const int64_t length = unit.hull().end - unit.hull().start;
    switch (rule_.order) {
      case MoveOrder::kLargest:
        return {-unit.size, 0};
      case MoveOrder::kLargestShortest:
        return {-unit.size, length};
      case MoveOrder::kShortest:
        break;
    }
    return {length, -unit.size};
  }

  void ChangeLoad(const Unit& unit, int64_t sign) {
    for (const Segment& segment : unit.segments)
      load_.Add(segment, sign * *CheckedRoundUp(unit.size, alignment_));
  }

  bool TryMove(uint32_t u) {
    struct Offer {
      std::pair<int64_t, int64_t> cost;
      Spot spot;
    };
    const Unit& unit = units_[u];
    std::optional<Offer> best;
    auto row = std::ranges::lower_bound(by_size_, unit.size, {},
                                        [&](uint32_t h) { return hosts_[h].size; });
    for (; row != by_size_.end(); ++row) {
      const Host& host = hosts_[*row];
      // Hosts come by size: nothing better follows.
      if (best && rule_.fit == MoveFit::kSmallest && host.size > best->cost.first) break;
      const std::optional<int64_t> offset =
          FindRoom(host, unit, alignment_, analysis_.live, share_, looks_);
      if (!offset) continue;
      const int64_t idle = IdleTime(host, unit, analysis_.schedule.end());
      const Offer offer = {.cost = rule_.fit == MoveFit::kSmallest ? std::pair(host.size, idle)
                                                                   : std::pair(idle, host.size),
                           .spot = {*row, *offset}};
      if (!best || offer.cost < best->cost) best = offer;
    }
    if (!best) return false;
    MoveIn(hosts_[best->spot.host], unit, best->spot.offset, analysis_.live);
    spots_[u] = best->spot;
    ChangeLoad(unit, -1);
    return true;
  }

  std::vector<Host> hosts_;
  std::span<const Unit> units_;
  const MoveRule& rule_;
  int64_t alignment_;
  const Analysis& analysis_;
  ShareRules& share_;
  LoadTree load_;  // of the heap
  std::vector<uint32_t> by_size_;
  std::vector<Spot> spots_;
  int64_t looks_ = 0;
};

}  // namespace

std::vector<Spot> MoveToHosts(std::vector<Host> hosts, std::span<const Unit> units,
                              const MoveRule& rule, int64_t alignment, const Analysis& analysis,
                              ShareRules& share) {
  return Mover(std::move(hosts), units, rule, alignment, analysis, share).Run();
}

}  // namespace stowplan
