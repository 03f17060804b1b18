// SPDX-License-Identifier: Apache-2.0
// Attributes of each opcode; what XLA does not print is not there.
#include <string>

#include <gtest/gtest.h>

#include "unit/proto/proto_bytes.h"
#include "unit/proto/read_proto.h"

namespace stowplan::proto::test {
namespace {

using hlo::ElementType;
using Field = InstructionField;
using FillInstruction = std::function<void(Writer<Field>&)>;

// The attributes of an instruction with one f32[4] operand for each of `operands`, as text.
std::string Attributes(const std::string& opcode, const FillInstruction& fill, size_t operands = 1,
                       const std::vector<Computation>& called = {}) {
  Instruction instruction{"x", opcode, F32({4}), 1, {}, fill};
  for (size_t i = 0; i < operands; ++i)
    instruction.operands.push_back(100 + static_cast<int64_t>(i));
  const std::string text =
      RootText(One(instruction, std::vector<std::string>(operands, F32({4})), called));
  const size_t end = text.find(')', text.find(opcode + "("));
  return end == std::string::npos ? text : text.substr(std::min(text.size(), end + 3));
}

FillInstruction Dims(const Ints& dims) {
  return [=](auto& writer) { AddInts(writer, Field::kDimensions, dims); };
}
FillInstruction Calls(const Ints& ids) {
  return [=](auto& writer) { AddInts(writer, Field::kCalledComputationIds, ids); };
}

Computation Callee(const std::string& name, int64_t id) {
  return {name, id, 1, {Parameter(name + ".p", F32({4}), 1, 0)}, {}};
}

TEST(ProtoAttributes, Dimensions) {
  EXPECT_EQ(Attributes("broadcast", Dims({0, 2})), "dimensions={0,2}");
  EXPECT_EQ(Attributes("broadcast", {}), "dimensions={}");
  EXPECT_EQ(Attributes("iota", Dims({1}), 0), "iota_dimension=1");
  EXPECT_EQ(Attributes("reshape", {}), "");
  EXPECT_EQ(Attributes("reshape", Dims({-1})), "");
  EXPECT_EQ(Attributes("reshape", Dims({0})), "inferred_dimension=0");
  EXPECT_EQ(Attributes("all-to-all", {}), "replica_groups={}");
  EXPECT_EQ(Attributes("all-to-all", Dims({1})), "replica_groups={}, dimensions={1}");
}

TEST(ProtoAttributes, DefaultsAreDropped) {
  EXPECT_EQ(Attributes("get-tuple-element", {}), "index=0");
  const auto sort = [](bool is_stable) {
    return Attributes("sort",
                      [=](auto& writer) {
                        Dims({0})(writer);
                        writer.add_bool(Field::kIsStable, is_stable);
                        Calls({5})(writer);
                      },
                      1, {Callee("less", 5)});
  };
  EXPECT_EQ(sort(false), "dimensions={0}, to_apply=%less");
  EXPECT_EQ(sort(true), "dimensions={0}, is_stable=true, to_apply=%less");
}

TEST(ProtoAttributes, Calls) {
  const std::vector<Computation> two = {Callee("a", 5), Callee("b", 6)};
  // The proto has the body first.
  EXPECT_EQ(Attributes("while", Calls({5, 6}), 1, two), "condition=%b, body=%a");
  EXPECT_EQ(Attributes("conditional", Calls({5, 6}), 3, two), "branch_computations={%a, %b}");
  EXPECT_EQ(Attributes("call", Calls({5}), 1, two), "to_apply=%a");
  EXPECT_EQ(
      Attributes("custom-call", Calls({5, 6}), 1, two),
      "custom_call_target=\"\", api_version=API_VERSION_UNSPECIFIED, called_computations={%a, %b}");
  EXPECT_EQ(Attributes(
                "fusion",
                [](auto& writer) {
                  writer.add_string(Field::kFusionKind, "kLoop");
                  Calls({6})(writer);
                },
                1, two),
            "kind=kLoop, calls=%b");
  EXPECT_EQ(Attributes("select-and-scatter", Calls({5, 6}), 3, two), "select=%a, scatter=%b");
}

TEST(ProtoAttributes, BranchesOfAPredicate) {
  const std::string module =
      One({"c", "conditional", F32({4}), 1, {100, 101, 101}, Calls({5, 6})},
          {Array(ElementType::kPred, {}), F32({4})}, {Callee("a", 5), Callee("b", 6)});
  EXPECT_EQ(RootText(module),
            "%c = f32[4]{0} conditional(%p0, %p1, %p1), true_computation=%a, false_computation=%b");
}

TEST(ProtoAttributes, Collectives) {
  EXPECT_EQ(
      Attributes("all-reduce",
                 [](auto& writer) {
                   writer.add_int64(Field::kChannelId, 3);
                   writer.add_bool(Field::kUseGlobalDeviceIds, true);
                   writer.add_message(Field::kIotaCollectiveDeviceList,
                                      Bytes<IotaReplicaGroupListField>([](auto& list) {
                                        using F = IotaReplicaGroupListField;
                                        list.add_int64(F::kNumReplicaGroups, 2);
                                        list.add_int64(F::kNumDevicesPerGroup, 4);
                                        AddInts(list, F::kIotaReshapeDims, {4, 2});
                                        AddInts(list, F::kIotaTransposePerm, {1, 0});
                                      }));
                   Calls({5})(writer);
                 },
                 1, {Callee("sum", 5)}),
      "channel_id=3, replica_groups=[2,4]<=[4,2]T(1,0), use_global_device_ids=true, to_apply=%sum");
  const auto group = [](const Ints& ids) {
    return Bytes<ReplicaGroupField>(
        [&](auto& writer) { AddInts(writer, ReplicaGroupField::kReplicaIds, ids); });
  };
  // The list as a field of its own, and as it was before 2024.
  EXPECT_EQ(
      Attributes("all-gather",
                 [&](auto& writer) {
                   writer.add_message(
                       Field::kCollectiveDeviceList,
                       Bytes<CollectiveDeviceListField>([&](auto& list) {
                         list.add_message(CollectiveDeviceListField::kReplicaGroups, group({0, 1}));
                         list.add_message(CollectiveDeviceListField::kReplicaGroups, group({2, 3}));
                       }));
                   Dims({0})(writer);
                 }),
      "replica_groups={{0,1},{2,3}}, dimensions={0}");
  EXPECT_EQ(Attributes("all-gather",
                       [&](auto& writer) {
                         Dims({0})(writer);
                         writer.add_message(Field::kReplicaGroups, group({0, 1}));
                       }),
            "replica_groups={{0,1}}, dimensions={0}");
  EXPECT_EQ(Attributes("collective-permute",
                       [](auto& writer) {
                         writer.add_message(Field::kSourceTargetPairs,
                                            Bytes<SourceTargetField>([](auto& pair) {
                                              pair.add_int64(SourceTargetField::kTarget, 1);
                                            }));
                       }),
            "source_target_pairs={{0,1}}");
}

TEST(ProtoAttributes, ChannelsAndTransfers) {
  EXPECT_EQ(
      Attributes("send-done", [](auto& writer) { writer.add_bool(Field::kIsHostTransfer, true); }),
      "is_host_transfer=true");
  EXPECT_EQ(Attributes("copy-start", {}), "");
  EXPECT_EQ(
      Attributes("copy-start",
                 [](auto& writer) { writer.add_int32(Field::kCrossProgramPrefetchIndex, 0); }),
      "cross_program_prefetch_index=0");
  EXPECT_EQ(Attributes("copy-start",
                       [](auto& writer) { writer.add_bool(Field::kIsCrossProgramPrefetch, true); }),
            "cross_program_prefetch_index=0");
}

TEST(ProtoAttributes, Dot) {
  const std::string dims = Bytes<DotField>([](auto& writer) {
    AddInts(writer, DotField::kLhsContracting, {1});
    AddInts(writer, DotField::kRhsContracting, {0});
  });
  const auto precision = [](const Ints& precisions, int32_t algorithm) {
    return Bytes<PrecisionConfigField>([&](auto& writer) {
      AddInts(writer, PrecisionConfigField::kOperandPrecision, precisions);
      writer.add_enum(PrecisionConfigField::kAlgorithm, algorithm);
    });
  };
  const auto dot = [&](const Ints& precisions, int32_t algorithm) {
    return Attributes(
        "dot",
        [&](auto& writer) {
          writer.add_message(Field::kDotDimensionNumbers, dims);
          writer.add_message(Field::kPrecisionConfig, precision(precisions, algorithm));
        },
        2);
  };
  EXPECT_EQ(dot({0, 0}, 0), "lhs_contracting_dims={1}, rhs_contracting_dims={0}");
  EXPECT_EQ(
      dot({2}, 6),
      "lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,default}, "
      "algorithm=dot_bf16_bf16_f32");
}

TEST(ProtoAttributes, WindowsSlicesPadding) {
  const std::string window = Bytes<WindowField>([](auto& writer) {
    writer.add_message(WindowField::kDimensions, Bytes<WindowDimensionField>([](auto& dim) {
                         using F = WindowDimensionField;
                         dim.add_int64(F::kSize, 3);
                         dim.add_int64(F::kStride, 2);
                         dim.add_int64(F::kPaddingLow, 1);
                         dim.add_int64(F::kPaddingHigh, -1);
                         dim.add_int64(F::kWindowDilation, 1);
                         dim.add_int64(F::kBaseDilation, 1);
                         dim.add_bool(F::kWindowReversal, true);
                       }));
  });
  EXPECT_EQ(Attributes("reduce-window",
                       [&](auto& writer) {
                         writer.add_message(Field::kWindow, window);
                         Calls({5})(writer);
                       },
                       2, {Callee("f", 5)}),
            "window={size=3 stride=2 pad=1_-1 rhs_reversal=1}, to_apply=%f");
  EXPECT_EQ(Attributes("slice",
                       [](auto& writer) {
                         writer.add_message(Field::kSliceDimensions,
                                            Bytes<SliceDimensionsField>([](auto& dim) {
                                              dim.add_int64(SliceDimensionsField::kLimit, 2);
                                              dim.add_int64(SliceDimensionsField::kStride, 1);
                                            }));
                       }),
            "slice={[0:2]}");
  EXPECT_EQ(Attributes(
                "pad",
                [](auto& writer) {
                  writer.add_message(
                      Field::kPaddingConfig, Bytes<PaddingConfigField>([](auto& config) {
                        config.add_message(PaddingConfigField::kDimensions,
                                           Bytes<PaddingDimensionField>([](auto& dim) {
                                             dim.add_int64(PaddingDimensionField::kHigh, 1);
                                             dim.add_int64(PaddingDimensionField::kInterior, 2);
                                           }));
                      }));
                },
                2),
            "padding=0_1_2");
}

TEST(ProtoAttributes, Convolution) {
  const std::string numbers = Bytes<ConvolutionField>([](auto& writer) {
    using F = ConvolutionField;
    writer.add_int64(F::kInputFeature, 2);
    AddInts(writer, F::kInputSpatial, {1});
    writer.add_int64(F::kKernelInputFeature, 1);
    writer.add_int64(F::kKernelOutputFeature, 2);
    AddInts(writer, F::kKernelSpatial, {0});
    writer.add_int64(F::kOutputFeature, 3);
    AddInts(writer, F::kOutputSpatial, {1});
  });
  const auto convolution = [&](int64_t groups) {
    return Attributes(
        "convolution",
        [&](auto& writer) {
          writer.add_message(Field::kConvolutionDimensionNumbers, numbers);
          writer.add_int64(Field::kFeatureGroupCount, groups);
        },
        2);
  };
  EXPECT_EQ(convolution(1), "dim_labels=b0f_0io->b0?f");
  EXPECT_EQ(convolution(4), "dim_labels=b0f_0io->b0?f, feature_group_count=4");
  const std::string far = Bytes<ConvolutionField>(
      [](auto& w) { w.add_int64(ConvolutionField::kInputFeature, 1LL << 60); });
  EXPECT_NE(Errors(One({"c",
                        "convolution",
                        F32({4}),
                        1,
                        {},
                        [&](auto& writer) {
                          writer.add_message(Field::kConvolutionDimensionNumbers, far);
                        }}))
                .find("out of bounds"),
            std::string::npos);
}

TEST(ProtoAttributes, Compare) {
  const auto compare = [](std::string_view type, std::string_view order) {
    return Attributes(
        "compare",
        [&](auto& writer) {
          writer.add_string(Field::kComparisonDirection, "LT");
          writer.add_string(Field::kComparisonType, std::string(type));
          writer.add_string(Field::kComparisonOrder, std::string(order));
        },
        2);
  };
  EXPECT_EQ(compare("FLOAT", "PARTIAL"), "direction=LT");
  EXPECT_EQ(compare("TOTALORDER", ""), "direction=LT, type=TOTALORDER");
  EXPECT_EQ(compare("", "TOTAL"), "direction=LT, type=TOTALORDER");
}

TEST(ProtoAttributes, GatherAndScatter) {
  EXPECT_EQ(Attributes(
                "gather",
                [](auto& writer) {
                  writer.add_message(Field::kGatherDimensionNumbers,
                                     Bytes<GatherField>([](auto& numbers) {
                                       AddInts(numbers, GatherField::kOffsetDims, {0, 1});
                                       numbers.add_int64(GatherField::kIndexVectorDim, 2);
                                     }));
                  AddInts(writer, Field::kGatherSliceSizes, {1, 2});
                },
                2),
            "offset_dims={0,1}, collapsed_slice_dims={}, start_index_map={}, index_vector_dim=2, "
            "slice_sizes={1,2}");
  EXPECT_EQ(
      Attributes("scatter",
                 [](auto& writer) {
                   writer.add_message(
                       Field::kScatterDimensionNumbers, Bytes<ScatterField>([](auto& numbers) {
                         AddInts(numbers, ScatterField::kInputBatchingDims, {0});
                         AddInts(numbers, ScatterField::kScatterIndicesBatchingDims, {1});
                       }));
                   writer.add_bool(Field::kUniqueIndices, true);
                   Calls({5})(writer);
                 },
                 3, {Callee("f", 5)}),
      "update_window_dims={}, inserted_window_dims={}, scatter_dims_to_operand_dims={}, "
      "input_batching_dims={0}, "
      "scatter_indices_batching_dims={1}, index_vector_dim=0, unique_indices=true, to_apply=%f");
}

TEST(ProtoAttributes, SmallOnes) {
  EXPECT_EQ(Attributes(
                "rng", [](auto& writer) { writer.add_enum(Field::kDistribution, 1); }, 2),
            "distribution=rng_uniform");
  EXPECT_EQ(Attributes("rng-bit-generator",
                       [](auto& writer) { writer.add_enum(Field::kRngAlgorithm, 2); }),
            "algorithm=rng_philox");
  EXPECT_EQ(Attributes("fft",
                       [](auto& writer) {
                         writer.add_enum(Field::kFftType, 2);
                         AddInts(writer, Field::kFftLength, {4});
                       }),
            "fft_type=RFFT, fft_length={4}");
  EXPECT_EQ(Attributes(
                "batch-norm-training",
                [](auto& writer) {
                  writer.add_float(Field::kEpsilon, 0.001F);
                  writer.add_int64(Field::kFeatureIndex, 1);
                },
                3),
            "epsilon=0.001, feature_index=1");
  EXPECT_EQ(Attributes("cholesky",
                       [](auto& writer) {
                         writer.add_message(Field::kCholeskyOptions,
                                            Bytes<CholeskyField>([](auto& options) {
                                              options.add_bool(CholeskyField::kLower, true);
                                            }));
                       }),
            "lower=true");
  EXPECT_EQ(Attributes("topk",
                       [](auto& writer) {
                         writer.add_int64(Field::kK, 2);
                         writer.add_bool(Field::kLargest, true);
                       }),
            "k=2, largest=true");
  EXPECT_EQ(
      Attributes("infeed", [](auto& writer) { writer.add_bytes(Field::kInfeedConfig, "a\n"); }),
      "infeed_config=\"a\\n\"");
}

TEST(ProtoAttributes, CustomCall) {
  EXPECT_EQ(Attributes("custom-call",
                       [](auto& writer) {
                         writer.add_string(Field::kCustomCallTarget, "f\"");
                         writer.add_bool(Field::kConstrainLayout, true);
                         writer.add_message(Field::kOperandShapesWithLayout, F32({4}));
                         writer.add_bool(Field::kCustomCallHasSideEffect, true);
                         writer.add_enum(Field::kCustomCallSchedule, 1);
                         writer.add_enum(Field::kCustomCallApiVersion, 4);
                         writer.add_enum(Field::kPaddingType, 2);
                         writer.add_message(Field::kOutputOperandAliasing,
                                            Bytes<OutputOperandAliasingField>([](auto& alias) {
                                              using F = OutputOperandAliasingField;
                                              AddInts(alias, F::kOutputShapeIndex, {1});
                                              AddInts(alias, F::kOperandShapeIndex, {0, 2});
                                            }));
                       }),
            "padding_type=PADDING_SAME, custom_call_target=\"f\\\"\", "
            "operand_layout_constraints={f32[4]{0}}, "
            "custom_call_has_side_effect=true, output_to_operand_aliasing={{1}: (0, {0,2})}, "
            "schedule=SCHEDULE_LATEST, "
            "api_version=API_VERSION_TYPED_FFI");
}

TEST(ProtoAttributes, Common) {
  EXPECT_EQ(
      Attributes("negate",
                 [](auto& writer) {
                   AddInts(writer, Field::kControlPredecessorIds, {100});
                   writer.add_bytes(Field::kBackendConfig, "{\"a\":1}");
                   writer.add_message(
                       Field::kFrontendAttributes, Bytes<FrontendAttributesField>([](auto& map) {
                         const auto entry = [&](std::string_view key, std::string_view value) {
                           map.add_message(
                               FrontendAttributesField::kMap, Bytes<MapEntryField>([&](auto& pair) {
                                 pair.add_string(MapEntryField::kKey, std::string(key));
                                 pair.add_string(MapEntryField::kValue, std::string(value));
                               }));
                         };
                         entry("b", "1");
                         entry("a", "{}");
                         entry("b", "2");
                       }));
                   writer.add_message(Field::kMetadata, Bytes<MetadataField>([](auto& metadata) {
                                        metadata.add_string(MetadataField::kOpName, "jit(f)/neg");
                                        metadata.add_int32(MetadataField::kStackFrameId, 3);
                                      }));
                 }),
      "frontend_attributes={a={},b=\"2\"}, control-predecessors={%p0}, "
      "metadata={op_name=\"jit(f)/neg\" "
      "stack_frame_id=3}, backend_config={\"a\":1}");
  // Not printed without one of the others.
  EXPECT_EQ(Attributes("negate",
                       [](auto& writer) {
                         writer.add_message(
                             Field::kMetadata, Bytes<MetadataField>([](auto& metadata) {
                               metadata.add_string(MetadataField::kDeduplicatedName, "x");
                             }));
                         writer.add_message(Field::kStatisticsViz, std::string());
                         writer.add_message(Field::kFrontendAttributes, std::string());
                       }),
            "");
}

}  // namespace
}  // namespace stowplan::proto::test
