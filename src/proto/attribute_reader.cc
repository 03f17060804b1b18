// SPDX-License-Identifier: Apache-2.0
#include "proto/attribute_reader.h"

#include <array>

#include "hlo/sharding.h"
#include "proto/annotation_reader.h"
#include "proto/metadata_reader.h"
#include "proto/sharding_reader.h"

namespace stowplan::proto {
namespace {

using hlo::ElementType;
using hlo::InstrId;
using hlo::Opcode;
using hlo::ShapeId;
using hlo::ShapeTable;

// Names of enums, by number.
constexpr std::array<std::string_view, 3> kDistributions = {"rng_invalid", "rng_uniform",
                                                            "rng_normal"};
constexpr std::array<std::string_view, 3> kRngAlgorithms = {"rng_default", "rng_three_fry",
                                                            "rng_philox"};
constexpr std::array<std::string_view, 4> kFftTypes = {"FFT", "IFFT", "RFFT", "IRFFT"};
constexpr std::array<std::string_view, 3> kPaddingTypes = {"PADDING_INVALID", "PADDING_VALID",
                                                           "PADDING_SAME"};
constexpr std::array<std::string_view, 3> kSchedules = {"SCHEDULE_NONE", "SCHEDULE_LATEST",
                                                        "SCHEDULE_EARLIEST"};
constexpr std::array<std::string_view, 5> kApiVersions = {
    "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
constexpr std::array<std::string_view, 4> kTransposes = {"TRANSPOSE_INVALID", "NO_TRANSPOSE",
                                                         "TRANSPOSE", "ADJOINT"};
constexpr std::array<std::string_view, 4> kConvolutionKinds = {"unset", "fprop", "dgrad", "wgrad"};
constexpr std::array<std::string_view, 3> kTriStates = {"", "true", "false"};

// A sharding that is repeated for each leaf of a tuple may get this long.
constexpr size_t kMaxShardingText = size_t{1} << 24U;

// How XLA compares two values of a type unless told otherwise.
std::string_view DefaultComparison(ElementType type) {
  switch (type) {
    case ElementType::kS1:
    case ElementType::kS2:
    case ElementType::kS4:
    case ElementType::kS8:
    case ElementType::kS16:
    case ElementType::kS32:
    case ElementType::kS64:
      return "SIGNED";
    case ElementType::kPred:
    case ElementType::kU1:
    case ElementType::kU2:
    case ElementType::kU4:
    case ElementType::kU8:
    case ElementType::kU16:
    case ElementType::kU32:
    case ElementType::kU64:
      return "UNSIGNED";
    default:
      return "FLOAT";
  }
}

// The arrays of a shape, and its tokens and the like.
size_t CountLeaves(const ShapeTable& shapes, ShapeId shape) {
  size_t leaves = 0;
  std::vector<ShapeId> stack = {shape};
  while (!stack.empty()) {
    const ShapeId id = stack.back();
    stack.pop_back();
    if (!shapes.is_tuple(id)) {
      ++leaves;
      continue;
    }
    const std::span<const ShapeId> elements = shapes.elements(id);
    stack.insert(stack.end(), elements.begin(), elements.end());
  }
  return leaves;
}

}  // namespace

AttributeReader::AttributeReader(Context& context, ShapeReader& shapes, const IdMap& computations,
                                 const IdMap& instructions)
    : context_(context),
      shapes_(shapes),
      computations_(computations),
      instructions_(instructions) {}

std::span<const hlo::Attribute> AttributeReader::Read(const InstructionHead& head,
                                                      const KeptFields& fields) {
  head_ = head;
  fields_ = &fields;
  attributes_.clear();
  called_.clear();
  ReadCalled();
  ReadOwn();
  ReadCommon();
  return attributes_;
}

void AttributeReader::ReadCalled() {
  fields_->ForEachNumber(Field::kCalledComputationIds, [&](int64_t id, const char* at) {
    const uint32_t row = computations_.Find(id);
    if (row == IdMap::kNone) {
      context_.Error(at, "no computation with the id " + std::to_string(id) +
                             " precedes the one that calls it");
    } else {
      called_.emplace_back(row);
    }
  });
}

// As long as there are opcodes: a line or a call each.
void AttributeReader::ReadOwn() {
  switch (head_.opcode) {
    case Opcode::kParameter:
      return ReadParameter();
    case Opcode::kConstant:
      return AddConstant();
    case Opcode::kGetTupleElement:
      return AddNumber(Key::kIndex, Field::kTupleIndex);
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kReverse:
    case Opcode::kTranspose:
    case Opcode::kGetDimensionSize:
    case Opcode::kSetDimensionSize:
      return AddInts(Key::kDimensions, Field::kDimensions);
    case Opcode::kReduce:
    case Opcode::kMap:
      AddInts(Key::kDimensions, Field::kDimensions);
      return AddCalled(Key::kToApply, 0);
    case Opcode::kFusion:
      AddText(Key::kKind, Field::kFusionKind);
      AddAliasing();
      return AddCalled(Key::kCalls, 0);
    case Opcode::kCall:
      AddAliasing();
      AddCalled(Key::kToApply, 0);
      return AddFlag(Key::kIsComposite, Field::kIsComposite);
    case Opcode::kWhile:
      // The proto has the body first, the text the condition.
      AddCalled(Key::kCondition, 1);
      return AddCalled(Key::kBody, 0);
    case Opcode::kConditional:
      return AddBranches();
    case Opcode::kCustomCall:
      return ReadCustomCall();
    case Opcode::kSlice:
      return AddSlices();
    case Opcode::kDynamicSlice:
      return AddInts(Key::kDynamicSliceSizes, Field::kDynamicSliceSizes);
    case Opcode::kPad:
      return AddPadding();
    case Opcode::kReshape:
      return AddInferredDimension();
    case Opcode::kIota:
      return AddFirstDimension(Key::kIotaDimension);
    case Opcode::kDot:
    case Opcode::kScaledDot:
    case Opcode::kRaggedDot:
      return ReadDot();
    case Opcode::kConvolution:
      return ReadConvolution();
    case Opcode::kGather:
      return ReadGather();
    case Opcode::kScatter:
      return ReadScatter();
    case Opcode::kCompare:
      return ReadCompare();
    case Opcode::kSort:
      AddInts(Key::kDimensions, Field::kDimensions);
      AddFlag(Key::kIsStable, Field::kIsStable);
      return AddCalled(Key::kToApply, 0);
    case Opcode::kScan:
      return ReadScan();
    case Opcode::kTopk:
      AddNumber(Key::kK, Field::kK);
      AddNumber(Key::kLargest, Field::kLargest);
      return AddFlag(Key::kIsStable, Field::kIsStable);
    case Opcode::kReduceWindow:
      AddWindow();
      return AddCalled(Key::kToApply, 0);
    case Opcode::kSelectAndScatter:
      AddWindow();
      AddCalled(Key::kSelect, 0);
      return AddCalled(Key::kScatter, 1);
    default:
      return ReadOwnRare();
  }
}

void AttributeReader::ReadOwnRare() {
  switch (head_.opcode) {
    case Opcode::kAsyncStart:
      return ReadAsyncStart();
    case Opcode::kAsyncUpdate:
      return AddAliasing();
    // Which computation it is, is the start's business.
    case Opcode::kAsyncDone:
      return;
    case Opcode::kCopyStart:
      return ReadCopyStart();
    case Opcode::kSend:
    case Opcode::kSendDone:
    case Opcode::kRecv:
    case Opcode::kRecvDone:
      AddChannelId();
      return AddFlag(Key::kIsHostTransfer, Field::kIsHostTransfer);
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kAllReduceScatter:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectiveReduce:
    case Opcode::kCrossReplicaSum:
    case Opcode::kRaggedAllToAll:
    case Opcode::kReduceScatter:
      return ReadCollective();
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
      AddChannelId();
      AddSourceTargets();
      return AddPermuteSliceSizes();
    case Opcode::kFft:
      AddWord(Key::kFftType, Field::kFftType, kFftTypes);
      return AddInts(Key::kFftLength, Field::kFftLength);
    case Opcode::kRng:
      return AddWord(Key::kDistribution, Field::kDistribution, kDistributions);
    case Opcode::kRngBitGenerator:
      return AddWord(Key::kAlgorithm, Field::kRngAlgorithm, kRngAlgorithms);
    case Opcode::kRngGetAndUpdateState:
      return AddNumber(Key::kDelta, Field::kDelta);
    case Opcode::kReducePrecision:
      AddNumber(Key::kExponentBits, Field::kExponentBits);
      return AddNumber(Key::kMantissaBits, Field::kMantissaBits);
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
      AddEpsilon();
      return AddNumber(Key::kFeatureIndex, Field::kFeatureIndex);
    case Opcode::kTriangularSolve:
      return ReadTriangularSolve();
    case Opcode::kCholesky:
      return ReadCholesky();
    case Opcode::kInfeed:
      return AddTextUnlessEmpty(Key::kInfeedConfig, Field::kInfeedConfig);
    case Opcode::kOutfeed:
      AddNumber(Key::kOutfeedShape,
                shapes_.Read(fields_->Bytes(Field::kOutfeedShape), head_.at).index);
      return AddTextUnlessEmpty(Key::kOutfeedConfig, Field::kOutfeedConfig);
    case Opcode::kDomain:
      return AddDomain();
    case Opcode::kUnknown:
      return ReadUnknown();
    default:
      if (!called_.empty()) AddCalled(Key::kCalls, 0);
  }
}

void AttributeReader::ReadParameter() {
  AddNumber(Key::kParameterNumber, Field::kParameterNumber);
  if (!fields_->Has(Field::kParameterReplication)) return;
  ints_.clear();
  Message message(fields_->Bytes(Field::kParameterReplication));
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(ParameterReplicationField::kReplicatedAtLeafBuffers):
      case BytesKey(ParameterReplicationField::kReplicatedAtLeafBuffers):
        message.ForEachVarint([&](uint64_t flag) { ints_.push_back(flag != 0 ? 1 : 0); });
        break;
      default:
        context_.Skip(MessageKind::kParameterReplication, message);
    }
  }
  AddIntsUnlessEmpty(Key::kParameterReplication, ints_);
}

