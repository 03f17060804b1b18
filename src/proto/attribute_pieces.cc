// SPDX-License-Identifier: Apache-2.0
// The pieces that AttributeReader puts together: single attributes, and the messages that hold
// several.
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
constexpr std::array<std::string_view, 14> kAlgorithms = {"unset",
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

void AppendAlias(Context& context, std::string_view bytes, std::vector<int64_t>& out) {
  std::vector<int64_t> output;
  std::vector<int64_t> input;
  int64_t operand = 0;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(OutputOperandAliasingField::kOutputShapeIndex):
      case BytesKey(OutputOperandAliasingField::kOutputShapeIndex):
        message.AppendInts(output);
        break;
      case VarintKey(OutputOperandAliasingField::kOperandIndex):
        operand = message.Int64();
        break;
      case VarintKey(OutputOperandAliasingField::kOperandShapeIndex):
      case BytesKey(OutputOperandAliasingField::kOperandShapeIndex):
        message.AppendInts(input);
        break;
      default:
        context.Skip(MessageKind::kOutputOperandAliasing, message);
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
  if (number >= 0 && number < static_cast<int64_t>(words.size()))
    return AddWord(key, words[static_cast<size_t>(number)]);
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
    Error("the instruction calls " + std::to_string(ints_.size()) +
          " computations, which is not enough for its opcode");
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
  attributes_.push_back(
      Attribute::OfRows(Key::kOperandLayoutConstraints, context_.builder().AddShapes(shapes)));
}

void AttributeReader::AddEpsilon() {
  const auto bits = static_cast<uint32_t>(fields_->Number(Field::kEpsilon));
  text_.clear();
  AppendShort(std::bit_cast<float>(bits), text_);
  AddMade(Key::kEpsilon, text_);
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
      case BytesKey(PrecisionConfigField::kOperandPrecision):
        message.AppendInts(ints_);
        break;
      case VarintKey(PrecisionConfigField::kAlgorithm):
        algorithm = message.Int32();
        break;
      default:
        context_.Skip(MessageKind::kPrecisionConfig, message);
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
    attributes_.push_back(
        Attribute::OfRows(Key::kOperandPrecision, context_.builder().AddTexts(words)));
  }
  if (algorithm != 0) AddEnum(Key::kAlgorithm, algorithm, kAlgorithms);
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
        case VarintKey(SourceTargetField::kSource):
          source = message.Int64();
          break;
        case VarintKey(SourceTargetField::kTarget):
          target = message.Int64();
          break;
        default:
          context_.Skip(MessageKind::kSourceTarget, message);
      }
    }
    ints_.insert(ints_.end(), {2, source, target});
  });
  AddInts(Key::kSourceTargetPairs, ints_);
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
  AddMade(Key::kDomain, "{kind=\"sharding\", entry=" + entry +
                            ", exit=" + side(Field::kDomainEntrySharding) + "}");
}

}  // namespace stowplan::proto
