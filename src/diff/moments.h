// SPDX-License-Identifier: Apache-2.0
// The same moment of another program.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stowplan/explain/moment.h"
#include "stowplan/explain/picture.h"
#include "stowplan/report/report.h"

namespace stowplan::diff {

// By time of `from`: when `to` runs the same instruction; -1: it does not. `partners` are by the
// values of `from`.
std::vector<int64_t> SameTimes(const explain::Picture& from, const explain::Picture& to,
                               const std::vector<report::ValueId>& partners);

// The moment of `to` that is `moment` of `from`.
explain::Moment SameMoment(const explain::Moment& moment, const explain::Picture& to,
                           const std::vector<int64_t>& times,
                           const std::vector<report::ValueId>& partners);

}  // namespace stowplan::diff
