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

 private:
  // The part of a parameter of its computation that `row` is, if it is one.
  std::optional<uint32_t> ParameterOf(uint32_t row, int depth);
  const std::vector<Source>& SourcesOf(hlo::InstrId id);

  const hlo::Module& module_;
  const Trees& trees_;
  std::map<hlo::InstrId, std::vector<uint32_t>> loops_;
  std::map<hlo::InstrId, std::vector<Source>> sources_;
};

}  // namespace stowplan::check
