// SPDX-License-Identifier: Apache-2.0
// What XLA's and JAX's figures count for temporaries, beyond the sizes of their allocations.
#pragma once

#include <cstdint>

#include "assign/assignment.h"
#include "live/analysis.h"

namespace stowplan {

struct Temporaries {
  int64_t heap_peak = 0;  // the most bytes that one heap has in use at once
  // Whether any temporary of memory space 0 really lies there: TPUs keep tuples and single numbers
  // elsewhere, and then count nothing.
  bool are_in_main_memory = false;
};

Temporaries TemporariesOf(const hlo::Module& module, const Analysis& analysis,
                          const Assignment& assignment);

}  // namespace stowplan
