// SPDX-License-Identifier: Apache-2.0
// Which of several orders of execution needs the least memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "live/analysis.h"
#include "schedule/make_schedule.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"
#include "stowplan/target/target.h"

namespace stowplan {

struct ScheduleChoice {
  hlo::Module module;  // with the schedule
  Scheduler scheduler = Scheduler::kPostOrder;
  struct Peak {
    Scheduler scheduler = Scheduler::kPostOrder;
    int64_t bytes = 0;  // of buffers, each from its first moment to its last
  };
  std::vector<Peak> peaks;  // of all orders that were tried
};

// Tries all orders, or the requested one; among equals, the first wins.
Result<ScheduleChoice> ChooseSchedule(const hlo::Module& module, const Target& target,
                                      const AnalysisOptions& options,
                                      std::optional<Scheduler> wanted);

}  // namespace stowplan
