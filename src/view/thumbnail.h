// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "explain/moment.h"

namespace stowplan::view {

// A curve in at most `most` steps: time is cut into stretches of one length, and each has the
// highest level of its moments. The peak does not change. A curve that is short enough is left as
// it is. Linear in its steps.
[[nodiscard]] std::vector<explain::Step> Thumbnail(const explain::Curve& curve, int64_t end,
                                                   size_t most);

}  // namespace stowplan::view
