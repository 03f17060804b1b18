// SPDX-License-Identifier: Apache-2.0
// How large each buffer is, and in which memory space.
#pragma once

#include <cstdint>
#include <vector>

#include "assign/rules.h"
#include "live/analysis.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

struct BufferSizes {
  std::vector<int64_t> sizes;          // by buffer
  std::vector<int64_t> buffer_colors;  // by buffer
  std::vector<int64_t> colors;         // by value
};

// The sum of all sizes, each aligned, fits in 64 bits, so no sum of offsets overflows later.
Result<BufferSizes> MeasureBuffers(const hlo::Module& module, const Analysis& analysis,
                                   const Rules& rules);

}  // namespace stowplan
