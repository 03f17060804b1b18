// SPDX-License-Identifier: Apache-2.0
// Floating point numbers as XLA writes them.
#pragma once

#include <cstdint>
#include <string>

#include "stowplan/hlo/element_type.h"

namespace stowplan::proto {

// The number with these bits in an element type f64, f32, f16, bf16, f8..., f6..., f4...: with as
// few digits as XLA needs to read it back, `inf`, `-nan`, `nan(0x1)` when the payload is not the
// usual one.
void AppendFloat(hlo::ElementType type, uint64_t bits, std::string& out);

// With six digits, as absl::StrCat writes numbers.
void AppendShort(double number, std::string& out);

}  // namespace stowplan::proto
