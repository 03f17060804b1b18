// SPDX-License-Identifier: Apache-2.0
// --space and --at: which memory space of a plan is looked at, and when.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/console.h"
#include "explain/moment.h"
#include "explain/picture.h"
#include "report/summary.h"

namespace stowplan::cli {

// --at as a moment: absent when it is not given. False, and a message, when it is none.
bool ReadMoment(const Arguments& arguments, Console& console, std::optional<int64_t>& time);

// The memory space that --space names; absent: `all`. Of an empty name, the one that takes most.
// False, and a message, when there is no such space.
bool ChooseSpace(const std::string& name, const explain::Picture& picture,
                 const report::Summary& summary, Console& console, std::optional<int64_t>& space);

struct ChosenMoment {
  explain::Moment moment;
  bool is_peak = false;  // of its memory space
};
// The moment `time` of the curve's memory space; without a time, its peak. Nothing, and a message,
// when the program does not run then.
std::optional<ChosenMoment> ChooseMoment(std::optional<int64_t> time,
                                         const explain::Picture& picture,
                                         const explain::Curve& curve, Console& console);

}  // namespace stowplan::cli
