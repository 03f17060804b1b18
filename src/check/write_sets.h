// SPDX-License-Identifier: Apache-2.0
// What a computation may write, with all that it calls: known before it is executed.
#pragma once

#include <cstdint>
#include <vector>

#include "check/execute.h"
#include "check/memory.h"

namespace stowplan::check {

class WriteSets {
 public:
  // `limit`: how many writes all lists together may have.
  WriteSets(const Plan& plan, int64_t limit) : plan_(plan), limit_(limit) {
    writes_.resize(plan.module.computations.size());
    is_known_.resize(plan.module.computations.size());
  }

  const std::vector<Memory::Change>& Of(hlo::CompId id);
  [[nodiscard]] bool is_too_long() const { return limit_ < 0; }

 private:
  void AddCalled(hlo::InstrId id, std::vector<Memory::Change>& writes);

  const Plan& plan_;
  int64_t limit_;
  std::vector<std::vector<Memory::Change>> writes_;  // by computation
  std::vector<uint8_t> is_known_;
  std::vector<Source> sources_;
};

}  // namespace stowplan::check
