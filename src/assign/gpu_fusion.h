// SPDX-License-Identifier: Apache-2.0
// What the GPU back end makes of a fusion: its outputs, and what decides how they are computed:
// a transposition that is done in tiles, or a reduction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan {

struct GpuFusion {
  std::vector<hlo::InstrId> roots;  // the outputs; tuples flattened
  // Parallel to roots. What such an output also reads is read in a different order than the other
  // outputs are written.
  std::vector<uint8_t> is_transposed;
  // A reduction that is an output, or none. Its loop goes over its operand and reads each element
  // once. An output that could be written over the operand has as many elements, and is written by
  // the same loop: one over the reduction's result would have no outputs of that size.
  hlo::InstrId reduction;
};

class GpuFusions {
 public:
  explicit GpuFusions(const hlo::Module& module) : module_(module) {}
  const GpuFusion& Of(hlo::InstrId fusion);

 private:
  [[nodiscard]] GpuFusion Analyze(hlo::InstrId fusion) const;

  const hlo::Module& module_;
  std::map<hlo::InstrId, GpuFusion> known_;
};

// The text of a field of a JSON object, after its first occurrence: `1.5,"x":...` for "beta".
std::optional<std::string_view> FindJsonField(std::string_view json, std::string_view key);

}  // namespace stowplan
