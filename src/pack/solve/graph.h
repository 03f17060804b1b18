// SPDX-License-Identifier: Apache-2.0
// Who is alive with whom: the sections of a core, and the neighbours of each item.
//
// A section is a moment at which no further item could be alive with all that are; two items are
// alive together if and only if some section has both.
#pragma once

#include "pack/solve/core.h"

namespace stowplan::pack {

// An item in a section, where it needs [low, low + size) of its bytes.
struct Member {
  uint32_t item = 0;
  int64_t low = 0;
  int64_t size = 0;
};

struct Graph {
  // Members of section s: [section_begins[s], section_begins[s + 1]).
  std::vector<Member> members;
  std::vector<uint32_t> section_begins;
  // Sections of item i, in order: [sections_begins[i], sections_begins[i + 1]).
  std::vector<uint32_t> sections;
  std::vector<uint32_t> sections_begins;
  // Neighbours of item i: [neighbour_begins[i], neighbour_begins[i + 1]).
  std::vector<uint32_t> neighbours;
  std::vector<uint32_t> neighbour_begins;
  // By neighbour: how far above the offset of i that of the neighbour is at least, when it lies
  // above i; and how far below, when it lies below. Empty when all items are whole: their rooms.
  std::vector<int64_t> rises;
  std::vector<int64_t> drops;

  [[nodiscard]] uint32_t section_count() const {
    return static_cast<uint32_t>(section_begins.size()) - 1;
  }
  [[nodiscard]] std::span<const uint32_t> SectionsOf(uint32_t item) const {
    return std::span(sections).subspan(sections_begins[item],
                                       sections_begins[item + 1] - sections_begins[item]);
  }
  // Calls visit(neighbour, rise, drop) for each neighbour of an item.
  template <class Visit>
  void EachNeighbour(const Core& core, uint32_t item, Visit visit) const {
    const uint32_t begin = neighbour_begins[item];
    const uint32_t end = neighbour_begins[item + 1];
    if (rises.empty()) {
      const int64_t rise = core.items[item].room;
      for (uint32_t k = begin; k < end; ++k)
        visit(neighbours[k], rise, core.items[neighbours[k]].room);
    } else {
      for (uint32_t k = begin; k < end; ++k) visit(neighbours[k], rises[k], drops[k]);
    }
  }
};

// None when there would be more than `max_size` members, or pairs that are alive together.
std::optional<Graph> FindGraph(const Core& core, int64_t max_size);

}  // namespace stowplan::pack
