// SPDX-License-Identifier: Apache-2.0
// Instructions by name. Open addressing: a table of many small nodes would take longer than the
// check itself.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "stowplan/hlo/module.h"

namespace stowplan::check {

class Names {
 public:
  explicit Names(const hlo::Module& module) : module_(module) {
    slots_.assign(std::bit_ceil(module.instructions.size() * 2 + 1), {});
    for (size_t i = 0; i < module.instructions.size(); ++i) {
      const hlo::InstrId id(i);
      const uint64_t hash = HashBytes(module.name(id));
      size_t at = hash & (slots_.size() - 1);
      while (!slots_[at].id.is_none()) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = {id, static_cast<uint32_t>(hash >> 32U)};
    }
  }

  // None when there is no such instruction; of several the first.
  [[nodiscard]] hlo::InstrId Find(std::string_view name) const {
    const uint64_t hash = HashBytes(name);
    size_t at = hash & (slots_.size() - 1);
    for (; !slots_[at].id.is_none(); at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].hash == static_cast<uint32_t>(hash >> 32U) &&
          module_.name(slots_[at].id) == name)
        return slots_[at].id;
    }
    return {};
  }

 private:
  struct Slot {
    hlo::InstrId id;
    uint32_t hash = 0;
  };
  const hlo::Module& module_;
  std::vector<Slot> slots_;
};

}  // namespace stowplan::check
