// SPDX-License-Identifier: Apache-2.0
// What the GPU back end makes of a fusion: its outputs, the instruction that decides how each is
// computed (its hero), and whether the whole is a reduction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "schedule/orders.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

struct GpuFusion {
  std::vector<hlo::InstrId> roots;   // the outputs; tuples flattened
  std::vector<hlo::InstrId> heroes;  // parallel to roots
  hlo::InstrId reduction;            // the reduction that all outputs follow, or none
};

class GpuFusions {
 public:
  GpuFusions(const hlo::Module& module, const Orders& orders) : module_(module), orders_(orders) {}
  const GpuFusion& Of(hlo::InstrId fusion);

 private:
  struct Transpose {
    std::vector<int64_t> dims;  // of the result, merged
    std::vector<int64_t> permutation;
    friend bool operator==(const Transpose&, const Transpose&) = default;
  };
  struct Reduction {
    bool is_row = false;
    int64_t sizes[3] = {};
    friend bool operator==(const Reduction&, const Reduction&) = default;
  };

  [[nodiscard]] GpuFusion Analyze(hlo::InstrId fusion) const;
  [[nodiscard]] hlo::InstrId FindHero(hlo::InstrId root) const;
  [[nodiscard]] hlo::InstrId FindOnly(hlo::InstrId from, bool is_transpose) const;
  [[nodiscard]] bool IsIntermediate(hlo::InstrId id, size_t max_operands) const;
  [[nodiscard]] std::optional<Transpose> TiledTranspose(hlo::InstrId id) const;
  [[nodiscard]] std::optional<Reduction> RealReduction(hlo::InstrId root, hlo::InstrId hero) const;
  [[nodiscard]] hlo::InstrId FindReduction(const GpuFusion& fusion) const;
  [[nodiscard]] bool IsTranspose(const GpuFusion& fusion) const;

  const hlo::Module& module_;
  const Orders& orders_;
  std::map<hlo::InstrId, GpuFusion> known_;
};

// The text of a field of a JSON object, after its first occurrence: `1.5,"x":...` for "beta".
std::optional<std::string_view> FindJsonField(std::string_view json, std::string_view key);

}  // namespace stowplan
