// SPDX-License-Identifier: Apache-2.0
// The pieces that AttributeReader puts together: single attributes, and the messages that hold several.
#include <algorithm>
#include <array>
#include <bit>

#include "hlo/number.h"
#include "hlo/sharding.h"
#include "proto/attribute_reader.h"
#include "proto/float_text.h"
#include "proto/literal_reader.h"
#include "proto/sharding_reader.h"

namespace stowplan::proto {
namespace {

using hlo::Attribute;
using hlo::CompId;
using hlo::ElementType;
using hlo::Opcode;
using hlo::ShapeId;
using hlo::ShapeTable;
using hlo::Text;

constexpr std::array<std::string_view, 3> kPrecisions = {"default", "high", "highest"};
constexpr std::array<std::string_view, 14> kAlgorithms = {
    "unset",
    "dot_any_f8_any_f8_f32",
    "dot_any_f8_any_f8_f32_fast_accum",
    "dot_f16_f16_f16",
    "dot_f16_f16_f32",
    "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32",
    "dot_bf16_bf16_f32_x3",
    "dot_bf16_bf16_f32_x6",
    "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3",
    "dot_f32_f32_f32",
    "dot_f64_f64_f64",
    "dot_bf16_bf16_f32_x9"};

// No convolution has more dimensions.
constexpr int64_t kMaxConvolutionRank = 64;

// One side of dim_labels: the label of each dimension, `?` for those without. False when a dimension is out of bounds.
bool AppendLabels(char first, int64_t first_dim, char second, int64_t second_dim, std::span<const int64_t> spatial,
                  std::string& out) {
  int64_t rank = std::max(first_dim, second_dim) + 1;
  for (const int64_t dim : spatial) rank = std::max(rank, dim + 1);
  const bool has_negative = first_dim < 0 || second_dim < 0 || std::ranges::any_of(spatial, [](int64_t d) { return d < 0; });
  if (has_negative || rank > kMaxConvolutionRank) return false;
  std::vector<std::string> labels(static_cast<size_t>(rank), "?");
  labels[static_cast<size_t>(first_dim)] = first;
  labels[static_cast<size_t>(second_dim)] = second;
  for (size_t i = 0; i < spatial.size(); ++i) labels[static_cast<size_t>(spatial[i])] = std::to_string(i);
  for (const std::string& label : labels) out += label;
  return true;
}

// Appends the seven numbers of a window's dimension.
void AppendWindowDimension(Context& context, std::string_view bytes, std::vector<int64_t>& out) {
  std::array<int64_t, 7> numbers{};
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(WindowDimensionField::kSize): numbers[0] = message.Int64(); break;
      case VarintKey(WindowDimensionField::kStride): numbers[1] = message.Int64(); break;
      case VarintKey(WindowDimensionField::kPaddingLow): numbers[2] = message.Int64(); break;
      case VarintKey(WindowDimensionField::kPaddingHigh): numbers[3] = message.Int64(); break;
      case VarintKey(WindowDimensionField::kWindowDilation): numbers[4] = message.Int64(); break;
      case VarintKey(WindowDimensionField::kBaseDilation): numbers[5] = message.Int64(); break;
      case VarintKey(WindowDimensionField::kWindowReversal): numbers[6] = message.Bool() ? 1 : 0; break;
      default: context.Skip(MessageKind::kWindowDimension, message);
    }
  }
  out.insert(out.end(), numbers.begin(), numbers.end());
}

