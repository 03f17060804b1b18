// SPDX-License-Identifier: Apache-2.0
// Shapes of instructions against those of their operands.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "hlo/shape_users.h"
#include "hlo/size.h"
#include "hlo/verify_complaints.h"

namespace stowplan::hlo {
namespace {

// How many operands an opcode has, or -1 when that varies. Only what has been so in every version
// of XLA is listed.
int OperandCount(Opcode opcode) {
  switch (opcode) {
    case Opcode::kConstant:
    case Opcode::kIota:
    case Opcode::kParameter:
    case Opcode::kPartitionId:
    case Opcode::kReplicaId:
    case Opcode::kRngGetAndUpdateState:
      return 0;
    case Opcode::kAbs:
    case Opcode::kAsyncDone:
    case Opcode::kBitcast:
    case Opcode::kBitcastConvert:
    case Opcode::kBroadcast:
    case Opcode::kCeil:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kCopyDone:
    case Opcode::kCopyStart:
    case Opcode::kCos:
    case Opcode::kExp:
    case Opcode::kFloor:
    case Opcode::kGetTupleElement:
    case Opcode::kLog:
    case Opcode::kNegate:
    case Opcode::kNot:
    case Opcode::kOptBarrier:
    case Opcode::kReducePrecision:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kRsqrt:
    case Opcode::kSign:
    case Opcode::kSin:
    case Opcode::kSlice:
    case Opcode::kSqrt:
    case Opcode::kTanh:
    case Opcode::kTranspose:
    case Opcode::kWhile:
      return 1;
    case Opcode::kAdd:
    case Opcode::kAddDependency:
    case Opcode::kAnd:
    case Opcode::kCompare:
    case Opcode::kComplex:
    case Opcode::kDivide:
    case Opcode::kGather:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kOr:
    case Opcode::kPad:
    case Opcode::kPower:
    case Opcode::kRemainder:
    case Opcode::kSubtract:
    case Opcode::kXor:
      return 2;
    case Opcode::kClamp:
    case Opcode::kSelect:
    case Opcode::kSelectAndScatter:
      return 3;
    default:
      return -1;
  }
}

std::string CountOf(size_t count, const char* thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

void VerifyGetTupleElement(Verifier& v, InstrId id) {
  const ShapeId tuple = v.shape(v.module.operands_of(id)[0]);
  if (!v.module.shapes.is_tuple(tuple)) {
    v.complaints.At(id, "its operand is not a tuple but " + v.Describe(tuple));
    return;
  }
  const int64_t index = v.module.NumberOr(id, AttributeKey::kIndex, -1);
  const auto part = v.FindPart(tuple, {&index, 1});
  if (!part) {
    v.complaints.At(id,
                    "there is no element " + std::to_string(index) + " in " + v.Describe(tuple));
  } else if (!v.IsCompatible(v.shape(id), *part)) {
    v.complaints.At(id, "its shape and element " + std::to_string(index) +
                            " of its operand differ: " + v.DescribeDifference(v.shape(id), *part));
  }
}

void VerifyTuple(Verifier& v, InstrId id) {
  const std::span<const InstrId> operands = v.module.operands_of(id);
  const ShapeId shape = v.shape(id);
  if (!v.module.shapes.is_tuple(shape)) {
    v.complaints.At(id, "its shape is not a tuple but " + v.Describe(shape));
    return;
  }
  const std::span<const ShapeId> elements = v.module.shapes.elements(shape);
  if (elements.size() != operands.size()) {
    v.complaints.At(id, "its shape is " + v.Describe(shape) + ", but it has " +
                            CountOf(operands.size(), "operand"));
    return;
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!v.IsCompatible(elements[i], v.shape(operands[i]))) {
      v.complaints.At(id, "its element " + std::to_string(i) + " and operand " +
                              Quote(v.module.name(operands[i])) + " differ: " +
                              v.DescribeDifference(elements[i], v.shape(operands[i])));
    }
  }
}

void VerifySameAsOperand(Verifier& v, InstrId id) {
  const InstrId operand = v.module.operands_of(id)[0];
  if (v.IsCompatible(v.shape(id), v.shape(operand))) return;
  v.complaints.At(id, "its shape and that of its operand " + Quote(v.module.name(operand)) +
                          " differ: " + v.DescribeDifference(v.shape(id), v.shape(operand)));
}

// A TPU's copy may convert between element types on the way.
void VerifyCopy(Verifier& v, InstrId id) {
  const ShapeTable& shapes = v.module.shapes;
  const ShapeId from = v.shape(v.module.operands_of(id)[0]);
  const bool are_arrays = IsArray(shapes[v.shape(id)].type) && IsArray(shapes[from].type);
  if (are_arrays && std::ranges::equal(shapes.dims(v.shape(id)), shapes.dims(from))) return;
  VerifySameAsOperand(v, id);
}

// copy-start: (destination, source, context).
void VerifyCopyStart(Verifier& v, InstrId id) {
  const ShapeId shape = v.shape(id);
  const ShapeId source = v.shape(v.module.operands_of(id)[0]);
  for (const int64_t i : {0, 1}) {
    const auto part = v.FindPart(shape, {&i, 1});
    if (!part) {
      v.complaints.At(id,
                      "its shape is " + v.Describe(shape) + ", not (destination, source, context)");
      return;
    }
    if (!v.IsCompatible(*part, source)) {
      v.complaints.At(id, std::string("its ") + (i == 0 ? "destination" : "source") +
                              " and operand differ: " + v.DescribeDifference(*part, source));
    }
  }
}

// The end of an asynchronous operation returns one part of what its beginning made, unless that was
// left empty.
void VerifyDone(Verifier& v, InstrId id, int64_t part_number) {
  const InstrId start = v.module.operands_of(id)[0];
  const auto part = v.FindPart(v.shape(start), {&part_number, 1});
  if (!part) {
    v.complaints.At(id, "its operand " + Quote(v.module.name(start)) +
                            " is not an asynchronous operation but " + v.Describe(v.shape(start)));
  } else if (!v.IsCompatible(v.shape(id), *part) && !v.IsEmptyTuple(*part)) {
    v.complaints.At(id, "its shape and the result of " + Quote(v.module.name(start)) +
                            " differ: " + v.DescribeDifference(v.shape(id), *part));
  }
}

bool IsPermutation(std::span<const int64_t> numbers) {
  std::vector<bool> is_seen(numbers.size());
  for (const int64_t n : numbers) {
    if (n < 0 || n >= std::ssize(numbers) || is_seen[static_cast<size_t>(n)]) return false;
    is_seen[static_cast<size_t>(n)] = true;
  }
  return true;
}

}  // namespace

void VerifySizes(Verifier& v) {
  const Module& m = v.module;
  const std::vector<InstrId> users = FirstUsers(m);
  for (size_t s = 0; s < m.shapes.size(); ++s) {
    const ShapeId id(s);
    if (!IsArray(m.shapes[id].type)) continue;
    std::string message;
    const LayoutId layout = m.shapes[id].layout;
    if (!layout.is_none()) {
      const std::vector<int64_t>& order = m.shapes.layout(layout).minor_to_major;
      if (order.size() != m.shapes.dims(id).size() || !IsPermutation(order)) {
        message = "the layout does not order the dimensions of " + v.Describe(id);
      }
    }
    const ByteCount bytes = PlainByteSize(m.shapes, id);
    if (message.empty() && !bytes && bytes.error() != SizeError::kUnbounded) {
      message = v.Describe(id) + ": " + std::string(hlo::Describe(bytes.error()));
    }
    if (message.empty()) continue;
    if (users[s].is_none()) {
      v.complaints.AtHeader(std::move(message));
    } else {
      v.complaints.At(users[s], message);
    }
  }
}

void VerifyInstruction(Verifier& v, InstrId id) {
  const Opcode opcode = v.module.instructions[id].opcode;
  const int expected = OperandCount(opcode);
  const size_t count = v.module.operands_of(id).size();
  if (expected >= 0 && count != static_cast<size_t>(expected)) {
    v.complaints.At(id, std::string(Name(opcode)) + " takes " +
                            CountOf(static_cast<size_t>(expected), "operand") + ", this has " +
                            std::to_string(count));
    return;
  }
  switch (opcode) {
    case Opcode::kGetTupleElement:
      VerifyGetTupleElement(v, id);
      break;
    case Opcode::kTuple:
      VerifyTuple(v, id);
      break;
    case Opcode::kCopy:
      VerifyCopy(v, id);
      break;
    case Opcode::kAsyncUpdate:
      // With more operands it adds them to those of the operation, and so to its shape.
      if (count == 0) v.complaints.At(id, "it needs the operation that it goes on with");
      if (count == 1) VerifySameAsOperand(v, id);
      break;
    case Opcode::kOptBarrier:
      VerifySameAsOperand(v, id);
      break;
    case Opcode::kDynamicUpdateSlice:
      // Written in place: the result lies where the operand does.
      if (count < 2) {
        v.complaints.At(id, "it needs an operand, an update and where to put it");
      } else {
        VerifySameAsOperand(v, id);
      }
      break;
    case Opcode::kCopyStart:
      VerifyCopyStart(v, id);
      break;
    case Opcode::kCopyDone:
      VerifyDone(v, id, 0);
      break;
    case Opcode::kAsyncDone:
      VerifyDone(v, id, 1);
      break;
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kCall:
    case Opcode::kFusion:
    case Opcode::kAsyncStart:
      VerifyCall(v, id);
      break;
    default:
      break;
  }
  VerifyOperandAliasing(v, id);
}

}  // namespace stowplan::hlo
