// SPDX-License-Identifier: Apache-2.0
// `stowplan explain --advice`: what would save memory, each tried.
#pragma once

#include <optional>
#include <string>

#include "cli/console.h"
#include "cli/plan_input.h"

namespace stowplan::cli {

struct AdviceOptions {
  std::string input;   // as the user wrote it
  std::string target;  // empty: found
  std::string version;
  std::optional<int64_t> space;      // absent: 0
  std::optional<double> time_limit;  // in seconds
  size_t limit = 8;                  // pieces of advice; 0: all
  bool has_refused = false;          // donations that cannot be, as well
  bool is_json = false;
};

// Prints. The exit code.
int ShowAdvice(const PlanInput& input, const AdviceOptions& options, Console& console);

}  // namespace stowplan::cli