// Messages of three numbers with the field numbers 1 to 3: slices and paddings.
void AppendTriple(Context& context, MessageKind kind, std::string_view bytes, std::vector<int64_t>& out) {
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

void AppendAlias(Context& context, std::string_view bytes, std::vector<int64_t>& out) {
  std::vector<int64_t> output;
  std::vector<int64_t> input;
  int64_t operand = 0;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(OutputOperandAliasingField::kOutputShapeIndex):
      case BytesKey(OutputOperandAliasingField::kOutputShapeIndex): message.AppendInts(output); break;
      case VarintKey(OutputOperandAliasingField::kOperandIndex): operand = message.Int64(); break;
      case VarintKey(OutputOperandAliasingField::kOperandShapeIndex):
      case BytesKey(OutputOperandAliasingField::kOperandShapeIndex): message.AppendInts(input); break;
      default: context.Skip(MessageKind::kOutputOperandAliasing, message);
    }
  }
  out.push_back(static_cast<int64_t>(output.size()));
  out.insert(out.end(), output.begin(), output.end());
  out.push_back(operand);
  out.push_back(static_cast<int64_t>(input.size()));
  out.insert(out.end(), input.begin(), input.end());
}

}  // namespace

const ShapeId* AttributeReader::OperandShape(size_t index) {
  if (index >= head_.operands.size()) return nullptr;
  return &context_.module().instructions[head_.operands[index]].shape;
}

void AttributeReader::AddFlag(Key key, Field field) {
  if (fields_->Flag(field)) AddNumber(key, 1);
}

void AttributeReader::AddWord(Key key, std::string_view word) {
  attributes_.push_back(Attribute::OfText(key, context_.Word(word)));
}

void AttributeReader::AddEnum(Key key, int64_t number, std::span<const std::string_view> words) {
  if (number >= 0 && number < static_cast<int64_t>(words.size())) return AddWord(key, words[static_cast<size_t>(number)]);
  // Newer than this reader: kept, though nobody can read it back.
  AddMade(key, std::to_string(number));
}

void AttributeReader::AddWord(Key key, Field field, std::span<const std::string_view> words) {
  AddEnum(key, fields_->Number(field), words);
}

void AttributeReader::AddText(Key key, Field field) {
  attributes_.push_back(Attribute::OfText(key, context_.builder().ToText(fields_->Bytes(field))));
}

void AttributeReader::AddTextUnlessEmpty(Key key, Field field) {
  if (!fields_->Bytes(field).empty()) AddText(key, field);
}

void AttributeReader::AddMade(Key key, std::string_view text) {
  attributes_.push_back(Attribute::OfText(key, context_.builder().AddText(text)));
}

void AttributeReader::AddInts(Key key, std::span<const int64_t> numbers) {
  attributes_.push_back(Attribute::OfRows(key, context_.builder().AddInts(numbers)));
}

void AttributeReader::AddInts(Key key, Field field) {
  ints_.clear();
  fields_->AppendNumbers(field, ints_);
  AddInts(key, ints_);
}

void AttributeReader::AddIntsUnlessEmpty(Key key, std::span<const int64_t> numbers) {
  if (!numbers.empty()) AddInts(key, numbers);
}

void AttributeReader::AddFirstDimension(Key key) {
  ints_.clear();
  fields_->AppendNumbers(Field::kDimensions, ints_);
  if (ints_.empty()) return Error("the instruction has no dimension");
  AddNumber(key, ints_[0]);
}

void AttributeReader::AddInferredDimension() {
  ints_.clear();
  fields_->AppendNumbers(Field::kDimensions, ints_);
  if (!ints_.empty() && ints_[0] != -1) AddNumber(Key::kInferredDimension, ints_[0]);
}

void AttributeReader::AddCalled(Key key, size_t index) {
  if (index < called_.size()) return AddNumber(key, called_[index].index);
  // A computation that does not exist has been complained of already.
  ints_.clear();
  fields_->AppendNumbers(Field::kCalledComputationIds, ints_);
  if (index >= ints_.size()) {
    Error("the instruction calls " + std::to_string(ints_.size()) + " computations, which is not enough for its opcode");
  }
}

void AttributeReader::AddCalledList(Key key) {
  attributes_.push_back(Attribute::OfRows(key, context_.builder().AddComputations(called_)));
}

