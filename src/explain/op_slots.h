// SPDX-License-Identifier: Apache-2.0
// The picture's table of ops by name.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "explain/picture.h"

namespace stowplan::explain {

// Names differ in their last characters, which mainly affect the upper half of HashBytes.
inline uint32_t HashOfName(std::string_view name) {
  return static_cast<uint32_t>(MixHash(HashBytes(name), name.size()) >> 32U);
}

// The slot of the op with this name, or the slot where it would be. Requires a free slot.
inline size_t FindSlot(const Picture& picture, std::string_view name, uint32_t hash) {
  const size_t mask = picture.op_slots.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    const OpSlot& slot = picture.op_slots[at];
    if (slot.op.is_none() || (slot.hash == hash && picture.ops[slot.op].name == name)) return at;
  }
}

// Makes room for `count` more ops.
inline void ReserveOps(size_t count, Picture& picture) {
  count = std::max(count, picture.ops.size());
  picture.ops.Reserve(count);
  const std::vector<OpSlot> old =
      std::exchange(picture.op_slots, std::vector<OpSlot>(std::bit_ceil(count * 2 + 2)));
  const size_t mask = picture.op_slots.size() - 1;
  for (const OpSlot& slot : old) {
    if (slot.op.is_none()) continue;
    size_t at = slot.hash & mask;
    while (!picture.op_slots[at].op.is_none()) at = (at + 1) & mask;
    picture.op_slots[at] = slot;
  }
}

// Adds the op if it is new.
inline OpId AddOp(std::string_view name, Picture& picture) {
  if (picture.ops.size() * 2 >= picture.op_slots.size())
    ReserveOps(picture.ops.size() * 2, picture);
  const uint32_t hash = HashOfName(name);
  OpSlot& slot = picture.op_slots[FindSlot(picture, name, hash)];
  if (slot.op.is_none()) {
    Op op;
    op.name = name;
    slot = {.hash = hash, .op = picture.ops.Add(op)};
  }
  return slot.op;
}

// Finds ops by name. Usually the next one is close to the last one found, so no search is needed.
class NearOps {
 public:
  explicit NearOps(const Picture& picture) : picture_(picture) {}

  // None if there is no such op.
  OpId Find(std::string_view name) {
    const size_t end = std::min(last_ + kNear, picture_.ops.size());
    for (size_t i = last_; i < end; ++i) {
      const std::string_view other = picture_.ops[OpId(i)].name;
      if (other.size() != name.size() || (other.data() != name.data() && other != name)) continue;
      last_ = i;
      return OpId(i);
    }
    const OpId found = picture_.FindOp(name);
    if (!found.is_none()) last_ = found.index;
    return found;
  }

 private:
  static constexpr size_t kNear = 3;
  const Picture& picture_;
  size_t last_ = 0;
};

}  // namespace stowplan::explain
