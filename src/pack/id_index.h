// SPDX-License-Identifier: Apache-2.0
// Ids and their rows: a flat table of row numbers, four bytes a slot.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace stowplan::pack {

class IdIndex {
 public:
  // Calls on_duplicate(row) for each row whose id an earlier one has.
  template <class OnDuplicate>
  IdIndex(std::span<const std::string_view> ids, OnDuplicate on_duplicate)
      : ids_(ids), slots_(std::bit_ceil(2 * ids.size() + 1)) {
    for (uint32_t row = 0; row < ids.size(); ++row) {
      uint32_t& slot = SlotOf(ids[row]);
      if (slot != 0) {
        on_duplicate(row);
        continue;
      }
      slot = row + 1;
    }
  }

  [[nodiscard]] std::optional<uint32_t> Find(std::string_view id) {
    const uint32_t slot = SlotOf(id);
    return slot == 0 ? std::nullopt : std::optional(slot - 1);
  }

 private:
  uint32_t& SlotOf(std::string_view id) {
    const size_t mask = slots_.size() - 1;
    size_t at = HashBytes(id) & mask;
    while (slots_[at] != 0 && ids_[slots_[at] - 1] != id) at = (at + 1) & mask;
    return slots_[at];
  }

  std::span<const std::string_view> ids_;
  std::vector<uint32_t> slots_;  // row + 1; 0: free
};

// Whether shorter ones come first and equally long ones in order, as most generators number rows:
// then none is there twice, and nobody needs to look.
inline bool AreCounted(std::span<const std::string_view> ids) {
  return std::ranges::is_sorted(ids, [](std::string_view a, std::string_view b) {
    return a.size() != b.size() ? a.size() < b.size() : a <= b;
  });
}

}  // namespace stowplan::pack