void AttributeReader::AddBranches() {
  const ShapeId* selector = OperandShape(0);
  if (selector != nullptr && shape_table()[*selector].type == ElementType::kPred) {
    AddCalled(Key::kTrueComputation, 0);
    AddCalled(Key::kFalseComputation, 1);
  } else {
    AddCalledList(Key::kBranchComputations);
  }
}

// Numbers below 1 mean none.
void AttributeReader::AddChannelId() {
  int64_t id = fields_->Number(Field::kChannelId);
  if (id <= 0) id = fields_->Number(Field::kAllReduceId);
  if (id > 0) AddNumber(Key::kChannelId, id);
}

void AttributeReader::AddReplicaGroups() {
  hlo::DeviceGroups groups;
  if (fields_->Has(Field::kIotaCollectiveDeviceList)) {
    groups = ReadIotaDeviceList(context_, fields_->Bytes(Field::kIotaCollectiveDeviceList));
  } else if (fields_->Has(Field::kMeshAxesReplicaGroupList)) {
    groups = ReadMeshDeviceList(context_, fields_->Bytes(Field::kMeshAxesReplicaGroupList));
  } else if (fields_->Has(Field::kReplicaGroups)) {
    fields_->ForEachBytes(Field::kReplicaGroups, [&](std::string_view bytes) {
      groups.groups.push_back(ReadReplicaGroup(context_, bytes));
    });
  } else {
    groups = ReadDeviceList(context_, fields_->Bytes(Field::kCollectiveDeviceList));
  }
  text_.clear();
  hlo::AppendDeviceGroups(groups, text_);
  AddMade(Key::kReplicaGroups, text_);
}

void AttributeReader::AddConstant() {
  text_.clear();
  if (fields_->Has(Field::kLiteral)) {
    AppendConstant(context_, shapes_, fields_->Bytes(Field::kLiteral), head_.shape, text_);
  }
  if (text_.empty() || text_ == "{...}") return AddWord(Key::kLiteral, "{...}");
  AddMade(Key::kLiteral, text_);
}

void AttributeReader::AddLiteral() {
  text_.clear();
  AppendWholeLiteral(context_, shapes_, fields_->Bytes(Field::kLiteral), text_);
  AddMade(Key::kLiteralAttribute, text_);
}

void AttributeReader::AddLayoutConstraints() {
  std::vector<ShapeId> shapes;
  fields_->ForEachBytes(Field::kOperandShapesWithLayout,
                        [&](std::string_view bytes) { shapes.push_back(shapes_.Read(bytes)); });
  attributes_.push_back(Attribute::OfRows(Key::kOperandLayoutConstraints, context_.builder().AddShapes(shapes)));
}

void AttributeReader::AddEpsilon() {
  const auto bits = static_cast<uint32_t>(fields_->Number(Field::kEpsilon));
  text_.clear();
  AppendShort(std::bit_cast<float>(bits), text_);
  AddMade(Key::kEpsilon, text_);
}

void AttributeReader::AddWindow(Empty empty) {
  ints_.clear();
  Message message(fields_->Bytes(Field::kWindow));
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(WindowField::kDimensions): AppendWindowDimension(context_, message.Bytes(), ints_); break;
      default: context_.Skip(MessageKind::kWindow, message);
    }
  }
  if (!ints_.empty() || empty == Empty::kKept) AddInts(Key::kWindow, ints_);
}

