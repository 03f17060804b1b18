// SPDX-License-Identifier: Apache-2.0
// What would save memory, as a page and as JSON.
#pragma once

#include <cstddef>
#include <string>

#include "advise/advice.h"
#include "stowplan/base/speech.h"

namespace stowplan::page {

struct AdvicePageOptions {
  size_t limit = 8;          // pieces of advice; 0: all
  bool has_refused = false;  // also list arguments not worth donating
  Speech speech = Speech::kCommandLine;
};
// `name` is the name of the module.
std::string AdvicePage(const advise::AdviceReport& report, const std::string& name,
                       const AdvicePageOptions& options);
// Schema stowplan.advice/1.
std::string AdviceJson(const advise::AdviceReport& report, const std::string& name);

}  // namespace stowplan::page