void AttributeReader::ReadAsyncStart() {
  const std::string_view thread = fields_->Bytes(Field::kAsyncExecutionThread);
  if (!thread.empty() && thread != "main")
    AddText(Key::kAsyncExecutionThread, Field::kAsyncExecutionThread);
  AddAliasing();
  AddCalled(Key::kCalls, 0);
}

void AttributeReader::ReadCopyStart() {
  if (fields_->Has(Field::kCrossProgramPrefetchIndex)) {
    AddNumber(Key::kCrossProgramPrefetchIndex, Field::kCrossProgramPrefetchIndex);
  } else if (fields_->Flag(Field::kIsCrossProgramPrefetch)) {
    // XLA reads the older flag so.
    AddNumber(Key::kCrossProgramPrefetchIndex, int64_t{0});
  }
}

void AttributeReader::ReadCollective() {
  const Opcode opcode = head_.opcode;
  AddChannelId();
  AddReplicaGroups();
  if (opcode != Opcode::kCollectiveBroadcast)
    AddFlag(Key::kConstrainLayout, Field::kConstrainLayout);
  const bool is_gather = opcode == Opcode::kAllGather || opcode == Opcode::kAllGatherStart;
  if (is_gather) AddInts(Key::kDimensions, Field::kDimensions);
  AddFlag(Key::kUseGlobalDeviceIds, Field::kUseGlobalDeviceIds);
  if (opcode == Opcode::kReduceScatter || opcode == Opcode::kAllReduceScatter) {
    AddInts(Key::kDimensions, Field::kDimensions);
  }
  if (opcode == Opcode::kAllToAll) {
    ints_.clear();
    fields_->AppendNumbers(Field::kDimensions, ints_);
    AddIntsUnlessEmpty(Key::kDimensions, ints_);
  }
  AddFlag(Key::kHasDynamicRoot, Field::kHasDynamicRoot);
  if (!called_.empty()) AddCalled(Key::kToApply, 0);
}