void AttributeReader::AddDimLabels() {
  int64_t input_batch = 0, input_feature = 0, kernel_input = 0, kernel_output = 0, output_batch = 0, output_feature = 0;
  std::vector<int64_t> input, kernel, output;
  Message message(fields_->Bytes(Field::kConvolutionDimensionNumbers));
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(ConvolutionField::kInputBatch): input_batch = message.Int64(); break;
      case VarintKey(ConvolutionField::kInputFeature): input_feature = message.Int64(); break;
      case VarintKey(ConvolutionField::kKernelInputFeature): kernel_input = message.Int64(); break;
      case VarintKey(ConvolutionField::kKernelOutputFeature): kernel_output = message.Int64(); break;
      case VarintKey(ConvolutionField::kOutputBatch): output_batch = message.Int64(); break;
      case VarintKey(ConvolutionField::kOutputFeature): output_feature = message.Int64(); break;
      case VarintKey(ConvolutionField::kInputSpatial):
      case BytesKey(ConvolutionField::kInputSpatial): message.AppendInts(input); break;
      case VarintKey(ConvolutionField::kKernelSpatial):
      case BytesKey(ConvolutionField::kKernelSpatial): message.AppendInts(kernel); break;
      case VarintKey(ConvolutionField::kOutputSpatial):
      case BytesKey(ConvolutionField::kOutputSpatial): message.AppendInts(output); break;
      default: context_.Skip(MessageKind::kConvolution, message);
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

// 0 means 1.
void AttributeReader::AddGroupCounts() {
  const int64_t features = fields_->Number(Field::kFeatureGroupCount);
  if (features > 1) AddNumber(Key::kFeatureGroupCount, features);
  const int64_t batches = fields_->Number(Field::kBatchGroupCount);
  if (batches > 1) AddNumber(Key::kBatchGroupCount, batches);
}

void AttributeReader::AddPrecision(size_t operands) {
  ints_.clear();
  int64_t algorithm = 0;
  Message message(fields_->Bytes(Field::kPrecisionConfig));
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(PrecisionConfigField::kOperandPrecision):
      case BytesKey(PrecisionConfigField::kOperandPrecision): message.AppendInts(ints_); break;
      case VarintKey(PrecisionConfigField::kAlgorithm): algorithm = message.Int32(); break;
      default: context_.Skip(MessageKind::kPrecisionConfig, message);
    }
  }
  // One an operand, whatever the proto has; said only when one of them is not the default.
  ints_.resize(operands, 0);
  if (std::ranges::any_of(ints_, [](int64_t precision) { return precision != 0; })) {
    std::vector<Text> words;
    for (const int64_t precision : ints_) {
      if (precision < 0 || precision >= static_cast<int64_t>(kPrecisions.size())) {
        return Error("unknown precision " + std::to_string(precision));
      }
      words.push_back(context_.Word(kPrecisions[static_cast<size_t>(precision)]));
    }
    attributes_.push_back(Attribute::OfRows(Key::kOperandPrecision, context_.builder().AddTexts(words)));
  }
  if (algorithm != 0) AddEnum(Key::kAlgorithm, algorithm, kAlgorithms);
}

