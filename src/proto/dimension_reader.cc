// SPDX-License-Identifier: Apache-2.0
// The part of AttributeReader that is about dimensions: windows, slices, and which dimension of an
// operand plays which role.
#include <algorithm>
#include <array>

#include "proto/attribute_reader.h"

namespace stowplan::proto {
namespace {

using hlo::Opcode;
using hlo::ShapeId;
using hlo::ShapeTable;

// No convolution has more dimensions.
constexpr int64_t kMaxConvolutionRank = 64;

// One side of dim_labels: the label of each dimension, `?` for those without. False when a
// dimension is out of bounds.
bool AppendLabels(char first, int64_t first_dim, char second, int64_t second_dim,
                  std::span<const int64_t> spatial, std::string& out) {
  int64_t rank = std::max(first_dim, second_dim) + 1;
  for (const int64_t dim : spatial) rank = std::max(rank, dim + 1);
  const bool has_negative = first_dim < 0 || second_dim < 0 ||
                            std::ranges::any_of(spatial, [](int64_t d) { return d < 0; });
  if (has_negative || rank > kMaxConvolutionRank) return false;
  std::vector<std::string> labels(static_cast<size_t>(rank), "?");
  labels[static_cast<size_t>(first_dim)] = first;
  labels[static_cast<size_t>(second_dim)] = second;
  for (size_t i = 0; i < spatial.size(); ++i)
    labels[static_cast<size_t>(spatial[i])] = std::to_string(i);
  for (const std::string& label : labels) out += label;
  return true;
}

// Appends the seven numbers of a window's dimension.
void AppendWindowDimension(Context& context, std::string_view bytes, std::vector<int64_t>& out) {
  std::array<int64_t, 7> numbers{};
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(WindowDimensionField::kSize):
        numbers[0] = message.Int64();
        break;
      case VarintKey(WindowDimensionField::kStride):
        numbers[1] = message.Int64();
        break;
      case VarintKey(WindowDimensionField::kPaddingLow):
        numbers[2] = message.Int64();
        break;
      case VarintKey(WindowDimensionField::kPaddingHigh):
        numbers[3] = message.Int64();
        break;
      case VarintKey(WindowDimensionField::kWindowDilation):
        numbers[4] = message.Int64();
        break;
      case VarintKey(WindowDimensionField::kBaseDilation):
        numbers[5] = message.Int64();
        break;
      case VarintKey(WindowDimensionField::kWindowReversal):
        numbers[6] = message.Bool() ? 1 : 0;
        break;
      default:
        context.Skip(MessageKind::kWindowDimension, message);
    }
  }
  out.insert(out.end(), numbers.begin(), numbers.end());
}

// Messages of three numbers with the field numbers 1 to 3: slices and paddings.
void AppendTriple(Context& context, MessageKind kind, std::string_view bytes,
                  std::vector<int64_t>& out) {
  std::array<int64_t, 3> numbers{};
  Message message(bytes);
  while (message.Next()) {
    if (message.wire_type() == kVarint && message.number() >= 1 && message.number() <= 3) {
      numbers[message.number() - 1] = message.Int64();
    } else {
      context.Skip(kind, message);
    }
  }
  out.insert(out.end(), numbers.begin(), numbers.end());
}

}  // namespace

void AttributeReader::AddWindow(Empty empty) {
  ints_.clear();
  Message message(fields_->Bytes(Field::kWindow));
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(WindowField::kDimensions):
        AppendWindowDimension(context_, message.Bytes(), ints_);
        break;
      default:
        context_.Skip(MessageKind::kWindow, message);
    }
  }
  if (!ints_.empty() || empty == Empty::kKept) AddInts(Key::kWindow, ints_);
}

void AttributeReader::AddDimLabels() {
  int64_t input_batch = 0, input_feature = 0, kernel_input = 0, kernel_output = 0, output_batch = 0,
          output_feature = 0;
  std::vector<int64_t> input, kernel, output;
  Message message(fields_->Bytes(Field::kConvolutionDimensionNumbers));
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(ConvolutionField::kInputBatch):
        input_batch = message.Int64();
        break;
      case VarintKey(ConvolutionField::kInputFeature):
        input_feature = message.Int64();
        break;
      case VarintKey(ConvolutionField::kKernelInputFeature):
        kernel_input = message.Int64();
        break;
      case VarintKey(ConvolutionField::kKernelOutputFeature):
        kernel_output = message.Int64();
        break;
      case VarintKey(ConvolutionField::kOutputBatch):
        output_batch = message.Int64();
        break;
      case VarintKey(ConvolutionField::kOutputFeature):
        output_feature = message.Int64();
        break;
      case VarintKey(ConvolutionField::kInputSpatial):
      case BytesKey(ConvolutionField::kInputSpatial):
        message.AppendInts(input);
        break;
      case VarintKey(ConvolutionField::kKernelSpatial):
      case BytesKey(ConvolutionField::kKernelSpatial):
        message.AppendInts(kernel);
        break;
      case VarintKey(ConvolutionField::kOutputSpatial):
      case BytesKey(ConvolutionField::kOutputSpatial):
        message.AppendInts(output);
        break;
      default:
        context_.Skip(MessageKind::kConvolution, message);
    }
  }
  text_.clear();
  bool is_good = AppendLabels('b', input_batch, 'f', input_feature, input, text_);
  text_ += '_';
  is_good = AppendLabels('i', kernel_input, 'o', kernel_output, kernel, text_) && is_good;
  text_ += "->";
  is_good = AppendLabels('b', output_batch, 'f', output_feature, output, text_) && is_good;
  if (!is_good) return Error("a dimension number of the convolution is out of bounds");
  AddMade(Key::kDimLabels, text_);
}

