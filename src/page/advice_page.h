// SPDX-License-Identifier: Apache-2.0
// What would save memory, for people and for programs.
#pragma once

#include <cstddef>
#include <string>

#include "advise/advice.h"
#include "stowplan/base/speech.h"

namespace stowplan::page {

struct AdvicePageOptions {
  size_t limit = 8;          // pieces of advice; 0: all
  bool has_refused = false;  // donations that cannot be, as well
  Speech speech = Speech::kCommandLine;
};
// `name` is the module's.
std::string AdvicePage(const advise::AdviceReport& report, const std::string& name,
                       const AdvicePageOptions& options);
// Schema stowplan.advice/1.
std::string AdviceJson(const advise::AdviceReport& report, const std::string& name);

}  // namespace stowplan::page