void AttributeReader::ReadCustomCall() {
  if (fields_->Has(Field::kWindow)) AddWindow(Empty::kKept);
  if (fields_->Has(Field::kConvolutionDimensionNumbers)) AddDimLabels();
  AddGroupCounts();
  AddPrecision(head_.operands.size());
  if (fields_->Flag(Field::kPaddingType))
    AddWord(Key::kPaddingType, Field::kPaddingType, kPaddingTypes);
  AddText(Key::kCustomCallTarget, Field::kCustomCallTarget);
  if (fields_->Flag(Field::kConstrainLayout)) AddLayoutConstraints();
  AddFlag(Key::kCustomCallHasSideEffect, Field::kCustomCallHasSideEffect);
  if (fields_->Has(Field::kLiteral)) AddLiteral();
  AddAliasing();
  if (fields_->Flag(Field::kCustomCallSchedule))
    AddWord(Key::kSchedule, Field::kCustomCallSchedule, kSchedules);
  constexpr int64_t kOriginal = 1;  // the default in the text, though not in the proto
  if (fields_->Number(Field::kCustomCallApiVersion) != kOriginal) {
    AddWord(Key::kApiVersion, Field::kCustomCallApiVersion, kApiVersions);
  }
  if (!called_.empty()) AddCalledList(Key::kCalledComputations);
}