void AttributeReader::AddDotDimensions(std::string_view bytes) {
  std::vector<int64_t> lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(DotField::kLhsContracting):
      case BytesKey(DotField::kLhsContracting):
        message.AppendInts(lhs_contracting);
        break;
      case VarintKey(DotField::kRhsContracting):
      case BytesKey(DotField::kRhsContracting):
        message.AppendInts(rhs_contracting);
        break;
      case VarintKey(DotField::kLhsBatch):
      case BytesKey(DotField::kLhsBatch):
        message.AppendInts(lhs_batch);
        break;
      case VarintKey(DotField::kRhsBatch):
      case BytesKey(DotField::kRhsBatch):
        message.AppendInts(rhs_batch);
        break;
      default:
        context_.Skip(MessageKind::kDot, message);
    }
  }
  AddIntsUnlessEmpty(Key::kLhsBatchDims, lhs_batch);
  AddInts(Key::kLhsContractingDims, lhs_contracting);
  AddIntsUnlessEmpty(Key::kRhsBatchDims, rhs_batch);
  AddInts(Key::kRhsContractingDims, rhs_contracting);
}

void AttributeReader::ReadDot() {
  // Of the operands of the newer kinds only the two that are multiplied have a precision.
  if (head_.opcode != Opcode::kRaggedDot) {
    AddDotDimensions(fields_->Bytes(Field::kDotDimensionNumbers));
    return AddPrecision(head_.opcode == Opcode::kDot ? head_.operands.size() : 2);
  }
  std::string_view dot;
  std::vector<int64_t> ragged, group;
  Message message(fields_->Bytes(Field::kRaggedDotDimensionNumbers));
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(RaggedDotField::kDotDimensionNumbers):
        dot = message.Bytes();
        break;
      case VarintKey(RaggedDotField::kLhsRagged):
      case BytesKey(RaggedDotField::kLhsRagged):
        message.AppendInts(ragged);
        break;
      case VarintKey(RaggedDotField::kRhsGroup):
      case BytesKey(RaggedDotField::kRhsGroup):
        message.AppendInts(group);
        break;
      default:
        context_.Skip(MessageKind::kRaggedDot, message);
    }
  }
  AddDotDimensions(dot);
  AddIntsUnlessEmpty(Key::kLhsRaggedDims, ragged);
  AddIntsUnlessEmpty(Key::kRhsGroupDims, group);
  AddPrecision(2);
}

void AttributeReader::ReadGather() {
  std::vector<int64_t> offset, collapsed, start, operand_batching, start_batching;
  int64_t vector_dim = 0;
  Message message(fields_->Bytes(Field::kGatherDimensionNumbers));
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(GatherField::kOffsetDims):
      case BytesKey(GatherField::kOffsetDims):
        message.AppendInts(offset);
        break;
      case VarintKey(GatherField::kCollapsedSliceDims):
      case BytesKey(GatherField::kCollapsedSliceDims):
        message.AppendInts(collapsed);
        break;
      case VarintKey(GatherField::kStartIndexMap):
      case BytesKey(GatherField::kStartIndexMap):
        message.AppendInts(start);
        break;
      case VarintKey(GatherField::kIndexVectorDim):
        vector_dim = message.Int64();
        break;
      case VarintKey(GatherField::kOperandBatchingDims):
      case BytesKey(GatherField::kOperandBatchingDims):
        message.AppendInts(operand_batching);
        break;
      case VarintKey(GatherField::kStartIndicesBatchingDims):
      case BytesKey(GatherField::kStartIndicesBatchingDims):
        message.AppendInts(start_batching);
        break;
      default:
        context_.Skip(MessageKind::kGather, message);
    }
  }
  AddInts(Key::kOffsetDims, offset);
  AddInts(Key::kCollapsedSliceDims, collapsed);
  AddInts(Key::kStartIndexMap, start);
  AddIntsUnlessEmpty(Key::kOperandBatchingDims, operand_batching);
  AddIntsUnlessEmpty(Key::kStartIndicesBatchingDims, start_batching);
  AddNumber(Key::kIndexVectorDim, vector_dim);
  AddInts(Key::kSliceSizes, Field::kGatherSliceSizes);
  AddFlag(Key::kIndicesAreSorted, Field::kIndicesAreSorted);
}

