// SPDX-License-Identifier: Apache-2.0
// Instructions by name. As a rule it is known where a name is, or it is after the last one; the
// table of all names, which takes as long as half of the check, is made when that fails.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "stowplan/hlo/module.h"

namespace stowplan::check {

class Names {
 public:
  explicit Names(const hlo::Module& module) : module_(module) { Rewind(); }

  // None when there is no such instruction. `guess` is looked at first.
  hlo::InstrId Find(std::string_view name, hlo::InstrId guess = {}) {
    if (!guess.is_none() && module_.name(guess) == name) return guess;
    // An instruction has several values, or none.
    const size_t end = std::min(last_ + kNear, module_.instructions.size());
    for (size_t i = last_; i < end; ++i) {
      if (module_.name(hlo::InstrId(i)) != name) continue;
      last_ = i;
      return hlo::InstrId(i);
    }
    const hlo::InstrId found = FindAnywhere(name);
    if (!found.is_none()) last_ = found.index;
    return found;
  }

  // The next name is one of the entry computation's first ones.
  void Rewind() { last_ = module_.computations[module_.entry].first.index; }

 private:
  static constexpr size_t kNear = 8;
  struct Slot {
    hlo::InstrId id;
    uint32_t hash = 0;
  };

  // Open addressing: a table of many small nodes would take longer still.
  hlo::InstrId FindAnywhere(std::string_view name) {
    if (slots_.empty()) MakeTable();
    const uint64_t hash = HashBytes(name);
    size_t at = hash & (slots_.size() - 1);
    for (; !slots_[at].id.is_none(); at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].hash == static_cast<uint32_t>(hash >> 32U) &&
          module_.name(slots_[at].id) == name)
        return slots_[at].id;
    }
    return {};
  }
  void MakeTable() {
    slots_.assign(std::bit_ceil(module_.instructions.size() * 2 + 1), {});
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      const hlo::InstrId id(i);
      const uint64_t hash = HashBytes(module_.name(id));
      size_t at = hash & (slots_.size() - 1);
      while (!slots_[at].id.is_none()) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = {id, static_cast<uint32_t>(hash >> 32U)};
    }
  }

  const hlo::Module& module_;
  size_t last_ = 0;  // the instruction that was found last
  std::vector<Slot> slots_;
};

}  // namespace stowplan::check
