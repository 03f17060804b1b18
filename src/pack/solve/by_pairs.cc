// SPDX-License-Identifier: Apache-2.0
// Exact search over who lies above whom, piece by piece. Slow, and for few items only; but it knows
// windows: an item may lie below another in one slot and above it in another, which the quick
// search does not consider.
#include <algorithm>
#include <optional>
#include <utility>

#include "pack/solve/align.h"
#include "pack/solve/race.h"

namespace stowplan::pack {
namespace {

constexpr size_t kMaxPairs = 2000;

// Two pieces that are needed in one slot.
struct Pair {
  uint32_t first = 0;  // items
  uint32_t second = 0;
  int64_t rise = 0;  // how far above the first's offset the second's is, if its piece lies above
  int64_t drop = 0;  // the other way round
};

std::vector<Pair> PairsOf(const Core& core) {
  std::vector<Pair> pairs;
  for (uint32_t i = 0; i < core.items.size() && pairs.size() <= kMaxPairs; ++i) {
    core.EachPiece(i, [&](const Piece& a) {
      for (uint32_t j = i + 1; j < core.items.size(); ++j) {
        core.EachPiece(j, [&](const Piece& b) {
          if (a.lower < b.upper && b.lower < a.upper)
            pairs.push_back({i, j, a.high - b.low, b.high - a.low});
        });
      }
    });
  }
  return pairs;
}

// Offsets are as low as the decisions allow. While a pair collides, one of the two has to go up.
class PairSearch {
 public:
  PairSearch(Race& race, std::vector<Pair> pairs)
      : race_(race), core_(race.core()), pairs_(std::move(pairs)) {
    std::vector<int64_t> offsets(core_.items.size(), 0);
    for (uint32_t i = 0; i < offsets.size(); ++i) {
      if (core_.is_pinned(i)) offsets[i] = core_.pins[i];
    }
    Push(std::move(offsets));
  }

  // False: it was given up.
  bool Run(int64_t nodes) {
    while (!nodes_.empty()) {
      if (nodes-- <= 0 || race_.IsOver()) return false;
      race_.Spend(1 + static_cast<int64_t>(pairs_.size() / 64));
      Node& node = nodes_.back();
      if (!node.pair) {
        race_.Take(node.offsets);
        Pop();
      } else if (node.tries == 2) {
        Pop();
      } else {
        const bool is_second_up = (node.tries++ == 0) == node.is_second_first;
        const Pair& pair = *node.pair;
        above_.push_back(is_second_up ? Above{pair.first, pair.second, pair.rise}
                                      : Above{pair.second, pair.first, pair.drop});
        std::vector<int64_t> offsets = node.offsets;
        if (Raise(offsets)) {
          Push(std::move(offsets));
        } else {
          above_.pop_back();
        }
      }
    }
    return true;
  }

 private:
  struct Above {
    uint32_t lower;
    uint32_t upper;
    int64_t rise;
  };
  struct Node {
    std::vector<int64_t> offsets;
    const Pair* pair = nullptr;  // none: it is a plan
    bool is_second_first = false;
    int tries = 0;
  };

  // Each node but the first stands on one decision.
  void Pop() {
    nodes_.pop_back();
    if (!nodes_.empty()) above_.pop_back();
  }

  // Lifts items until all decisions hold. False when something passes what is to be beaten.
  [[nodiscard]] bool Raise(std::vector<int64_t>& offsets) const {
    for (bool is_new = true; is_new;) {
      is_new = false;
      for (const Above& above : above_) {
        const int64_t least =
            AlignUp(offsets[above.lower] + above.rise, core_.items[above.upper].alignment);
        if (offsets[above.upper] >= least) continue;
        offsets[above.upper] = least;
        is_new = true;
        if (core_.is_pinned(above.upper) ||
            least + core_.items[above.upper].size >= race_.height_to_beat())
          return false;
      }
    }
    return true;
  }

  // The collision that is costliest to mend, the cheaper way first.
  void Push(std::vector<int64_t> offsets) {
    Node node = {.offsets = std::move(offsets)};
    int64_t cost = 0;
    for (const Pair& pair : pairs_) {
      const int64_t distance = node.offsets[pair.second] - node.offsets[pair.first];
      const int64_t up = pair.rise - distance;    // what the second would have to go up
      const int64_t down = pair.drop + distance;  // what the first would have to
      if (up <= 0 || down <= 0 || std::min(up, down) <= cost) continue;
      cost = std::min(up, down);
      node.pair = &pair;
      node.is_second_first = up <= down;
    }
    nodes_.push_back(std::move(node));
  }

  Race& race_;
  const Core& core_;
  std::vector<Pair> pairs_;
  std::vector<Above> above_;
  std::vector<Node> nodes_;
};

}  // namespace

void SolveByPairs(Race& race) {
  if (!race.core().has_windows()) return;
  std::vector<Pair> pairs = PairsOf(race.core());
  if (pairs.size() > kMaxPairs) return;
  const int64_t nodes = int64_t{2000} << static_cast<unsigned>(std::min(race.round(), 20));
  if (PairSearch(race, std::move(pairs)).Run(nodes)) race.RaiseBound(race.height(), {});
}

}  // namespace stowplan::pack
