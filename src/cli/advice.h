// SPDX-License-Identifier: Apache-2.0
// `stowplan explain --advice`: what would save memory, each tried.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "advise/advice.h"
#include "cli/console.h"
#include "cli/plan_input.h"
#include "cli/speech.h"

namespace stowplan::cli {

struct AdviceOptions {
  std::string input;   // as the user wrote it
  std::string target;  // empty: found
  std::string version;
  std::optional<int64_t> space;  // absent: 0
  std::function<bool()> should_stop = {};
  std::function<void(int64_t done, int64_t total)> progress = {};
  size_t limit = 8;          // pieces of advice; 0: all
  bool has_refused = false;  // donations that cannot be, as well
  bool is_json = false;
  std::vector<std::string> parameter_names = {};  // by number, where the program has none
  Speech speech = Speech::kCommandLine;
};

// Nothing, and messages, when there can be none.
std::optional<advise::AdviceReport> MakeAdvice(const PlanInput& input, const AdviceOptions& options,
                                               Listener& listener);

std::string AdvicePage(const advise::AdviceReport& report, const PlanInput& input,
                       const AdviceOptions& options);
// Schema stowplan.advice/1.
std::string AdviceJson(const advise::AdviceReport& report, const PlanInput& input);

// Prints. The exit code.
int ShowAdvice(const PlanInput& input, AdviceOptions options, Console& console);

}  // namespace stowplan::cli
