// SPDX-License-Identifier: Apache-2.0
// Ids of a proto to rows of a table.
//
// XLA counts ids up within a computation (their low half; the high half names the computation), so
// the low bits of an id are its slot and collisions are rare. Ids may be hostile: memory depends on
// how many there are, never on their values, and ids that crowd into the same slots move to an
// ordered map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace stowplan::proto {

class IdMap {
 public:
  static constexpr uint32_t kNone = 0xffffffffU;

  IdMap() : slots_(64) {}

  // Forgets all ids. Does not touch the slots, so it is cheap even after a large computation.
  void Clear() {
    ++generation_;
    count_ = 0;
    crowded_.clear();
  }

  // False when the id is there already.
  bool Add(int64_t id, uint32_t row) {
    if (Find(id) != kNone) return false;
    if (count_ * 2 >= slots_.size()) Grow();
    Put(id, row);
    ++count_;
    return true;
  }

  // The id's row, or kNone.
  [[nodiscard]] uint32_t Find(int64_t id) const {
    size_t slot = First(id);
    for (int step = 0; step < kMaxSteps; ++step, slot = (slot + 1) & (slots_.size() - 1)) {
      const Slot& s = slots_[slot];
      if (s.generation != generation_) return kNone;
      if (s.id == id) return s.row;
    }
    const auto found = crowded_.find(id);
    return found == crowded_.end() ? kNone : found->second;
  }

 private:
  static constexpr int kMaxSteps = 32;

  struct Slot {
    int64_t id = 0;
    uint32_t row = 0;
    uint32_t generation = 0;  // the slot is empty unless it is the map's
  };

  [[nodiscard]] size_t First(int64_t id) const {
    return static_cast<size_t>(id) & (slots_.size() - 1);
  }

  void Put(int64_t id, uint32_t row) {
    size_t slot = First(id);
    for (int step = 0; step < kMaxSteps; ++step, slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot].generation != generation_) {
        slots_[slot] = {id, row, generation_};
        return;
      }
    }
    crowded_.emplace(id, row);
  }

  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    const uint32_t generation = generation_;
    generation_ = 1;
    for (const Slot& slot : old) {
      if (slot.generation == generation) Put(slot.id, slot.row);
    }
    // Ids that were crowded out may find room now.
    std::map<int64_t, uint32_t> crowded;
    crowded.swap(crowded_);
    for (const auto& [id, row] : crowded) Put(id, row);
  }

  std::vector<Slot> slots_;
  std::map<int64_t, uint32_t> crowded_;
  uint32_t generation_ = 1;
  size_t count_ = 0;
};

}  // namespace stowplan::proto
