// SPDX-License-Identifier: Apache-2.0
// Fixes that help against several causes, and those for causes outside the program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oom/causes.h"

namespace stowplan::oom {

// What to write in each framework; for unknown ones, what to write in JAX.
std::vector<std::string> Words(const Case& one, std::vector<std::string> jax,
                               std::vector<std::string> torch, std::vector<std::string> tensorflow);
// The fix, and whether it alone would be enough.
Fix Judged(const Case& one, Fix fix);

Fix Donate(const Case& one, CauseKind cause, const std::optional<Size>& saves);
Fix SmallerBatch(const Case& one, CauseKind cause);
Fix Checkpoint(const Case& one, CauseKind cause, const std::string& place,
               const std::optional<Size>& saves);

// For pools and other processes, kernels, the machine's memory.
std::vector<Fix> PoolFixes(const Case& one, const Cause& cause);
std::vector<Fix> KernelFixes(const Case& one, const Cause& cause);
std::vector<Fix> HostFixes(const Case& one, const Cause& cause);

}  // namespace stowplan::oom