void AttributeReader::AddDotDimensions(std::string_view bytes) {
  std::vector<int64_t> lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(DotField::kLhsContracting):
      case BytesKey(DotField::kLhsContracting): message.AppendInts(lhs_contracting); break;
      case VarintKey(DotField::kRhsContracting):
      case BytesKey(DotField::kRhsContracting): message.AppendInts(rhs_contracting); break;
      case VarintKey(DotField::kLhsBatch):
      case BytesKey(DotField::kLhsBatch): message.AppendInts(lhs_batch); break;
      case VarintKey(DotField::kRhsBatch):
      case BytesKey(DotField::kRhsBatch): message.AppendInts(rhs_batch); break;
      default: context_.Skip(MessageKind::kDot, message);
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
      case BytesKey(RaggedDotField::kDotDimensionNumbers): dot = message.Bytes(); break;
      case VarintKey(RaggedDotField::kLhsRagged):
      case BytesKey(RaggedDotField::kLhsRagged): message.AppendInts(ragged); break;
      case VarintKey(RaggedDotField::kRhsGroup):
      case BytesKey(RaggedDotField::kRhsGroup): message.AppendInts(group); break;
      default: context_.Skip(MessageKind::kRaggedDot, message);
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
      case BytesKey(GatherField::kOffsetDims): message.AppendInts(offset); break;
      case VarintKey(GatherField::kCollapsedSliceDims):
      case BytesKey(GatherField::kCollapsedSliceDims): message.AppendInts(collapsed); break;
      case VarintKey(GatherField::kStartIndexMap):
      case BytesKey(GatherField::kStartIndexMap): message.AppendInts(start); break;
      case VarintKey(GatherField::kIndexVectorDim): vector_dim = message.Int64(); break;
      case VarintKey(GatherField::kOperandBatchingDims):
      case BytesKey(GatherField::kOperandBatchingDims): message.AppendInts(operand_batching); break;
      case VarintKey(GatherField::kStartIndicesBatchingDims):
      case BytesKey(GatherField::kStartIndicesBatchingDims): message.AppendInts(start_batching); break;
      default: context_.Skip(MessageKind::kGather, message);
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
      case BytesKey(ScatterField::kUpdateWindowDims): message.AppendInts(update); break;
      case VarintKey(ScatterField::kInsertedWindowDims):
      case BytesKey(ScatterField::kInsertedWindowDims): message.AppendInts(inserted); break;
      case VarintKey(ScatterField::kScatterDimsToOperandDims):
      case BytesKey(ScatterField::kScatterDimsToOperandDims): message.AppendInts(dims); break;
      case VarintKey(ScatterField::kIndexVectorDim): vector_dim = message.Int64(); break;
      case VarintKey(ScatterField::kInputBatchingDims):
      case BytesKey(ScatterField::kInputBatchingDims): message.AppendInts(input_batching); break;
      case VarintKey(ScatterField::kScatterIndicesBatchingDims):
      case BytesKey(ScatterField::kScatterIndicesBatchingDims): message.AppendInts(scatter_batching); break;
      default: context_.Skip(MessageKind::kScatter, message);
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
      default: context_.Skip(MessageKind::kPaddingConfig, message);
    }
  }
  AddInts(Key::kPadding, ints_);
}

void AttributeReader::AddAliasing() {
  if (!fields_->Has(Field::kOutputOperandAliasing)) return;
  ints_.clear();
  fields_->ForEachBytes(Field::kOutputOperandAliasing,
                        [&](std::string_view bytes) { AppendAlias(context_, bytes, ints_); });
  AddInts(Key::kOutputToOperandAliasing, ints_);
}

void AttributeReader::AddSourceTargets() {
  ints_.clear();
  fields_->ForEachBytes(Field::kSourceTargetPairs, [&](std::string_view bytes) {
    int64_t source = 0;
    int64_t target = 0;
    Message message(bytes);
    while (message.Next()) {
      switch (message.key()) {
        case VarintKey(SourceTargetField::kSource): source = message.Int64(); break;
        case VarintKey(SourceTargetField::kTarget): target = message.Int64(); break;
        default: context_.Skip(MessageKind::kSourceTarget, message);
      }
    }
    ints_.insert(ints_.end(), {2, source, target});
  });
  AddInts(Key::kSourceTargetPairs, ints_);
}

// The proto has the sizes of all slices in one list. A slice has as many as the array that it is taken from has
// dimensions; of a tuple, each array gives one slice or, when its start indices are a tuple of tuples, several. XLA
// takes numbers that are missing at the end for 0.
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
      for (size_t k = i < starts_of.size() ? slices_of(starts_of[i]) : 1; k > 0; --k) slice(arrays[i]);
    }
  } else {
    for (size_t k = slices_of(*starts); k > 0; --k) slice(*input);
  }
  AddInts(Key::kPermuteSliceSizes, ints_);
}

// XLA's proto calls the operand's side the entry, its text the user's.
void AttributeReader::AddDomain() {
  const auto side = [&](Field field) {
    std::string text;
    if (!fields_->Has(field)) return std::string("{}");
    hlo::AppendSharding(proto::ReadSharding(context_, fields_->Bytes(field)), text);
    return text;
  };
  const std::string entry = side(Field::kDomainExitSharding);
  AddMade(Key::kDomain, "{kind=\"sharding\", entry=" + entry + ", exit=" + side(Field::kDomainEntrySharding) + "}");
}

}  // namespace stowplan::proto
