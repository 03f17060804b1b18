// SPDX-License-Identifier: Apache-2.0
// Which operands the GPU back end writes over, beyond the common rules.
#include <algorithm>
#include <charconv>
#include <utility>

#include "assign/can_share.h"
#include "assign/elementwise.h"
#include "base/checked_math.h"
#include "stowplan/hlo/element_type.h"

namespace stowplan {
namespace {

using hlo::AttributeKey;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;
using hlo::ShapeId;

// Whether two arrays have as many elements, and as wide.
bool HaveEqualBits(const hlo::ShapeTable& shapes, ShapeId a, ShapeId b) {
  const auto bits = [&](ShapeId id) {
    const hlo::ElementType type = shapes[id].type;
    return type == hlo::ElementType::kPred ? 1 : hlo::BitWidth(type);
  };
  if (bits(a) == 0 || bits(a) != bits(b)) return false;  // tuples and tokens have no bits
  return CheckedProduct(shapes.dims(a)) == CheckedProduct(shapes.dims(b));
}

// cuBLASLt adds its third operand to the product, in place, when beta is not zero.
bool MatmulCanShare(const Module& module, InstrId call, InstrId operand, bool is_first_part) {
  const hlo::Attribute* target = module.FindAttribute(call, AttributeKey::kCustomCallTarget);
  if (target == nullptr || module.view(target->text()) != "__cublas$lt$matmul") return false;
  const hlo::Attribute* config = module.FindAttribute(call, AttributeKey::kBackendConfig);
  if (config == nullptr) return false;
  const std::optional<std::string_view> text = FindJsonField(module.view(config->text()), "beta");
  double beta = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), beta);
  const std::span<const InstrId> operands = module.operands_of(call);
  return beta != 0 && is_first_part && operands.size() > 2 && operands[2] == operand &&
         std::ranges::count(operands, operand) == 1;
}

// One question: may the fusion's output at `index` be written over this parameter?
class FusionQuestion {
 public:
  FusionQuestion(const Module& module, const Orders& orders, const GpuFusion& fusion,
                 InstrId instruction, std::span<const int64_t> index)
      : module_(module), orders_(orders), fusion_(fusion), index_(index) {
    body_ = &module.computations[module.called_by(instruction)[0]];
    output_ = body_->root;
    for (const int64_t k : index) {
      if (opcode(output_) != Opcode::kTuple) break;
      output_ = module.operands_of(output_)[static_cast<size_t>(k)];
    }
    last_ = opcode(output_) == Opcode::kBitcast ? module.operands_of(output_)[0] : output_;
  }

  bool Ask(InstrId parameter) {
    std::vector<InstrId> queue = {parameter};
    std::vector<uint8_t> is_seen(body_->count, 0);
    is_seen[parameter.index - body_->first.index] = 1;
    bool is_found = false;
    for (size_t next = 0; next < queue.size(); ++next) {
      const InstrId id = queue[next];
      if (id == output_) is_found = true;
      if (!fusion_.reduction.is_none() && id == fusion_.reduction) continue;
      for (const InstrId user : orders_.users_of(id)) {
        if (!Accepts(id, user)) return false;
        if (std::exchange(is_seen[user.index - body_->first.index], 1) == 0) queue.push_back(user);
      }
    }
    return is_found && OtherOutputsAgree(is_seen);
  }

 private:
  [[nodiscard]] Opcode opcode(InstrId id) const { return module_.instructions[id].opcode; }

  [[nodiscard]] bool Accepts(InstrId id, InstrId user) const {
    const std::span<const InstrId> operands = module_.operands_of(user);
    const auto k = static_cast<size_t>(std::ranges::find(operands, id) - operands.begin());
    const bool is_once = std::ranges::count(operands, id) == 1;
    if (user == last_ && opcode(user) == Opcode::kScatter && k < operands.size() / 2 && is_once)
      return true;
    if (user == last_ && opcode(user) == Opcode::kSort && is_once)
      return index_.size() == 1 && index_[0] == static_cast<int64_t>(k);
    if (opcode(last_) == Opcode::kDynamicUpdateSlice && opcode(user) == Opcode::kDynamicSlice &&
        operands[0] == module_.operands_of(last_)[0] &&
        module_.instructions[user].shape ==
            module_.instructions[module_.operands_of(last_)[1]].shape)
      return ReadsSameSlice(user);
    if ((IsElementwiseOn(module_, orders_, user, k) && opcode(user) != Opcode::kCopy) ||
        opcode(user) == Opcode::kBitcast || opcode(user) == Opcode::kTuple ||
        (!fusion_.reduction.is_none() && user == fusion_.reduction))
      return true;
    return user == last_ && opcode(user) == Opcode::kDynamicUpdateSlice && k == 1;
  }

  // What is read where it is then written is no hazard.
  [[nodiscard]] bool ReadsSameSlice(InstrId slice) const {
    const ShapeId shape = module_.instructions[slice].shape;
    const bool is_one =
        std::ranges::all_of(module_.shapes.dims(shape), [](int64_t dim) { return dim == 1; });
    return is_one || std::ranges::equal(module_.operands_of(slice).subspan(1),
                                        module_.operands_of(last_).subspan(2));
  }

  // Other outputs that read the parameter must not come too late for it. That the output itself is
  // elementwise is for soundness, and shows in no dump: a scatter or a sort writes anywhere.
  [[nodiscard]] bool OtherOutputsAgree(const std::vector<uint8_t>& is_seen) const {
    bool other = false;
    bool is_transposed = false;
    for (size_t k = 0; k < fusion_.roots.size(); ++k) {
      const InstrId root = fusion_.roots[k];
      if (is_seen[root.index - body_->first.index] == 0) continue;
      other |= root != output_;
      is_transposed |= fusion_.is_transposed[k] != 0;
    }
    return !other || (IsElementwise(module_, last_) && !is_transposed);
  }

  const Module& module_;
  const Orders& orders_;
  const GpuFusion& fusion_;
  std::span<const int64_t> index_;
  const hlo::Computation* body_;
  InstrId output_;
  InstrId last_;  // what makes the output, behind a bitcast
};

}  // namespace

std::optional<bool> ShareRules::GpuHint(InstrId operand, PositionId output) {
  const Positions& positions = analysis_.flow.positions;
  const InstrId user = positions.instruction(output);
  const std::span<const InstrId> operands = module_.operands_of(user);
  std::vector<int64_t> index;
  positions.AppendIndex(module_.shapes, module_.instructions[user].shape, positions.offset(output),
                        index);
  switch (module_.instructions[user].opcode) {
    case Opcode::kAllReduce:
    case Opcode::kCollectiveBroadcast:
      return operands.size() == 1 ||
             (index.size() == 1 && operands[static_cast<size_t>(index[0])] == operand);
    case Opcode::kCustomCall:
      return MatmulCanShare(module_, user, operand, index.size() == 1 && index[0] == 0);
    case Opcode::kFusion: {
      const ShapeId from = module_.instructions[operand].shape;
      const ShapeId to = positions.shape(output);
      if (from != to && !HaveEqualBits(module_.shapes, from, to)) return false;
      if (module_.called_by(user).empty()) return false;
      const std::span<const InstrId> parameters = module_.parameters_of(module_.called_by(user)[0]);
      const auto k = static_cast<size_t>(std::ranges::find(operands, operand) - operands.begin());
      if (k >= parameters.size()) return false;
      return FusionQuestion(module_, analysis_.orders, gpu_fusions_.Of(user), user, index)
          .Ask(parameters[k]);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace stowplan
