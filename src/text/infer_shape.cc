// SPDX-License-Identifier: Apache-2.0
#include "text/infer_shape.h"

#include <algorithm>
#include <optional>

namespace stowplan::text {

using hlo::Attribute;
using hlo::AttributeKey;
using hlo::CompId;
using hlo::ElementType;
using hlo::InstrId;
using hlo::Layout;
using hlo::LayoutId;
using hlo::Module;
using hlo::Opcode;
using hlo::ShapeId;

namespace {

struct Inference {
  Module& m;
  std::span<const InstrId> operands;
  std::span<const Attribute> attributes;

  [[nodiscard]] ShapeId Operand(size_t i) const {
    return i < operands.size() ? m.instructions[operands[i]].shape : ShapeId();
  }
  [[nodiscard]] bool IsArray(size_t i) const {
    return i < operands.size() && hlo::IsArray(m.shapes[Operand(i)].type);
  }
  [[nodiscard]] std::vector<int64_t> Dims(size_t i) const {
    if (i >= operands.size()) return {};
    const std::span<const int64_t> dims = m.shapes.dims(Operand(i));
    return {dims.begin(), dims.end()};
  }
  [[nodiscard]] const Attribute* Find(AttributeKey key) const {
    for (const Attribute& attribute : attributes) {
      if (attribute.key == key) return &attribute;
    }
    return nullptr;
  }
  [[nodiscard]] std::span<const int64_t> Ints(AttributeKey key) const {
    const Attribute* attribute = Find(key);
    return attribute == nullptr ? std::span<const int64_t>()
                                : Module::Rows(m.ints, attribute->rows());
  }
  // An array with the layout XLA gives by default, if the operands have layouts at all.
  [[nodiscard]] ShapeId Array(ElementType type, const std::vector<int64_t>& dims) const {
    const auto has_layout = [&](InstrId id) {
      return !m.shapes[m.instructions[id].shape].layout.is_none();
    };
    LayoutId layout;
    if (std::ranges::any_of(operands, has_layout)) {
      Layout row_major;
      for (size_t i = dims.size(); i-- > 0;)
        row_major.minor_to_major.push_back(static_cast<int64_t>(i));
      layout = m.shapes.AddLayout(row_major);
    }
    return m.shapes.AddArray(type, dims, {}, layout);
  }
  [[nodiscard]] std::vector<ShapeId> OperandShapes() const {
    std::vector<ShapeId> shapes;
    shapes.reserve(operands.size());
    for (const InstrId id : operands) shapes.push_back(m.instructions[id].shape);
    return shapes;
  }
  // The one shape, or a tuple of several.
  [[nodiscard]] ShapeId OneOrTuple(std::span<const ShapeId> shapes) const {
    return shapes.size() == 1 ? shapes[0] : m.shapes.AddTuple(shapes);
  }
};

ShapeId WithType(const Inference& in, size_t operand, ElementType type) {
  return in.IsArray(operand) ? in.Array(type, in.Dims(operand)) : ShapeId();
}

ElementType ComplexPart(ElementType type) {
  if (type == ElementType::kC64) return ElementType::kF32;
  return type == ElementType::kC128 ? ElementType::kF64 : type;
}

bool IsIn(std::span<const int64_t> list, size_t n) {
  return std::ranges::find(list, static_cast<int64_t>(n)) != list.end();
}

ShapeId InferDot(const Inference& in) {
  if (!in.IsArray(0) || !in.IsArray(1)) return {};
  const std::span<const int64_t> lhs_batch = in.Ints(AttributeKey::kLhsBatchDims);
  const std::span<const int64_t> rhs_batch = in.Ints(AttributeKey::kRhsBatchDims);
  const std::span<const int64_t> lhs_contracting = in.Ints(AttributeKey::kLhsContractingDims);
  const std::span<const int64_t> rhs_contracting = in.Ints(AttributeKey::kRhsContractingDims);
  const std::vector<int64_t> lhs = in.Dims(0);
  const std::vector<int64_t> rhs = in.Dims(1);
  std::vector<int64_t> dims;
  for (const int64_t d : lhs_batch) {
    if (d < 0 || d >= static_cast<int64_t>(lhs.size())) return {};
    dims.push_back(lhs[static_cast<size_t>(d)]);
  }
  for (size_t i = 0; i < lhs.size(); ++i) {
    if (!IsIn(lhs_batch, i) && !IsIn(lhs_contracting, i)) dims.push_back(lhs[i]);
  }
  for (size_t i = 0; i < rhs.size(); ++i) {
    if (!IsIn(rhs_batch, i) && !IsIn(rhs_contracting, i)) dims.push_back(rhs[i]);
  }
  return in.Array(in.m.shapes[in.Operand(0)].type, dims);
}

ShapeId InferReduce(const Inference& in) {
  const std::span<const int64_t> reduced = in.Ints(AttributeKey::kDimensions);
  std::vector<ShapeId> results;
  for (size_t i = 0; i < in.operands.size() / 2; ++i) {
    if (!in.IsArray(i)) return {};
    const std::vector<int64_t> all = in.Dims(i);
    std::vector<int64_t> dims;
    for (size_t d = 0; d < all.size(); ++d) {
      if (!IsIn(reduced, d)) dims.push_back(all[d]);
    }
    results.push_back(in.Array(in.m.shapes[in.Operand(i)].type, dims));
  }
  return results.empty() ? ShapeId() : in.OneOrTuple(results);
}

ShapeId InferTranspose(const Inference& in) {
  const std::span<const int64_t> order = in.Ints(AttributeKey::kDimensions);
  const std::vector<int64_t> dims = in.Dims(0);
  if (!in.IsArray(0) || order.size() != dims.size()) return {};
  std::vector<int64_t> result;
  for (const int64_t d : order) {
    if (d < 0 || d >= static_cast<int64_t>(dims.size())) return {};
    result.push_back(dims[static_cast<size_t>(d)]);
  }
  return in.Array(in.m.shapes[in.Operand(0)].type, result);
}

ShapeId InferConcatenate(const Inference& in) {
  const std::span<const int64_t> along = in.Ints(AttributeKey::kDimensions);
  if (!in.IsArray(0) || along.size() != 1) return {};
  std::vector<int64_t> dims = in.Dims(0);
  if (along[0] < 0 || along[0] >= static_cast<int64_t>(dims.size())) return {};
  const auto axis = static_cast<size_t>(along[0]);
  for (size_t i = 1; i < in.operands.size(); ++i) {
    const std::vector<int64_t> other = in.Dims(i);
    if (other.size() != dims.size() || other[axis] < 0 || dims[axis] < 0 ||
        __builtin_add_overflow(dims[axis], other[axis], &dims[axis])) {
      return {};
    }
  }
  return in.Array(in.m.shapes[in.Operand(0)].type, dims);
}

ShapeId InferSlice(const Inference& in) {
  const std::span<const int64_t> slices = in.Ints(AttributeKey::kSlice);
  if (!in.IsArray(0) || slices.size() != in.Dims(0).size() * 3) return {};
  std::vector<int64_t> dims;
  for (size_t i = 0; i < slices.size(); i += 3) {
    const int64_t stride = slices[i + 2];
    if (stride <= 0 || slices[i] < 0 || slices[i + 1] < slices[i] ||
        slices[i + 1] > in.Dims(0)[i / 3])
      return {};
    const int64_t length = slices[i + 1] - slices[i];
    dims.push_back(length / stride + (length % stride == 0 ? 0 : 1));
  }
  return in.Array(in.m.shapes[in.Operand(0)].type, dims);
}

ShapeId InferPad(const Inference& in) {
  const std::span<const int64_t> padding = in.Ints(AttributeKey::kPadding);
  std::vector<int64_t> dims = in.Dims(0);
  if (!in.IsArray(0) || padding.size() != dims.size() * 3) return {};
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t inside = 0;
    if (dims[i] < 0 ||  // unbounded
        __builtin_mul_overflow(std::max<int64_t>(dims[i] - 1, 0), padding[i * 3 + 2], &inside) ||
        __builtin_add_overflow(dims[i], inside, &dims[i]) ||
        __builtin_add_overflow(dims[i], padding[i * 3], &dims[i]) ||
        __builtin_add_overflow(dims[i], padding[i * 3 + 1], &dims[i]) || dims[i] < 0) {
      return {};
    }
  }
  return in.Array(in.m.shapes[in.Operand(0)].type, dims);
}

// How often a window fits into a dimension of a base; nothing when the numbers make no sense. `w`
// are the seven numbers of the window's dimension (hlo/attribute.h).
std::optional<int64_t> WindowCount(int64_t base, std::span<const int64_t> w) {
  constexpr int64_t kLimit = int64_t{1} << 40U;
  if (base < 0 || base > kLimit) return std::nullopt;
  for (const int64_t n : w) {
    if (n > (int64_t{1} << 20U) || n < -(int64_t{1} << 20U)) return std::nullopt;
  }
  if (w[0] < 1 || w[1] < 1 || w[4] < 1 || w[5] < 1) return std::nullopt;
  const int64_t dilated = base == 0 ? 0 : (base - 1) * w[5] + 1;
  const int64_t room = dilated + w[2] + w[3] - ((w[0] - 1) * w[4] + 1);
  return room < 0 ? 0 : room / w[1] + 1;
}

ShapeId InferReduceWindow(const Inference& in) {
  const std::span<const int64_t> window = in.Ints(AttributeKey::kWindow);
  std::vector<ShapeId> results;
  for (size_t i = 0; i < in.operands.size() / 2; ++i) {
    std::vector<int64_t> dims = in.Dims(i);
    if (!in.IsArray(i) || window.size() != dims.size() * 7) return {};
    for (size_t d = 0; d < dims.size(); ++d) {
      const std::optional<int64_t> count = WindowCount(dims[d], window.subspan(d * 7, 7));
      if (!count) return {};
      dims[d] = *count;
    }
    results.push_back(in.Array(in.m.shapes[in.Operand(i)].type, dims));
  }
  return results.empty() ? ShapeId() : in.OneOrTuple(results);
}

// dim_labels=b01f_01io->b01f: what each dimension of input, kernel and output is.
ShapeId InferConvolution(const Inference& in) {
  const Attribute* attribute = in.Find(AttributeKey::kDimLabels);
  const std::span<const int64_t> window = in.Ints(AttributeKey::kWindow);
  if (attribute == nullptr || !in.IsArray(0) || !in.IsArray(1)) return {};
  const std::string_view labels = in.m.view(attribute->text());
  const size_t bar = labels.find('_');
  const size_t arrow = labels.find("->");
  if (bar == std::string_view::npos || arrow == std::string_view::npos || arrow < bar) return {};
  const std::string_view input = labels.substr(0, bar);
  const std::string_view kernel = labels.substr(bar + 1, arrow - bar - 1);
  const std::string_view output = labels.substr(arrow + 2);
  const std::vector<int64_t> input_dims = in.Dims(0);
  const std::vector<int64_t> kernel_dims = in.Dims(1);
  if (input.size() != input_dims.size() || kernel.size() != kernel_dims.size()) return {};
  const auto dim = [](std::string_view names, const std::vector<int64_t>& dims, char name) {
    const size_t at = names.find(name);
    return at == std::string_view::npos ? int64_t{-1} : dims[at];
  };
  const Attribute* groups = in.Find(AttributeKey::kBatchGroupCount);
  std::vector<int64_t> dims;
  for (const char name : output) {
    if (name == 'b') {
      const int64_t count = groups == nullptr ? 1 : groups->number();
      dims.push_back(count < 1 ? -1 : dim(input, input_dims, 'b') / count);
    } else if (name == 'f') {
      dims.push_back(dim(kernel, kernel_dims, 'o'));
    } else {
      const auto spatial = static_cast<size_t>(name - '0');
      if (name < '0' || name > '9' || (spatial + 1) * 7 > window.size()) return {};
      const std::optional<int64_t> count =
          WindowCount(dim(input, input_dims, name), window.subspan(spatial * 7, 7));
      dims.push_back(count.value_or(-1));
    }
    if (dims.back() < 0) return {};
  }
  return in.Array(in.m.shapes[in.Operand(0)].type, dims);
}

// The root of the computation that is called; none when that is not read yet.
ShapeId InferCalled(const Inference& in, Opcode opcode) {
  const CompId id = ResultComputation(in.m, opcode, in.attributes);
  if (id.is_none() || id.index >= in.m.computations.size() || in.m.computations[id].root.is_none())
    return {};
  return in.m.instructions[in.m.computations[id].root].shape;
}

ShapeId InferElement(const Inference& in) {
  const Attribute* index = in.Find(AttributeKey::kIndex);
  if (index == nullptr || in.operands.empty() || !in.m.shapes.is_tuple(in.Operand(0))) return {};
  const std::span<const ShapeId> elements = in.m.shapes.elements(in.Operand(0));
  const int64_t i = index->number();
  return i < 0 || i >= static_cast<int64_t>(elements.size()) ? ShapeId()
                                                             : elements[static_cast<size_t>(i)];
}

ShapeId InferAllOperands(const Inference& in) {
  return in.operands.empty() ? ShapeId() : in.OneOrTuple(in.OperandShapes());
}

// Tuples of tuples double with each line: what could not be printed is not made.
ShapeId InferTuple(const Inference& in) {
  constexpr int64_t kMaxLeaves = int64_t{1} << 20U;
  int64_t leaves = 0;
  for (size_t i = 0; i < in.operands.size(); ++i) {
    leaves += std::min(in.m.shapes.leaf_count(in.Operand(i)), kMaxLeaves + 1);
  }
  return leaves > kMaxLeaves ? ShapeId() : in.m.shapes.AddTuple(in.OperandShapes());
}

// Opcodes whose result looks like their first operand.
bool IsLikeOperand(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kAcos:
    case Opcode::kAcosh:
    case Opcode::kAdd:
    case Opcode::kAddDependency:
    case Opcode::kAnd:
    case Opcode::kAsin:
    case Opcode::kAsinh:
    case Opcode::kAtan2:
    case Opcode::kAtanh:
    case Opcode::kCbrt:
    case Opcode::kCeil:
    case Opcode::kCholesky:
    case Opcode::kClz:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kCopy:
    case Opcode::kCos:
    case Opcode::kCosh:
    case Opcode::kDivide:
    case Opcode::kDomain:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kErf:
    case Opcode::kExp:
    case Opcode::kExpm1:
    case Opcode::kFloor:
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kLogistic:
    case Opcode::kMap:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMulhi:
    case Opcode::kMultiply:
    case Opcode::kNegate:
    case Opcode::kNot:
    case Opcode::kOptBarrier:
    case Opcode::kOr:
    case Opcode::kPopulationCount:
    case Opcode::kPower:
    case Opcode::kReducePrecision:
    case Opcode::kRemainder:
    case Opcode::kReverse:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kRsqrt:
    case Opcode::kScatter:
    case Opcode::kSelectAndScatter:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
    case Opcode::kSign:
    case Opcode::kSin:
    case Opcode::kSinh:
    case Opcode::kSqrt:
    case Opcode::kSubtract:
    case Opcode::kTan:
    case Opcode::kTanh:
    case Opcode::kWhile:
    case Opcode::kXor:
      return true;
    default:
      return false;
  }
}

