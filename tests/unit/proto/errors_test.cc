// SPDX-License-Identifier: Apache-2.0
// What is wrong with an input, and where.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "unit/proto/proto_bytes.h"
#include "unit/proto/read_proto.h"

namespace stowplan::proto::test {
namespace {

TEST(ProtoErrors, UnknownOperand) {
  Computation entry = Example();
  entry.instructions[2].operands = {2, 55};
  EXPECT_EQ(Errors(Module({entry})),
            "computations[0].instructions[2].operand_ids: no instruction with the id 55 precedes "
            "the one that uses it\n");
}

TEST(ProtoErrors, OperandBehindItsUser) {
  Computation entry = Example();
  std::swap(entry.instructions[1], entry.instructions[2]);
  EXPECT_EQ(Errors(Module({entry})),
            "computations[0].instructions[1].operand_ids: no instruction with the id 2 precedes "
            "the one that uses it\n");
}

TEST(ProtoErrors, AllAtOnce) {
  Computation entry = Example();
  entry.instructions[1].operands = {1, 8};
  entry.instructions[2].id = 2;
  entry.root = 9;
  EXPECT_EQ(Errors(Module({entry})),
            "computations[0].instructions[1].operand_ids: no instruction with the id 8 precedes "
            "the one that uses it\n"
            "computations[0].instructions[2]: a second instruction with the id 2\n"
            "computations[0]: the computation has no instruction with the id 9 of its root\n");
}

TEST(ProtoErrors, AtMostTwenty) {
  Computation entry = Example();
  entry.instructions[1].operands = Ints(1000, 77);
  const Result<hlo::Module> module = Read(Module({entry}));
  ASSERT_FALSE(module.has_value());
  EXPECT_EQ(module.error().size(), kMaxErrors);
}

TEST(ProtoErrors, Calls) {
  const auto call = [](int64_t id) {
    return Instruction{"c",
                       "call",
                       F32({4}),
                       1,
                       {100},
                       [id](auto& writer) {
                         AddInts(writer, InstructionField::kCalledComputationIds, {id}); }};
  };
  EXPECT_EQ(Errors(One(call(7), {F32({4})}, {Example()})), "");
  // Itself, which would be a cycle.
  EXPECT_EQ(Errors(One(call(99), {F32({4})}, {Example()})),
            "computations[1].instructions[1].called_computation_ids: no computation with the id 99 "
            "precedes the one "
            "that calls it\n");
  EXPECT_EQ(Errors(One({"c", "call", F32({4}), 1, {100}, {}}, {F32({4})})),
            "computations[0].instructions[1]: the instruction calls 0 computations, which is not "
            "enough for its "
            "opcode\n");
}

TEST(ProtoErrors, Modules) {
  EXPECT_EQ(
      Errors(""),
      ": no HLO module in this file: it is none of HloProto, HloModuleProto and HloSnapshot\n");
  EXPECT_EQ(Errors(Module({})), Errors(""));
  EXPECT_EQ(Errors(Module({Example(), Example()})),
            "computations[1]: a second computation with the id 7\n");
  const std::string no_entry = Module(
      {Example()}, [](auto& writer) { writer.add_int64(ModuleField::kEntryComputationId, 1234); });
  EXPECT_EQ(Errors(no_entry), ": the module has no computation with the id 1234 of its entry\n");
}

TEST(ProtoErrors, Shapes) {
  Computation entry = Example();
  entry.instructions[0].shape = "";
  EXPECT_EQ(Errors(Module({entry})),
            "computations[0].instructions[0].shape: the shape has no element type\n");
}

TEST(ProtoErrors, ClaimsMoreThanThereIs) {
  std::string bytes = Module({Example()});
  // The length of the first computation is the byte behind its key.
  const size_t at = bytes.find('\x1a') + 1;
  bytes[at] = 0x7f;
  const Result<hlo::Module> module = Read(bytes);
  ASSERT_FALSE(module.has_value());
  EXPECT_EQ(module.error()[0].offset, at);
  EXPECT_EQ(module.error()[0].path, "computations[0]");
  EXPECT_TRUE(module.error()[0].message.starts_with("a field claims 127 bytes, but only "));
}

// A length that is 5 when cut to 32 bits.
TEST(ProtoErrors, LengthOfMoreThan32Bits) {
  const std::string bytes =
      Module({Example()}) + std::string("\x0a\x85\x80\x80\x80\x10", 6) + "abcde";
  EXPECT_EQ(Errors(bytes), "name: a field claims 4294967301 bytes, but only 5 are left\n");
}

TEST(ProtoErrors, DamageNamesItsPlace) {
  Computation entry = Example();
  // A group, which proto3 does not have.
  entry.instructions[1].shape = F32({4}) + "\x0b";
  EXPECT_EQ(Errors(Module({entry})),
            "computations[0].instructions[1].shape: field 1 has the unknown wire type 3\n");
  entry.instructions[1].shape = F32({4}) + std::string(11, '\xff');
  EXPECT_EQ(Errors(Module({entry})),
            "computations[0].instructions[1].shape: a number has more than ten bytes\n");
}

TEST(ProtoErrors, TruncatedAnywhere) {
  const std::string module =
      Module({Example()}, [](auto& writer) { writer.add_string(ModuleField::kDeviceType, "cpu"); });
  const std::string bytes = Bytes<HloProtoField>(
      [&](auto& writer) { writer.add_message(HloProtoField::kHloModule, module); });
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Result<hlo::Module> read = Read(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(read.has_value()) << size;
    EXPECT_LE(read.error()[0].offset, size);
    EXPECT_FALSE(read.error()[0].message.empty());
  }
  EXPECT_TRUE(Read(bytes).has_value());
}

TEST(ProtoErrors, AnyByteChanged) {
  const std::string bytes = Module({Example()});
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(value);
      const Result<hlo::Module> read = Read(changed);
      if (read) {
        EXPECT_FALSE(hlo::ToString(*read).empty());
      } else {
        EXPECT_FALSE(read.error().empty());
      }
    }
  }
}

}  // namespace
}  // namespace stowplan::proto::test
