// SPDX-License-Identifier: Apache-2.0
#include "pack/solve/graph.h"

#include <algorithm>
#include <utility>

namespace stowplan::pack {
namespace {

class GraphFinder {
 public:
  GraphFinder(const Core& core, int64_t max_size) : core_(core), max_size_(max_size) {}

  std::optional<Graph> Run() && {
    if (IsTooLarge()) return std::nullopt;
    FindSections();
    FindSectionsOfItems();
    FindNeighbours();
    return std::move(graph_);
  }

 private:
  struct Start {
    int32_t slot;
    int32_t end;
    Member member;
  };

  // Counts before anything is made: members by slot, and who meets whom.
  [[nodiscard]] bool IsTooLarge() const {
    std::vector<int64_t> begins(static_cast<size_t>(core_.slot_count), 0);
    std::vector<int64_t> ends(static_cast<size_t>(core_.slot_count), 0);
    for (uint32_t i = 0; i < core_.items.size(); ++i) {
      core_.EachPiece(i, [&](const Piece& piece) {
        ++begins[static_cast<size_t>(piece.lower)];
        ++ends[static_cast<size_t>(piece.upper) - 1];
      });
    }
    int64_t alive = 0;
    int64_t members = 0;
    int64_t meetings = 0;
    bool has_begun = false;
    for (size_t slot = 0; slot < begins.size(); ++slot) {
      meetings += begins[slot] * alive + begins[slot] * (begins[slot] - 1) / 2;
      alive += begins[slot];
      has_begun = has_begun || begins[slot] != 0;
      if (ends[slot] == 0) continue;
      if (std::exchange(has_begun, false)) members += alive;
      alive -= ends[slot];
      if (members > max_size_ || meetings > max_size_) return true;
    }
    return false;
  }

  void FindSections() {
    std::vector<Start> starts;
    for (uint32_t i = 0; i < core_.items.size(); ++i) {
      core_.EachPiece(i, [&](const Piece& piece) {
        starts.push_back({piece.lower, piece.upper, {i, piece.low, piece.high - piece.low}});
      });
    }
    std::ranges::stable_sort(starts, {}, &Start::slot);
    std::vector<uint8_t> ends_behind(static_cast<size_t>(core_.slot_count), 0);
    for (const Start& start : starts) ends_behind[static_cast<size_t>(start.end - 1)] = 1;
    graph_.section_begins.push_back(0);
    std::vector<Start> alive;
    size_t next = 0;
    bool has_begun = false;
    int32_t last_section_slot = -1;
    for (int32_t slot = 0; slot < core_.slot_count; ++slot) {
      for (; next < starts.size() && starts[next].slot == slot; ++next) {
        alive.push_back(starts[next]);
        has_begun = true;
      }
      if (ends_behind[static_cast<size_t>(slot)] == 0) continue;
      if (std::exchange(has_begun, false)) {
        size_t old = 0;
        while (alive[old].slot <= last_section_slot) ++old;
        new_begins_.push_back(static_cast<uint32_t>(graph_.members.size() + old));
        last_section_slot = slot;
        for (const Start& start : alive) graph_.members.push_back(start.member);
        graph_.section_begins.push_back(static_cast<uint32_t>(graph_.members.size()));
      }
      std::erase_if(alive, [&](const Start& start) { return start.end == slot + 1; });
    }
  }

  void FindSectionsOfItems() {
    std::vector<uint32_t>& begins = graph_.sections_begins;
    begins.assign(core_.items.size() + 1, 0);
    for (const Member& member : graph_.members) ++begins[member.item + 1];
    for (size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
    graph_.sections.resize(graph_.members.size());
    std::vector<uint32_t> next(begins.begin(), begins.end() - 1);
    for (uint32_t s = 0; s < graph_.section_count(); ++s) {
      for (uint32_t m = graph_.section_begins[s]; m < graph_.section_begins[s + 1]; ++m)
        graph_.sections[next[graph_.members[m].item]++] = s;
    }
  }

  void FindNeighbours() {
    // By item: where it stands among the neighbours of the item in hand, if it does.
    std::vector<uint32_t> places(core_.items.size(), 0);
    graph_.neighbour_begins.push_back(0);
    for (uint32_t i = 0; i < core_.items.size(); ++i) {
      const size_t begin = graph_.neighbours.size();
      Member self;
      for (const uint32_t s : graph_.SectionsOf(i)) {
        const auto from = graph_.members.begin() + new_begins_[s];
        const auto to = graph_.members.begin() + graph_.section_begins[s + 1];
        const auto begun = std::ranges::find(from, to, i, &Member::item);
        // Where nothing of the item begins, only what begins beside it is new.
        if (begun != to) self = *begun;
        for (auto member = begun != to ? graph_.members.begin() + graph_.section_begins[s] : from;
             member != to; ++member) {
          if (member->item != i) Meet(self, *member, begin, places[member->item]);
        }
      }
      graph_.neighbour_begins.push_back(static_cast<uint32_t>(graph_.neighbours.size()));
    }
  }

  // `place` is where `other` stands among the neighbours, which begin at `begin`.
  void Meet(const Member& self, const Member& other, size_t begin, uint32_t& place) {
    const bool is_known = place >= begin && place < graph_.neighbours.size() &&
                          graph_.neighbours[place] == other.item;
    if (!is_known) {
      place = static_cast<uint32_t>(graph_.neighbours.size());
      graph_.neighbours.push_back(other.item);
    }
    if (core_.is_whole()) return;
    if (!is_known) {
      // One of the two is above the other, whatever the windows in their gaps.
      graph_.rises.push_back(1);
      graph_.drops.push_back(1);
    }
    int64_t& rise = graph_.rises[place];
    int64_t& drop = graph_.drops[place];
    rise = std::max(rise, self.low + self.size - other.low);
    drop = std::max(drop, other.low + other.size - self.low);
  }

  const Core& core_;
  int64_t max_size_;
  Graph graph_;
  std::vector<uint32_t> new_begins_;  // by section: its members that were not in the one before
};

}  // namespace

std::optional<Graph> FindGraph(const Core& core, int64_t max_size) {
  return GraphFinder(core, max_size).Run();
}

}  // namespace stowplan::pack
