// SPDX-License-Identifier: Apache-2.0
// What a computation may write, with all that it calls: known before it is executed.
//
// Each computation has a list of its own writes and of its calls; a visit goes through the lists of
// all that are called, each once. So the lists take no more memory than the program.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "check/execute.h"
#include "check/memory.h"

namespace stowplan::check {

class WriteSets {
 public:
  explicit WriteSets(const Plan& plan) : plan_(plan) {
    lists_.resize(plan.module.computations.size());
    last_visits_.resize(plan.module.computations.size());
  }

  // In the order of execution. Each list and each write takes one of `budget`; false when there is
  // none left, and not all was visited.
  bool Visit(hlo::CompId id, int64_t& budget,
             const std::function<void(const Memory::Change&)>& visit);

 private:
  struct Call {
    size_t at = 0;  // before this write
    hlo::CompId callee;
  };
  struct List {
    bool is_known = false;
    std::vector<Memory::Change> writes;
    std::vector<Call> calls;
  };
  const List& Of(hlo::CompId id);
  void AddWrites(hlo::InstrId id, List& list);

  const Plan& plan_;
  std::vector<List> lists_;  // by computation
  std::vector<uint64_t> last_visits_;
  uint64_t visit_ = 0;
  std::vector<Source> sources_;
};

}  // namespace stowplan::check
