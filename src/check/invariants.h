// SPDX-License-Identifier: Apache-2.0
// Which parts of a loop's state the body hands back as it got them. When parts that change places
// were equal before the loop, they are after it what they were.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "check/meaning.h"
#include "check/trees.h"
#include "stowplan/hlo/module.h"

namespace stowplan::check {

class Invariants {
 public:
  Invariants(const hlo::Module& module, const Trees& trees) : module_(module), trees_(trees) {}

  static constexpr uint32_t kChanged = UINT32_MAX;
  // By part of the while's shape: of which part the body makes it, or kChanged. Inner loops are
  // looked at first; the time is linear in the module.
  const std::vector<uint32_t>& Of(hlo::InstrId loop);
  // By part: the row in the body that it comes from, through all that hands it on.
  const std::vector<uint32_t>& OriginsOf(hlo::InstrId loop) {
    Of(loop);
    return origins_[loop];
  }

 private:
  // The row of the same computation that `row` comes from: a parameter's, or where it was made.
  uint32_t OriginOf(uint32_t row, int depth);
  // The same, if it is a parameter's.
  std::optional<uint32_t> ParameterOf(uint32_t row, int depth);
  [[nodiscard]] bool IsParameter(uint32_t row) const;
  const std::vector<Source>& SourcesOf(hlo::InstrId id);

  const hlo::Module& module_;
  const Trees& trees_;
  std::map<hlo::InstrId, std::vector<uint32_t>> loops_;
  std::map<hlo::InstrId, std::vector<uint32_t>> origins_;  // by loop
  std::map<hlo::InstrId, std::vector<Source>> sources_;
};

}  // namespace stowplan::check
