// SPDX-License-Identifier: Apache-2.0
// Programs whose loops hand on less, from the cheapest values to all but what is carried.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "hlo/separate_fusions.h"
#include "stowplan/hlo/module.h"
#include "stowplan/target/target.h"

namespace stowplan::fit {

struct LoopPoint {
  std::shared_ptr<const hlo::Module> module;
  hlo::Origins origins;  // rows of the given module
  // Instructions of forward loops that run again, in all trips of the backward loop.
  struct Again {
    hlo::InstrId id;  // of the given module
    int64_t trips = 0;
    int64_t bytes = 0;    // of its result in a trip
    int64_t stacked = 0;  // of the stacks that it has filled and that are gone
  };
  std::vector<Again> again;
};

// Different ones, by rising cost of what is computed again. Requires a scheduled module. A pair of
// loops stays as it is if `accepts` rejects the module with the change.
using ModuleTest = std::function<bool(std::shared_ptr<const hlo::Module> module)>;
std::vector<LoopPoint> FindLoopPoints(const hlo::Module& module, const Target& target,
                                      const ModuleTest& accepts = {});

// What a program with fewer stacks may lack, for bounds that hold for it, too.
struct LoopSlack {
  std::vector<hlo::InstrId> loops;
  std::vector<std::pair<hlo::InstrId, int64_t>> stacks;  // elements of loops
  std::vector<uint8_t> may_go;                           // by instruction: is there only for stacks
};
LoopSlack FindLoopSlack(const hlo::Module& module);

}  // namespace stowplan::fit