void AttributeReader::ReadScatter() {
  std::vector<int64_t> update, inserted, dims, input_batching, scatter_batching;
  int64_t vector_dim = 0;
  Message message(fields_->Bytes(Field::kScatterDimensionNumbers));
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(ScatterField::kUpdateWindowDims):
      case BytesKey(ScatterField::kUpdateWindowDims):
        message.AppendInts(update);
        break;
      case VarintKey(ScatterField::kInsertedWindowDims):
      case BytesKey(ScatterField::kInsertedWindowDims):
        message.AppendInts(inserted);
        break;
      case VarintKey(ScatterField::kScatterDimsToOperandDims):
      case BytesKey(ScatterField::kScatterDimsToOperandDims):
        message.AppendInts(dims);
        break;
      case VarintKey(ScatterField::kIndexVectorDim):
        vector_dim = message.Int64();
        break;
      case VarintKey(ScatterField::kInputBatchingDims):
      case BytesKey(ScatterField::kInputBatchingDims):
        message.AppendInts(input_batching);
        break;
      case VarintKey(ScatterField::kScatterIndicesBatchingDims):
      case BytesKey(ScatterField::kScatterIndicesBatchingDims):
        message.AppendInts(scatter_batching);
        break;
      default:
        context_.Skip(MessageKind::kScatter, message);
    }
  }
  AddInts(Key::kUpdateWindowDims, update);
  AddInts(Key::kInsertedWindowDims, inserted);
  AddInts(Key::kScatterDimsToOperandDims, dims);
  AddIntsUnlessEmpty(Key::kInputBatchingDims, input_batching);
  AddIntsUnlessEmpty(Key::kScatterIndicesBatchingDims, scatter_batching);
  AddNumber(Key::kIndexVectorDim, vector_dim);
  AddFlag(Key::kIndicesAreSorted, Field::kIndicesAreSorted);
  AddFlag(Key::kUniqueIndices, Field::kUniqueIndices);
  AddCalled(Key::kToApply, 0);
}

void AttributeReader::AddSlices() {
  ints_.clear();
  fields_->ForEachBytes(Field::kSliceDimensions, [&](std::string_view bytes) {
    AppendTriple(context_, MessageKind::kSliceDimensions, bytes, ints_);
  });
  AddInts(Key::kSlice, ints_);
}

void AttributeReader::AddPadding() {
  ints_.clear();
  Message message(fields_->Bytes(Field::kPaddingConfig));
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(PaddingConfigField::kDimensions):
        AppendTriple(context_, MessageKind::kPaddingDimension, message.Bytes(), ints_);
        break;
      default:
        context_.Skip(MessageKind::kPaddingConfig, message);
    }
  }
  AddInts(Key::kPadding, ints_);
}

// The proto has the sizes of all slices in one list. A slice has as many as the array that it is
// taken from has dimensions; of a tuple, each array gives one slice or, when its start indices are
// a tuple of tuples, several. XLA takes numbers that are missing at the end for 0.
void AttributeReader::AddPermuteSliceSizes() {
  std::vector<int64_t> sizes;
  fields_->AppendNumbers(Field::kDynamicSliceSizes, sizes);
  if (sizes.empty()) return;
  const ShapeTable& table = shape_table();
  const ShapeId* input = OperandShape(0);
  const ShapeId* starts = OperandShape(2);
  if (input == nullptr || starts == nullptr) return Error("slice sizes without operands to slice");
  ints_.clear();
  size_t next = 0;
  const auto slice = [&](ShapeId array) {
    const size_t rank = table.dims(array).size();
    ints_.push_back(static_cast<int64_t>(rank));
    for (size_t i = 0; i < rank; ++i) ints_.push_back(next < sizes.size() ? sizes[next++] : 0);
  };
  const std::span<const ShapeId> starts_of = table.elements(*starts);
  const auto slices_of = [&](ShapeId start) {
    const std::span<const ShapeId> parts = table.elements(start);
    return !parts.empty() && table.is_tuple(parts[0]) ? parts.size() : size_t{1};
  };
  if (table.is_tuple(*input)) {
    const std::span<const ShapeId> arrays = table.elements(*input);
    for (size_t i = 0; i < arrays.size(); ++i) {
      for (size_t k = i < starts_of.size() ? slices_of(starts_of[i]) : 1; k > 0; --k)
        slice(arrays[i]);
    }
  } else {
    for (size_t k = slices_of(*starts); k > 0; --k) slice(*input);
  }
  AddInts(Key::kPermuteSliceSizes, ints_);
}

}  // namespace stowplan::proto
