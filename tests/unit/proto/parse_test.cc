// SPDX-License-Identifier: Apache-2.0
#include "proto/parse.h"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "unit/proto/proto_bytes.h"
#include "unit/proto/read_proto.h"

namespace stowplan::proto::test {
namespace {

using hlo::CompId;
using hlo::InstrId;

constexpr std::string_view kExampleText = R"(HloModule m

ENTRY %main (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  %add = f32[4]{0} add(%p, %p)
  ROOT %mul = f32[4]{0} multiply(%add, %p)
}

)";

std::string Wrap(std::string_view module) {
  return Bytes<HloProtoField>([&](auto& writer) {
    writer.add_message(HloProtoField::kHloModule, std::string(module));
    writer.add_bytes(HloProtoField::kBufferAssignment, "\x0a\x02\x08\x01");
  });
}

TEST(ParseProto, BareModule) {
  const hlo::Module module = MustRead(Module({Example()}));
  EXPECT_EQ(hlo::ToString(module), kExampleText);
  ASSERT_EQ(module.instructions.size(), 3U);
  EXPECT_EQ(module.format, hlo::Format::kProto);
  EXPECT_EQ(module.proto_ids, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(module.computations[module.entry].proto_id, 7);
  EXPECT_EQ(module.computations[module.entry].root, InstrId(2));
  EXPECT_EQ(module.buffer_assignment.size, 0U);
  EXPECT_TRUE(module.warnings.empty());
}

TEST(ParseProto, HloProto) {
  const hlo::Module module = MustRead(Wrap(Module({Example()})));
  EXPECT_EQ(hlo::ToString(module), kExampleText);
  EXPECT_EQ(module.view(module.buffer_assignment), "\x0a\x02\x08\x01");
}

TEST(ParseProto, Snapshot) {
  const std::string bytes = Bytes<SnapshotField>([&](auto& writer) {
    writer.add_message(SnapshotField::kHlo, Wrap(Module({Example()})));
    writer.add_string(SnapshotField::kExecutionPlatform, "cpu");
  });
  const hlo::Module module = MustRead(bytes);
  EXPECT_EQ(hlo::ToString(module), kExampleText);
  EXPECT_EQ(module.buffer_assignment.size, 4U);
}

TEST(ParseProto, UnoptimizedSnapshot) {
  const std::string bytes = Bytes<UnoptimizedSnapshotField>([&](auto& writer) {
    writer.add_message(UnoptimizedSnapshotField::kHloModule, Module({Example()}));
    writer.add_message(UnoptimizedSnapshotField::kPartitions, std::string());
    writer.add_int32(UnoptimizedSnapshotField::kVersion, 1);
  });
  EXPECT_EQ(hlo::ToString(MustRead(bytes)), kExampleText);
}

// Fields may come in any order, though XLA writes them by number.
TEST(ParseProto, FieldsInReverse) {
  const std::string instruction = Bytes<InstructionField>([&](auto& writer) {
    writer.add_int64(InstructionField::kOperandIds, 1);  // not packed
    writer.add_int64(InstructionField::kOperandIds, 1);
    writer.add_int64(InstructionField::kId, 2);
    writer.add_message(InstructionField::kShape, F32({4}));
    writer.add_string(InstructionField::kOpcode, "add");
    writer.add_string(InstructionField::kName, "sum");
  });
  const std::string bytes = Bytes<ModuleField>([&](auto& writer) {
    writer.add_int64(ModuleField::kEntryComputationId, 5);
    writer.add_message(ModuleField::kComputations, Bytes<ComputationField>([&](auto& computation) {
                         computation.add_int64(ComputationField::kRootId, 2);
                         computation.add_int64(ComputationField::kId, 5);
                         computation.add_message(ComputationField::kInstructions,
                                                 Parameter("p", F32({4}), 1, 0).bytes());
                         computation.add_message(ComputationField::kInstructions, instruction);
                         computation.add_string(ComputationField::kName, "main");
                       }));
    writer.add_string(ModuleField::kName, "m");
  });
  EXPECT_EQ(RootText(bytes), "%sum = f32[4]{0} add(%p, %p)");
}

TEST(ParseProto, UnknownOpcodeIsKeptWithAWarning) {
  const hlo::Module module = MustRead(One({"x", "teleport", F32({4}), 1, {100}, {}}, {F32({4})}));
  EXPECT_EQ(module.opcode_name(InstrId(1)), "teleport");
  ASSERT_EQ(module.warnings.size(), 1U);
  EXPECT_EQ(module.warnings[0].message, "unknown opcode \"teleport\", met once");
  EXPECT_EQ(module.warnings[0].path, "computations[0].instructions[1].opcode");
  EXPECT_EQ(module.warnings[0].severity, Severity::kWarning);
}

TEST(ParseProto, UnknownFieldsAreCounted) {
  const auto more = [](auto& writer) { writer.add_int64(static_cast<InstructionField>(119), 5); };
  Computation entry = Example();
  entry.instructions[1].more = more;
  entry.instructions[2].more = more;
  const hlo::Module module = MustRead(Module({entry}));
  ASSERT_EQ(module.warnings.size(), 1U);
  EXPECT_EQ(module.warnings[0].message, "unknown field 119 of HloInstructionProto, met 2 times");
}

// A known number with another wire type is another field.
TEST(ParseProto, UnexpectedWireTypeIsUnknown) {
  Computation entry = Example();
  entry.instructions[1].more = [](auto& writer) { writer.add_double(InstructionField::kDelta, 1); };
  EXPECT_EQ(MustRead(Module({entry})).warnings.size(), 1U);
}

TEST(LooksLikeProto, ByContent) {
  const auto looks = [](std::string_view bytes) {
    return LooksLikeProto(*Source::FromBytes("x", bytes));
  };
  EXPECT_TRUE(looks(Module({Example()})));
  EXPECT_TRUE(looks(Wrap(Module({Example()}))));
  EXPECT_FALSE(looks(""));
  EXPECT_FALSE(looks("\n"));
  EXPECT_FALSE(looks("\nHloModule m\n\nENTRY e {\n\tROOT p = f32[] parameter(0)\n}\n"));
  EXPECT_FALSE(looks("HloModule m\x01"));
}

}  // namespace
}  // namespace stowplan::proto::test
