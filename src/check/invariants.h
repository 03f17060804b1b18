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
  // By part of the while's shape: of which part the body makes it, or kChanged. Each row of the
  // module is looked at once, so that the time is linear in the module.
  const std::vector<uint32_t>& Of(hlo::InstrId loop);
  // By part: the row in the body that it comes from, through all that hands it on.
  const std::vector<uint32_t>& OriginsOf(hlo::InstrId loop) {
    Of(loop);
    return origins_[loop];
  }

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX;

  // The row of the same computation that `row` comes from: a parameter's, or where it was made.
  // Goes through calls and loops without recursion, since these may nest as deep as they like.
  uint32_t OriginOf(uint32_t row);
  // The same, if the origins of all rows that it needs are known; the others go to `needed_`.
  std::optional<uint32_t> TryOriginOf(uint32_t row);
  // What is known of a row; nothing if that is nothing yet.
  std::optional<uint32_t> Known(uint32_t row);
  // From what a called computation returns as `part` to the argument that it got; `row`, which is
  // where it comes out, if it is none. Nothing when that is not known yet.
  std::optional<uint32_t> Through(uint32_t row, uint32_t part, hlo::CompId callee,
                                  std::span<const hlo::InstrId> arguments);
  std::optional<uint32_t> ThroughConditional(uint32_t row, hlo::InstrId id, uint32_t part);
  [[nodiscard]] bool IsParameter(uint32_t row) const;
  const std::vector<Source>& SourcesOf(hlo::InstrId id);

  const hlo::Module& module_;
  const Trees& trees_;
  std::map<hlo::InstrId, std::vector<uint32_t>> loops_;
  std::map<hlo::InstrId, std::vector<uint32_t>> origins_;  // by loop
  std::map<hlo::InstrId, std::vector<Source>> sources_;
  std::vector<uint32_t> known_;   // by row: its origin, or kUnknown; empty until a loop is met
  std::vector<uint32_t> needed_;  // rows whose origins are looked for
};

}  // namespace stowplan::check