void AttributeReader::ReadConvolution() {
  AddWindow();
  AddDimLabels();
  AddGroupCounts();
  if (fields_->Flag(Field::kConvKind))
    AddWord(Key::kConvolutionKind, Field::kConvKind, kConvolutionKinds);
  AddPrecision(head_.operands.size());
  text_.clear();
  AppendSparsity(context_, fields_->Bytes(Field::kSparsityConfig), text_);
  if (!text_.empty()) AddMade(Key::kSparsityConfig, text_);
}

void AttributeReader::ReadCompare() {
  AddText(Key::kDirection, Field::kComparisonDirection);
  const ShapeId* operand = OperandShape(0);
  const std::string_view usual =
      operand == nullptr ? "" : DefaultComparison(shape_table()[*operand].type);
  const std::string_view type = fields_->Bytes(Field::kComparisonType);
  if (!type.empty()) {
    if (type != usual) AddText(Key::kType, Field::kComparisonType);
  } else if (usual == "FLOAT" && fields_->Bytes(Field::kComparisonOrder) == "TOTAL") {
    // Newer protos have the order instead of the type.
    AddWord(Key::kType, "TOTALORDER");
  }
}

void AttributeReader::ReadScan() {
  AddInts(Key::kDimensions, Field::kDimensions);
  AddNumber(Key::kNumCarries, Field::kNumCarries);
  AddFlag(Key::kIsReverse, Field::kIsReverse);
  if (fields_->Flag(Field::kIsAssociative))
    AddWord(Key::kIsAssociative, Field::kIsAssociative, kTriStates);
  AddCalled(Key::kToApply, 0);
}

void AttributeReader::ReadTriangularSolve() {
  int64_t transpose = 0;
  const auto flag = [&](Key key, Message& message) {
    if (message.Bool()) AddNumber(key, 1);
  };
  Message message(fields_->Bytes(Field::kTriangularSolveOptions));
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(TriangularSolveField::kLeftSide):
        flag(Key::kLeftSide, message);
        break;
      case VarintKey(TriangularSolveField::kLower):
        flag(Key::kLower, message);
        break;
      case VarintKey(TriangularSolveField::kUnitDiagonal):
        flag(Key::kUnitDiagonal, message);
        break;
      case VarintKey(TriangularSolveField::kTransposeA):
        transpose = message.Int32();
        break;
      default:
        context_.Skip(MessageKind::kTriangularSolve, message);
    }
  }
  if (transpose != 0) AddEnum(Key::kTransposeA, transpose, kTransposes);
}

