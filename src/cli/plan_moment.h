// SPDX-License-Identifier: Apache-2.0
// --space and --at: the memory space and the moment to show.
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

// Reads --at into `time`, which stays absent if it is not given. If it is not a moment, shows an
// error and returns false.
bool ReadMoment(const Arguments& arguments, Console& console, std::optional<int64_t>& time);

// Sets `space` to the memory space called `name`: absent for `all`, the largest for an empty name.
// If there is no such space, shows an error and returns false.
bool ChooseSpace(const std::string& name, const explain::Picture& picture,
                 const report::Summary& summary, Console& console, std::optional<int64_t>& space);

struct ChosenMoment {
  explain::Moment moment;
  bool is_peak = false;  // of its memory space
};
// The moment `time` in the curve's memory space; without a time, its peak. If the program does not
// run at that time, shows an error and returns nothing.
std::optional<ChosenMoment> ChooseMoment(std::optional<int64_t> time,
                                         const explain::Picture& picture,
                                         const explain::Curve& curve, Console& console);

}  // namespace stowplan::cli
