// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "unit/proto/proto_bytes.h"
#include "unit/proto/read_proto.h"

namespace stowplan::proto::test {
namespace {

using hlo::CompId;
using hlo::InstrId;

std::string Sequence(int64_t computation, const Ints& ids) {
  return Bytes<ScheduleEntryField>([&](auto& entry) {
    entry.add_int64(ScheduleEntryField::kKey, computation);
    entry.add_message(ScheduleEntryField::kValue,
                      Bytes<InstructionSequenceField>([&](auto& sequence) {
                        AddInts(sequence, InstructionSequenceField::kInstructionIds, ids);
                      }));
  });
}
std::string Scheduled(int64_t computation, const Ints& ids) {
  return Module({Example()}, [&](auto& writer) {
    writer.add_message(ModuleField::kSchedule, Bytes<ScheduleField>([&](auto& schedule) {
                         schedule.add_message(ScheduleField::kSequences,
                                              Sequence(computation, ids));
                       }));
  });
}

TEST(ProtoModule, Schedule) {
  const hlo::Module module = MustRead(Scheduled(7, {1, 2, 3}));
  EXPECT_TRUE(module.header.is_scheduled);
  const auto schedule = module.schedule_of(module.entry);
  EXPECT_EQ(std::vector(schedule.begin(), schedule.end()),
            (std::vector{InstrId(0), InstrId(1), InstrId(2)}));
  EXPECT_EQ(Errors(Scheduled(7, {1, 2, 33})),
            "schedule.sequences[0].value.instruction_ids: computation 7 has no instruction with "
            "the id 33\n");
  // Of computations that are gone.
  EXPECT_FALSE(MustRead(Scheduled(8, {1})).computations[CompId(0)].is_scheduled());
}

// Since 2025-09 the high half of an id names the computation.
TEST(ProtoModule, LongIds) {
  Computation entry = Example();
  const auto id = [](int64_t local) { return (int64_t{7} << 32U) | local; };
  entry.root = id(3);
  for (Instruction& instruction : entry.instructions) {
    instruction.id = id(instruction.id);
    for (int64_t& operand : instruction.operands) operand = id(operand);
  }
  const hlo::Module module = MustRead(Module({entry}));
  EXPECT_EQ(module.proto_ids, (std::vector{id(1), id(2), id(3)}));
  EXPECT_EQ(module.operands_of(InstrId(2))[0], InstrId(1));
}

TEST(ProtoModule, Header) {
  const auto alias = [](const Ints& output, int64_t parameter, int32_t kind) {
    return Bytes<AliasEntryField>([&](auto& entry) {
      AddInts(entry, AliasEntryField::kOutputShapeIndex, output);
      entry.add_int64(AliasEntryField::kParameterNumber, parameter);
      entry.add_enum(AliasEntryField::kKind, kind);
    });
  };
  const auto donor = [](int64_t parameter, const Ints& index) {
    return Bytes<DonorEntryField>([&](auto& entry) {
      entry.add_int64(DonorEntryField::kParameterNumber, parameter);
      AddInts(entry, DonorEntryField::kParameterShapeIndex, index);
    });
  };
  const hlo::Module module = MustRead(Module({Example()}, [&](auto& writer) {
    writer.add_message(ModuleField::kInputOutputAlias,
                       Bytes<InputOutputAliasField>([&](auto& aliases) {
                         aliases.add_message(InputOutputAliasField::kEntries, alias({1}, 0, 2));
                         aliases.add_message(InputOutputAliasField::kEntries, alias({0, 3}, 1, 1));
                       }));
    writer.add_message(ModuleField::kBufferDonor, Bytes<BufferDonorField>([&](auto& donors) {
                         for (int i = 0; i < 2; ++i)
                           donors.add_message(BufferDonorField::kEntries, donor(2, {1}));
                         donors.add_message(BufferDonorField::kEntries, donor(1, {}));
                       }));
    writer.add_message(ModuleField::kHostProgramShape, Bytes<ProgramShapeField>([](auto& program) {
                         program.add_message(ProgramShapeField::kParameters, F32({4}));
                         program.add_message(ProgramShapeField::kResult, F32({4}));
                       }));
    writer.add_message(ModuleField::kCrossProgramPrefetches,
                       Bytes<CrossProgramPrefetchField>([](auto& prefetch) {
                         AddInts(prefetch, CrossProgramPrefetchField::kIndex, {2});
                         prefetch.add_int64(CrossProgramPrefetchField::kOffset, 512);
                       }));
    writer.add_message(
        ModuleField::kFrontendAttributes, Bytes<FrontendAttributesField>([](auto& map) {
          map.add_message(FrontendAttributesField::kMap, Bytes<MapEntryField>([](auto& entry) {
                            entry.add_string(MapEntryField::kKey, "k");
                            entry.add_string(MapEntryField::kValue, "v");
                          }));
        }));
  }));
  const std::string text = hlo::ToString(module);
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "HloModule m, input_output_alias={ {0,3}: (1, {}, may-alias), {1}: (0, {}, must-alias) "
            "}, buffer_donor={ (1, "
            "{}), (2, {1}) }, entry_computation_layout={(f32[4]{0})->f32[4]{0}}, "
            "frontend_attributes={k=\"v\"}");
  ASSERT_EQ(module.header.prefetches.size(), 1U);
  EXPECT_EQ(module.header.prefetches[0].index, (hlo::ShapeIndex{2}));
  EXPECT_EQ(module.header.prefetches[0].offset, 512);
}

TEST(ProtoModule, StackFrames) {
  const hlo::Module module = MustRead(Module({Example()}, [](auto& writer) {
    writer.add_message(ModuleField::kStackFrameIndex, Bytes<StackFrameIndexField>([](auto& index) {
                         index.add_string(StackFrameIndexField::kFileNames, "a.py");
                         index.add_string(StackFrameIndexField::kFunctionNames, "f");
                         index.add_message(StackFrameIndexField::kFileLocations,
                                           Bytes<FileLocationField>([](auto& l) {
                                             l.add_int32(FileLocationField::kFileNameId, 1);
                                             l.add_int32(FileLocationField::kFunctionNameId, 1);
                                             l.add_int32(FileLocationField::kLine, 10);
                                             l.add_int32(FileLocationField::kEndColumn, 4);
                                           }));
                         index.add_message(StackFrameIndexField::kStackFrames,
                                           Bytes<StackFrameField>([](auto& frame) {
                                             frame.add_int32(StackFrameField::kFileLocationId, 1);
                                           }));
                       }));
  }));
  ASSERT_EQ(module.stack_frames.files.size(), 1U);
  EXPECT_EQ(module.view(module.stack_frames.files[0]), "a.py");
  EXPECT_EQ(module.view(module.stack_frames.functions[0]), "f");
  EXPECT_EQ(module.stack_frames.locations[0],
            (hlo::StackFrames::Location{.file = 1, .function = 1, .line = 10, .end_column = 4}));
  EXPECT_EQ(module.stack_frames.frames[0], (hlo::StackFrames::Frame{.location = 1, .parent = 0}));
}

TEST(ProtoModule, ExecutionThreads) {
  Computation host = Example();
  host.id = 5;
  host.more = [](auto& writer) { writer.add_string(ComputationField::kExecutionThread, "host"); };
  Computation main = Example();
  main.more = [](auto& writer) { writer.add_string(ComputationField::kExecutionThread, "main"); };
  const hlo::Module module = MustRead(Module({host, main}));
  EXPECT_EQ(module.view(module.computations[CompId(0)].execution_thread), "host");
  EXPECT_EQ(module.view(module.computations[CompId(1)].execution_thread), "");
}

TEST(ProtoModule, Payloads) {
  const auto module = [](int64_t id) {
    Computation entry = Example();
    entry.instructions[2].more = [id](auto& writer) {
      writer.add_message(
          InstructionField::kBackendConfigPayload,
          Bytes<PayloadField>([&](auto& payload) { payload.add_int64(PayloadField::kId, id); }));
    };
    return Module({entry}, [](auto& writer) {
      writer.add_bytes(ModuleField::kPayloads, "{}");
      writer.add_bytes(ModuleField::kPayloads, "{\"x\":1}");
    });
  };
  EXPECT_EQ(RootText(module(1)), "%mul = f32[4]{0} multiply(%add, %p), backend_config={\"x\":1}");
  EXPECT_EQ(
      Errors(module(2)),
      "computations[0].instructions[2].backend_config_payload: the module has no payload 2\n");
}

TEST(ProtoModule, RecoveryTable) {
  const auto array = [](const std::string& name) {
    return Bytes<OriginalArrayField>(
        [&](auto& a) { a.add_string(OriginalArrayField::kInstructionName, name); });
  };
  const auto table = [&](const std::string& recovery) {
    return Module({Example()}, [&](auto& writer) {
      writer.add_message(
          ModuleField::kOriginalValueRecoveryTable, Bytes<RecoveryTableField>([&](auto& t) {
            t.add_message(RecoveryTableField::kEntries, Bytes<RecoveryEntryField>([&](auto& entry) {
                            entry.add_message(RecoveryEntryField::kOldOriginalArray, array("old"));
                            entry.add_message(RecoveryEntryField::kNewOriginalArray, array("new"));
                            entry.add_message(RecoveryEntryField::kRecoveryModule, recovery);
                          }));
          }));
    });
  };
  const hlo::Module module = MustRead(table(Module({Example()})));
  ASSERT_EQ(module.header.unknown.size(), 1U);
  EXPECT_EQ(module.view(module.header.unknown[0]), R"(origin_recovery_table={
  {"old"} : {"new"},
  "
    HloModule m

    ENTRY %main (p: f32[4]) -> f32[4] {
      %p = f32[4]{0} parameter(0)
      %add = f32[4]{0} add(%p, %p)
      ROOT %mul = f32[4]{0} multiply(%add, %p)
    }


  "
}
)");
  Computation bad = Example();
  bad.root = 44;
  EXPECT_EQ(Errors(table(Module({bad}))),
            "original_value_recovery_table.entries[0].recovery_module.computations[0]: the "
            "computation has no "
            "instruction with the id 44 of its root\n");
  std::string deep = Module({Example()});
  for (int i = 0; i < 20; ++i) deep = table(deep);
  EXPECT_NE(Errors(deep).find("modules nest more than 4 deep"), std::string::npos);
}

}  // namespace
}  // namespace stowplan::proto::test
