// SPDX-License-Identifier: Apache-2.0
#include "assign/elementwise.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "stowplan/hlo/element_type.h"

namespace stowplan {
namespace {

using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;

bool MapsEachDimension(const Module& module, InstrId id) {
  const hlo::Attribute* attribute = module.FindAttribute(id, hlo::AttributeKey::kDimensions);
  if (attribute == nullptr) return true;
  const std::span<const int64_t> dimensions = Module::Rows(module.ints, attribute->rows());
  for (size_t k = 0; k < dimensions.size(); ++k) {
    if (dimensions[k] != static_cast<int64_t>(k)) return false;
  }
  return true;
}

// Whether the opcode alone decides, and how.
std::optional<bool> ByOpcode(const Module& module, InstrId id) {
  switch (module.instructions[id].opcode) {
    case Opcode::kAbs:
    case Opcode::kAcos:
    case Opcode::kAcosh:
    case Opcode::kAsin:
    case Opcode::kAsinh:
    case Opcode::kAtanh:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kCeil:
    case Opcode::kClz:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kCos:
    case Opcode::kCosh:
    case Opcode::kErf:
    case Opcode::kExp:
    case Opcode::kExpm1:
    case Opcode::kFloor:
    case Opcode::kImag:
    case Opcode::kIsFinite:
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kNot:
    case Opcode::kNegate:
    case Opcode::kPopulationCount:
    case Opcode::kReal:
    case Opcode::kReducePrecision:
    case Opcode::kRsqrt:
    case Opcode::kLogistic:
    case Opcode::kSign:
    case Opcode::kSin:
    case Opcode::kSinh:
    case Opcode::kSqrt:
    case Opcode::kCbrt:
    case Opcode::kTan:
    case Opcode::kTanh:
    case Opcode::kAdd:
    case Opcode::kAtan2:
    case Opcode::kCompare:
    case Opcode::kComplex:
    case Opcode::kDivide:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kMulhi:
    case Opcode::kPower:
    case Opcode::kRemainder:
    case Opcode::kSubtract:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
    case Opcode::kStochasticConvert:
    case Opcode::kSelect:
    case Opcode::kClamp:
    case Opcode::kConstant:
    case Opcode::kRng:
      return true;
    case Opcode::kBitcastConvert: {
      const std::span<const InstrId> operands = module.operands_of(id);
      if (operands.empty()) return false;
      const auto bits = [&](InstrId of) {
        return hlo::BitWidth(module.shapes[module.instructions[of].shape].type);
      };
      return bits(id) == bits(operands[0]);
    }
    case Opcode::kMap:
      return MapsEachDimension(module, id);
    case Opcode::kFusion:
    case Opcode::kDynamicUpdateSlice:
      return std::nullopt;
    default:
      return false;
  }
}

// Whether accepts(id, read) for each read of the fusion's k-th parameter, and of what is made of
// it. Fusions nest as deep as the input likes, and one body may be called many times: all of them
// share one queue, and each instruction is looked at once.
template <class Accepts>
bool AllReadsInFusion(const Module& module, const Orders& orders, InstrId fusion, size_t k,
                      Accepts accepts) {
  std::set<InstrId> seen;
  std::vector<InstrId> queue;
  const auto push = [&](InstrId id) {
    if (seen.insert(id).second) queue.push_back(id);
  };
  const auto push_parameter = [&](InstrId inner, size_t number) {
    if (module.called_by(inner).empty()) return false;
    const std::span<const InstrId> parameters = module.parameters_of(module.called_by(inner)[0]);
    if (number >= parameters.size()) return false;
    push(parameters[number]);
    return true;
  };
  if (!push_parameter(fusion, k)) return false;
  for (size_t next = 0; next < queue.size(); ++next) {
    for (const Orders::Read& read : orders.reads_of(queue[next])) {
      if (!accepts(queue[next], read)) return false;
      if (module.instructions[read.user].opcode == Opcode::kFusion &&
          !push_parameter(read.user, read.operand))
        return false;
      push(read.user);
    }
  }
  return true;
}

bool IsFusionElementwiseOn(const Module& module, const Orders& orders, InstrId fusion, size_t k) {
  return AllReadsInFusion(module, orders, fusion, k, [&](InstrId /*id*/, const Orders::Read& read) {
    return ByOpcode(module, read.user)
        .value_or(module.instructions[read.user].opcode == Opcode::kFusion || read.operand == 0);
  });
}

}  // namespace

bool IsElementwise(const Module& module, InstrId id) {
  if (const std::optional<bool> answer = ByOpcode(module, id)) return *answer;
  if (module.instructions[id].opcode != Opcode::kFusion || module.called_by(id).empty())
    return false;
  // Bodies may call others, and be called many times: each is looked at once.
  std::set<hlo::CompId> seen = {module.called_by(id)[0]};
  std::vector<hlo::CompId> queue = {module.called_by(id)[0]};
  for (size_t next = 0; next < queue.size(); ++next) {
    const hlo::Computation& body = module.computations[queue[next]];
    for (uint32_t k = 0; k < body.count; ++k) {
      const InstrId inner(size_t{body.first.index} + k);
      const Opcode opcode = module.instructions[inner].opcode;
      if (opcode == Opcode::kParameter) continue;
      const std::optional<bool> answer = ByOpcode(module, inner);
      if (answer ? !*answer : opcode != Opcode::kFusion || module.called_by(inner).empty())
        return false;
      if (answer) continue;
      if (const hlo::CompId callee = module.called_by(inner)[0]; seen.insert(callee).second)
        queue.push_back(callee);
    }
  }
  return true;
}

bool IsElementwiseOn(const Module& module, const Orders& orders, InstrId id, size_t k) {
  if (const std::optional<bool> answer = ByOpcode(module, id)) return *answer;
  if (module.instructions[id].opcode == Opcode::kDynamicUpdateSlice) return k == 0;
  return !module.called_by(id).empty() && IsFusionElementwiseOn(module, orders, id, k);
}

bool HaveSameOrder(const hlo::ShapeTable& shapes, hlo::ShapeId a, hlo::ShapeId b) {
  if (a == b) return true;
  const std::span<const int64_t> dims = shapes.dims(a);
  if (!std::ranges::equal(dims, shapes.dims(b))) return false;
  const auto order = [&](hlo::ShapeId id) {
    std::vector<int64_t> found;
    const auto add = [&](int64_t d) {
      if (dims[static_cast<size_t>(d)] != 1) found.push_back(d);
    };
    if (const hlo::LayoutId layout = shapes[id].layout; !layout.is_none()) {
      std::ranges::for_each(shapes.layout(layout).minor_to_major, add);
    } else {
      for (size_t d = dims.size(); d-- != 0;) add(static_cast<int64_t>(d));
    }
    return found;
  };
  return order(a) == order(b);
}

bool KeepsOrderOf(const Module& module, const Orders& orders, InstrId id, size_t k) {
  const auto keeps = [&](InstrId from, InstrId to) {
    return HaveSameOrder(module.shapes, module.instructions[from].shape,
                         module.instructions[to].shape);
  };
  if (!keeps(module.operands_of(id)[k], id)) return false;
  return module.instructions[id].opcode != Opcode::kFusion ||
         AllReadsInFusion(module, orders, id, k, [&](InstrId from, const Orders::Read& read) {
           return keeps(from, read.user);
         });
}

}  // namespace stowplan
