// SPDX-License-Identifier: Apache-2.0
// An order of execution for programs that have none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "stowplan/hlo/module.h"
#include "stowplan/target/target.h"

namespace stowplan {

enum class Scheduler : uint8_t {
  kPostOrder,   // operands before users, in order
  kDepthFirst,  // the same, operands with many dependencies first: XLA's on CPUs until 2024
  kList,        // at each step, what frees the most memory
};
std::string_view Name(Scheduler scheduler);
std::optional<Scheduler> FindScheduler(std::string_view name);
inline constexpr Scheduler kSchedulers[] = {Scheduler::kPostOrder, Scheduler::kDepthFirst,
                                            Scheduler::kList};

// Whether the entry computation has a schedule; Flatten finds out about the others.
bool IsScheduled(const hlo::Module& module);

// The module with a schedule for each computation that is not fused. Needs a module without
// complaints (hlo::Verify).
hlo::Module WithSchedule(const hlo::Module& module, Scheduler scheduler, const Target& target);

}  // namespace stowplan