ShapeId InferSpecial(const Inference& in, Opcode opcode) {
  switch (opcode) {
    case Opcode::kCompare:
    case Opcode::kIsFinite:
      return WithType(in, 0, ElementType::kPred);
    case Opcode::kReal:
    case Opcode::kImag:
      return in.IsArray(0) ? WithType(in, 0, ComplexPart(in.m.shapes[in.Operand(0)].type))
                           : ShapeId();
    case Opcode::kComplex:
      return in.IsArray(0) ? WithType(in, 0,
                                      in.m.shapes[in.Operand(0)].type == ElementType::kF64
                                          ? ElementType::kC128
                                          : ElementType::kC64)
                           : ShapeId();
    case Opcode::kSelect:
    case Opcode::kClamp:
    case Opcode::kTriangularSolve:
      return in.Operand(1);
    case Opcode::kTuple:
      return InferTuple(in);
    case Opcode::kGetTupleElement:
      return InferElement(in);
    case Opcode::kAfterAll:
      return in.m.shapes.AddOther(ElementType::kToken);
    case Opcode::kCall:
    case Opcode::kFusion:
    case Opcode::kConditional:
      return InferCalled(in, opcode);
    case Opcode::kDot:
      return InferDot(in);
    case Opcode::kReduce:
      return InferReduce(in);
    case Opcode::kReduceWindow:
      return InferReduceWindow(in);
    case Opcode::kConvolution:
      return InferConvolution(in);
    case Opcode::kTranspose:
      return InferTranspose(in);
    case Opcode::kConcatenate:
      return InferConcatenate(in);
    case Opcode::kSlice:
      return InferSlice(in);
    case Opcode::kPad:
      return InferPad(in);
    case Opcode::kSort:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
      return InferAllOperands(in);
    case Opcode::kDynamicSlice: {
      const std::span<const int64_t> sizes = in.Ints(AttributeKey::kDynamicSliceSizes);
      if (!in.IsArray(0) || sizes.empty()) return {};
      return in.Array(in.m.shapes[in.Operand(0)].type, {sizes.begin(), sizes.end()});
    }
    case Opcode::kPartitionId:
    case Opcode::kReplicaId:
      return in.Array(ElementType::kU32, {});
    case Opcode::kGetDimensionSize:
      return in.Array(ElementType::kS32, {});
    default:
      return {};
  }
}

}  // namespace

CompId ResultComputation(const Module& module, Opcode opcode,
                         std::span<const Attribute> attributes) {
  for (const Attribute& attribute : attributes) {
    const AttributeKey key = attribute.key;
    if (opcode == Opcode::kConditional && key == AttributeKey::kBranchComputations) {
      if (attribute.rows().count == 0) return {};
      return module.computation_pool[attribute.rows().begin];
    }
    if ((opcode == Opcode::kCall && key == AttributeKey::kToApply) ||
        (opcode == Opcode::kFusion && key == AttributeKey::kCalls) ||
        (opcode == Opcode::kConditional && key == AttributeKey::kTrueComputation)) {
      return CompId(static_cast<size_t>(attribute.number()));
    }
  }
  return {};
}

ShapeId InferShape(Module& module, Opcode opcode, std::span<const InstrId> operands,
                   std::span<const Attribute> attributes) {
  const Inference in{module, operands, attributes};
  if (IsLikeOperand(opcode)) return in.Operand(0);
  return InferSpecial(in, opcode);
}

}  // namespace stowplan::text