void AttributeReader::ReadCholesky() {
  bool is_lower = false;
  Message message(fields_->Bytes(Field::kCholeskyOptions));
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(CholeskyField::kLower):
        is_lower = message.Bool();
        break;
      default:
        context_.Skip(MessageKind::kCholesky, message);
    }
  }
  if (is_lower) AddNumber(Key::kLower, 1);
}

// What matters to memory, of an opcode that nobody knows.
void AttributeReader::ReadUnknown() {
  AddChannelId();
  AddTextUnlessEmpty(Key::kCustomCallTarget, Field::kCustomCallTarget);
  ints_.clear();
  fields_->AppendNumbers(Field::kDimensions, ints_);
  AddIntsUnlessEmpty(Key::kDimensions, ints_);
  AddAliasing();
  if (called_.size() == 1) AddCalled(Key::kCalls, 0);
  if (called_.size() > 1) AddCalledList(Key::kCalledComputations);
}

void AttributeReader::ReadCommon() {
  const auto text = [&](Key key, Field field, auto append) {
    if (!fields_->Has(field)) return;
    text_.clear();
    append(context_, fields_->Bytes(field), text_);
    if (!text_.empty()) AddMade(key, text_);
  };
  if (fields_->empty()) return;
  if (fields_->Has(Field::kSharding)) ReadSharding();
  if (fields_->Has(Field::kFrontendAttributes)) {
    const Range rows = ReadFrontendAttributes(context_, fields_->Bytes(Field::kFrontendAttributes));
    if (rows.count != 0)
      attributes_.push_back(hlo::Attribute::OfRows(Key::kFrontendAttributes, rows));
  }
  ReadControlPredecessors();
  text(Key::kStatistics, Field::kStatisticsViz, AppendStatistics);
  text(Key::kResultAccuracy, Field::kResultAccuracy, AppendResultAccuracy);
  text(Key::kOrigin, Field::kOriginalValue, AppendOriginalValue);
  if (fields_->Has(Field::kBackendConfigPayload)) {
    const std::string_view config =
        ReadPayload(context_, fields_->Bytes(Field::kBackendConfigPayload));
    if (!config.empty()) {
      attributes_.push_back(
          hlo::Attribute::OfText(Key::kBackendConfig, context_.builder().ToText(config)));
    }
  } else {
    AddTextUnlessEmpty(Key::kBackendConfig, Field::kBackendConfig);
  }
}

void AttributeReader::ReadSharding() {
  const hlo::Sharding sharding = proto::ReadSharding(context_, fields_->Bytes(Field::kSharding));
  text_.clear();
  hlo::AppendSharding(sharding, text_);
  // XLA gives all leaves of a tuple the one sharding there is, and an empty tuple one as well.
  if (sharding.kind != hlo::Sharding::Kind::kTuple && shape_table().is_tuple(head_.shape)) {
    const std::string one = text_;
    const size_t leaves = std::max<size_t>(CountLeaves(shape_table(), head_.shape), 1);
    if (leaves > kMaxShardingText / one.size())
      return Error("the sharding is too large for " + std::to_string(leaves) + " arrays");
    text_ = "{" + one;
    for (size_t i = 1; i < leaves; ++i) {
      text_ += ", ";
      if (i % 5 == 0) text_ += "/*index=" + std::to_string(i) + "*/";
      text_ += one;
    }
    text_ += '}';
  }
  AddMade(Key::kSharding, text_);
}

void AttributeReader::ReadControlPredecessors() {
  std::vector<InstrId> predecessors;
  fields_->ForEachNumber(Field::kControlPredecessorIds, [&](int64_t id, const char* at) {
    const uint32_t row = instructions_.Find(id);
    if (row == IdMap::kNone) {
      context_.Error(at, "no instruction with the id " + std::to_string(id) + " precedes this one");
    } else {
      predecessors.emplace_back(row);
    }
  });
  if (predecessors.empty()) return;
  const Range rows = context_.builder().AddInstructions(predecessors);
  attributes_.push_back(hlo::Attribute::OfRows(Key::kControlPredecessors, rows));
}

}  // namespace stowplan::proto
