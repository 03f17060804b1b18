// SPDX-License-Identifier: Apache-2.0
// Whether an instruction may write its result over an operand that it is the last to read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "assign/gpu_fusion.h"
#include "assign/rules.h"
#include "live/analysis.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

// As which operand `user` first reads `operand`; past its last one if it does not. Takes as long as
// the shorter of the two lists: an instruction may have many operands, or many users.
size_t FirstOperand(const hlo::Module& module, const Orders& orders, hlo::InstrId user,
                    hlo::InstrId operand);

class ShareRules {
 public:
  // Whose plan it is. A compiler's own are followed in all that they share; in what it leaves to
  // us, an operand may be written over only if nothing else that is read could be lost by that.
  enum class Planner : uint8_t { kXla, kOurs };

  ShareRules(const hlo::Module& module, const Analysis& analysis, const Rules& rules,
             Planner planner = Planner::kXla)
      : module_(module),
        analysis_(analysis),
        sharing_(rules.sharing),
        reads_last_position_(rules.reads_last_position),
        planner_(planner),
        loop_answers_(module.instructions.size(), 0),
        place_answers_(module.instructions.size(), 0),
        gpu_fusions_(module) {}

  // `input` is a position of an operand of `output`'s instruction.
  bool CanShare(PositionId input, PositionId output);
  // The same for values: whether `user` may take the place of `operand` when that one ends.
  bool CanShareAsOperand(ValueId user, ValueId operand);

 private:
  [[nodiscard]] PositionId LastPosition(ValueId id) const;
  [[nodiscard]] int64_t SeenUntil(PositionId id) const;
  [[nodiscard]] bool LieAlike(hlo::ShapeId a, hlo::ShapeId b) const;
  [[nodiscard]] bool IsInPlace(PositionId input, PositionId output) const;
  bool FusionCanShare(hlo::InstrId operand, PositionId output);
  bool LoopFusionCanShare(hlo::InstrId fused_parameter);
  [[nodiscard]] bool IsReadOnce(PositionId input, hlo::InstrId user) const;
  bool FusionKeepsPlaces(hlo::InstrId operand, hlo::InstrId fusion);
  [[nodiscard]] bool KeepsPlaces(hlo::InstrId fused_parameter) const;
  [[nodiscard]] bool OutputFusionCanShare(hlo::InstrId fusion, hlo::InstrId fused_parameter) const;
  [[nodiscard]] bool CallCanShare(PositionId input, hlo::InstrId call) const;
  // The answer of one back end's own rules; nothing if the common rules decide.
  std::optional<bool> GpuHint(hlo::InstrId operand, PositionId output);
  std::optional<bool> TpuHint(hlo::InstrId operand, PositionId output) const;
  [[nodiscard]] bool IsOnlyIndex(hlo::InstrId fused_parameter) const;
  [[nodiscard]] bool ReduceFusionCanShare(hlo::InstrId fusion, hlo::InstrId fused_parameter,
                                          hlo::InstrId element) const;

  const hlo::Module& module_;
  const Analysis& analysis_;
  Sharing sharing_;
  bool reads_last_position_;
  Planner planner_;
  // By fused parameter: 0 not asked yet, 1 no, 2 yes.
  std::vector<uint8_t> loop_answers_;
  std::vector<uint8_t> place_answers_;
  GpuFusions gpu_fusions_;
};

}  // namespace stowplan
