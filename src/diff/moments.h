// SPDX-License-Identifier: Apache-2.0
// The corresponding moment of another program.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "explain/moment.h"
#include "explain/picture.h"
#include "stowplan/report/report.h"

namespace stowplan::diff {

// By time of `from`: when `to` runs the same instruction, and the nearest instructions that `to`
// runs.
struct SameTime {
  int64_t time = -1;   // -1: `to` does not run it
  int64_t before = 0;  // the last time of `from`, up to this one, that `to` has too; -1: none
  int64_t behind = 0;  // the first from here on; the number of times: none
};
// `partners` are by the values of `from`.
std::vector<SameTime> SameTimes(const explain::Picture& from, const explain::Picture& to,
                                const std::vector<report::ValueId>& partners);

// The moment of `to` that corresponds to `moment` of `from`.
explain::Moment SameMoment(const explain::Moment& moment, const explain::Picture& to,
                           const std::vector<SameTime>& times,
                           const std::vector<report::ValueId>& partners);

}  // namespace stowplan::diff
