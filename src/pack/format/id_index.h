// SPDX-License-Identifier: Apache-2.0
// Ids and their rows: a flat table, eight bytes a slot.
#pragma once

#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "stowplan/pack.h"

namespace stowplan::pack {

class IdIndex {
 public:
  // Calls on_duplicate(row) for each row whose id an earlier one has.
  template <class OnDuplicate>
  IdIndex(const Names& ids, OnDuplicate on_duplicate)
      : ids_(ids), slots_(std::bit_ceil(2 * ids.size() + 1)) {
    for (uint32_t row = 0; row < ids.size(); ++row) {
      const uint64_t hash = HashBytes(ids[row]);
      Slot& slot = SlotOf(hash, ids[row]);
      if (slot.row != 0) {
        on_duplicate(row);
        continue;
      }
      slot = {static_cast<uint32_t>(hash >> 32U), row + 1};
    }
  }

  [[nodiscard]] std::optional<uint32_t> Find(std::string_view id) {
    const Slot& slot = SlotOf(HashBytes(id), id);
    return slot.row == 0 ? std::nullopt : std::optional(slot.row - 1);
  }

 private:
  struct Slot {
    uint32_t tag = 0;  // of the hash: another id's bytes are hardly ever looked at
    uint32_t row = 0;  // + 1; 0: free
  };

  Slot& SlotOf(uint64_t hash, std::string_view id) {
    const size_t mask = slots_.size() - 1;
    size_t at = hash & mask;
    while (slots_[at].row != 0 && (slots_[at].tag != hash >> 32U || ids_[slots_[at].row - 1] != id))
      at = (at + 1) & mask;
    return slots_[at];
  }

  const Names& ids_;
  std::vector<Slot> slots_;
};

// Whether the ids are small numbers, and none is there twice: most files number their rows, in some
// order, and a bit for each number is soon looked at.
inline bool AreDistinctNumbers(const Names& ids) {
  std::vector<bool> is_there(8 * ids.size());
  for (size_t row = 0; row < ids.size(); ++row) {
    const std::string_view id = ids[row];
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
    const bool is_plain = error == std::errc() && end == id.data() + id.size() &&
                          (id.front() != '0' || id.size() == 1);
    if (!is_plain || number >= is_there.size() || is_there[number]) return false;
    is_there[number] = true;
  }
  return true;
}

}  // namespace stowplan::pack
