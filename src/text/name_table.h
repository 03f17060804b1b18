// SPDX-License-Identifier: Apache-2.0
// Names to numbers inside one scope (a computation, a module). Starting a new scope costs nothing.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace stowplan::text {

class NameTable {
 public:
  static constexpr uint32_t kNone = 0xffffffffU;

  void NewScope() {
    ++scope_;
    count_ = 0;
  }

  // `name_of(id)` gives the name that was added with an id.
  template <class NameOf>
  [[nodiscard]] uint32_t Find(std::string_view name, NameOf name_of) const {
    const auto hash = static_cast<uint32_t>(HashBytes(name));
    for (size_t i = hash & mask_; slots_[i].scope == scope_; i = (i + 1) & mask_) {
      if (slots_[i].hash == hash && name_of(slots_[i].id) == name) return slots_[i].id;
    }
    return kNone;
  }
  // Adds a name; false if it exists already.
  template <class NameOf>
  bool Add(std::string_view name, uint32_t id, NameOf name_of) {
    const auto hash = static_cast<uint32_t>(HashBytes(name));
    size_t i = hash & mask_;
    for (; slots_[i].scope == scope_; i = (i + 1) & mask_) {
      if (slots_[i].hash == hash && name_of(slots_[i].id) == name) return false;
    }
    slots_[i] = {hash, id, scope_};
    if (++count_ * 2 > slots_.size()) Grow();
    return true;
  }

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t id = 0;
    uint32_t scope = 0;
  };
  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.scope != scope_) continue;
      size_t i = slot.hash & mask_;
      while (slots_[i].scope == scope_) i = (i + 1) & mask_;
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(256);
  size_t mask_ = 255;
  size_t count_ = 0;
  uint32_t scope_ = 1;
};

}  // namespace stowplan::text
