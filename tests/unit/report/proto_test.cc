// SPDX-License-Identifier: Apache-2.0
// Reports from buffer assignments in protos, and back.
#include <gtest/gtest.h>

#include "proto/parse.h"
#include "report/from_proto.h"
#include "report/to_proto.h"
#include "report/write.h"
#include "unit/proto/proto_bytes.h"
#include "unit/report/example_report.h"

namespace stowplan::report::test {
namespace {

namespace pb = proto::test;
using proto::BufferLocationField;
using proto::HloProtoField;

//     ENTRY main {
//       p = (f32[4]{0}, f32[4]{0}) parameter(0)     id 1
//       add = f32[4]{0} custom-call(p)              id 2
//       ROOT out = (f32[4]{0}) tuple(add)           id 3
//     }
std::string FileWith(const std::string& assignment) {
  const pb::Computation main{"main",
                             7,
                             3,
                             {pb::Parameter("p", pb::Tuple({pb::F32({4}), pb::F32({4})}), 1, 0),
                              {"add", "custom-call", pb::F32({4}), 2, {1}, {}},
                              {"out", "tuple", pb::Tuple({pb::F32({4})}), 3, {2}, {}}},
                             {}};
  return pb::Bytes<HloProtoField>([&](auto& writer) {
    writer.add_message(HloProtoField::kHloModule, pb::Module({main}));
    if (!assignment.empty()) writer.add_message(HloProtoField::kBufferAssignment, assignment);
  });
}

struct ExampleMessage {
  BufferAssignmentMessage message;

  Range Index(std::initializer_list<int64_t> numbers) {
    const Range range{static_cast<uint32_t>(message.ints.size()),
                      static_cast<uint32_t>(numbers.size())};
    message.ints.insert(message.ints.end(), numbers);
    return range;
  }
  BufferLocation At(int64_t id, std::initializer_list<int64_t> index = {}) {
    return {.instruction_id = id, .has_id = true, .index = Index(index)};
  }

  ExampleMessage() {
    message.buffers = {{.id = 0, .size = 16, .defined_at = At(1)},
                       {.id = 1, .size = 16, .defined_at = At(1, {0})},
                       {.id = 2, .size = 16, .defined_at = At(1, {1})},
                       {.id = 3, .size = 16, .color = 1, .defined_at = At(2)},
                       {.id = 4, .size = 8, .defined_at = At(3)}};
    message.aliases = {{.buffer = 3, .location = At(1, {0})}, {.buffer = 1, .location = At(2)}};
    message.allocations.resize(3);
    AllocationMessage& parameter = message.allocations[0];
    parameter.size = 16;
    parameter.is_entry_parameter = true;
    parameter.parameter_index = Index({1});
    parameter.assigned = {{.buffer = 2, .size = 16, .element_type = 11}};
    AllocationMessage& output = message.allocations[1];
    output.index = 1;
    output.size = 8;
    output.is_maybe_live_out = true;
    output.is_tuple = true;
    output.assigned = {{.buffer = 4, .size = 8, .element_type = 13}};
    AllocationMessage& temp = message.allocations[2];
    temp.index = 2;
    temp.size = 48;
    temp.color = 1;
    temp.is_tuple = true;
    temp.assigned = {{.buffer = 0, .size = 16, .element_type = 13},
                     {.buffer = 1, .offset = 16, .size = 16, .element_type = 11},
                     {.buffer = 3, .offset = 32, .size = 16, .element_type = 11}};
    message.traces = {
        {.allocation = 2,
         .is_whole_module = true,
         .events = {{.buffer = 3, .computation = "main", .instruction = "add"},
                    {.kind = HeapEventKind::kShareWith, .buffer = 4, .shares_with = 3},
                    {.kind = static_cast<HeapEventKind>(9), .buffer = 3}}}};
    message.peaks = {{.allocation = 2, .buffers = {1, 3}}};
  }
  [[nodiscard]] std::string Bytes() const { return SerializeBufferAssignment(message); }
};

hlo::Module ModuleWith(const std::string& assignment) {
  Result<hlo::Module> module = ParseProto(Source::FromBytes("test.hlo.pb", FileWith(assignment)));
  if (module) return *std::move(module);
  ADD_FAILURE() << Render(module.error());
  return {};
}

std::string ProtoErrors(const std::string& assignment) {
  const Result<Report> report = ReportFromModule(ModuleWith(assignment));
  std::string text;
  if (report) return text;
  for (const Diagnostic& error : report.error()) {
    text += error.path;
    text += ": " + error.message + "\n";
  }
  return text;
}

TEST(ReportFromModule, IsTheTextOfTheAssignment) {
  Result<Report> report = ReportFromModule(ModuleWith(ExampleMessage().Bytes()));
  ASSERT_TRUE(report.has_value()) << Render(report.error());
  EXPECT_EQ(report->name, "m");
  report->dialect.page = false;
  EXPECT_EQ(WriteAssignment(*report, report->dialect),
            "BufferAssignment:\n"
            "allocation 0: size 16, parameter 0, shape |f32[4]| at ShapeIndex {1}:\n"
            " value: <2 p{1} @0> (size=16,offset=0): f32[4]{0}\n"
            "allocation 1: size 8, output shape is |(f32[4])|, maybe-live-out:\n"
            " value: <4 out{} @0> (size=8,offset=0): (f32[4]{0})\n"
            "allocation 2: size 48, color 1, preallocated-temp:\n"
            " value: <0 p{} @0> (size=16,offset=0): (f32[4]{0}, f32[4]{0})\n"
            " value: <1 p{0} @0> (size=16,offset=16): f32[4]{0}\n"
            " value: <3 add @1> (size=16,offset=32): f32[4]{0}\n"
            " reused by buffers of a different color:\n"
            "  value: <0 p{} @0> (color=0)\n"
            "  value: <1 p{0} @0> (color=0)\n");
}

TEST(ReportFromModule, AbsentIsNotZero) {
  const Result<Report> report = ReportFromModule(ModuleWith(ExampleMessage().Bytes()));
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->has_value_list);
  EXPECT_FALSE(report->live_ranges.has_value());
  for (const Value& value : report->values.rows()) {
    EXPECT_FALSE(value.has_uses);
    EXPECT_FALSE(value.has_range);
    EXPECT_FALSE(value.is_listed);
  }
  for (const Allocation& allocation : report->allocations.rows()) {
    EXPECT_FALSE(allocation.page.has_value());
  }
  EXPECT_TRUE(report->positions.empty());
}

TEST(ReportFromModule, ValuesOfOneBuffer) {
  const auto shared = SharedBuffersFromModule(ModuleWith(ExampleMessage().Bytes()));
  ASSERT_TRUE(shared.has_value());
  EXPECT_EQ(*shared, (std::vector<SharedBuffer>{{1, 3}, {3, 4}}));
}

TEST(ReportFromModule, OldFilesHaveNames) {
  ExampleMessage example;
  for (LogicalBuffer& buffer : example.message.buffers) {
    const bool is_parameter = buffer.defined_at.instruction_id == 1;
    buffer.defined_at.has_id = false;
    buffer.defined_at.instruction_name = is_parameter ? "p" : buffer.id == 3 ? "add" : "out";
  }
  EXPECT_EQ(ProtoErrors(example.Bytes()), "");
  example.message.buffers[0].defined_at.instruction_name = "q";
  EXPECT_EQ(
      ProtoErrors(example.Bytes()),
      "buffer_assignment.logical_buffers[0]: there is no instruction of this name\n"
      "buffer_assignment.buffer_allocations[2].assigned[0]: there is no buffer with the id 0\n");
}

TEST(ReportFromModule, NoAssignment) {
  const Result<Report> report = ReportFromModule(ModuleWith(""));
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error()[0].message, "this module's file has no buffer assignment");
}

TEST(ReportFromModule, MistakesHaveAPlace) {
  ExampleMessage example;
  example.message.buffers[3].defined_at.instruction_id = 77;
  EXPECT_TRUE(
      ProtoErrors(example.Bytes())
          .starts_with(
              "buffer_assignment.logical_buffers[3]: there is no instruction with the id 77\n"));
  example = ExampleMessage();
  example.message.buffers[1].defined_at = example.At(1, {2});
  EXPECT_TRUE(
      ProtoErrors(example.Bytes())
          .starts_with(
              "buffer_assignment.logical_buffers[1]: the shape of p has no part at this index\n"));
  example = ExampleMessage();
  example.message.allocations[1].assigned.push_back({.buffer = 2, .size = 1});
  EXPECT_EQ(ProtoErrors(example.Bytes()),
            "buffer_assignment.buffer_allocations[1].assigned[1]: buffer 2 is assigned twice\n");
  example = ExampleMessage();
  example.message.allocations[2].assigned[1].offset = INT64_MAX;
  EXPECT_EQ(ProtoErrors(example.Bytes()),
            "buffer_assignment.buffer_allocations[2].assigned[1]: the place of buffer 1 is not a "
            "range of bytes\n");
  example = ExampleMessage();
  example.message.allocations[2].size = -1;
  example.message.allocations[2].index = 1;
  EXPECT_EQ(
      ProtoErrors(example.Bytes()),
      "buffer_assignment.buffer_allocations[2]: the size of an allocation is negative\n"
      "buffer_assignment.buffer_allocations[2]: there are two allocations with the index 1\n");
  example = ExampleMessage();
  example.message.allocations[0].parameter_number = 1;
  EXPECT_EQ(ProtoErrors(example.Bytes()),
            "buffer_assignment.buffer_allocations[0]: the entry computation has no parameter 1\n");
  example = ExampleMessage();
  example.message.allocations[0].parameter_index = example.Index({2});
  EXPECT_EQ(ProtoErrors(example.Bytes()),
            "buffer_assignment.buffer_allocations[0]: the shape of parameter 0 has no part at this "
            "index\n");
}

TEST(ReportFromModule, DamageHasAPlace) {
  std::string bytes = ExampleMessage().Bytes();
  // The length of the first buffer's location.
  const size_t at = bytes.find('\x1a');
  bytes[at + 1] = 0x70;
  EXPECT_TRUE(ProtoErrors(bytes).starts_with(
      "buffer_assignment.logical_buffers[0].defined_at: a field claims 112 bytes"))
      << ProtoErrors(bytes);
}

// Nothing that one byte can do crashes a reader.
TEST(ReportFromModule, AnyByteMayBeWrong) {
  const std::string bytes = ExampleMessage().Bytes();
  int readable = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int change : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ change);
      const Result<Report> report = ReportFromModule(ModuleWith(changed));
      if (report)
        ++readable;
      else
        EXPECT_FALSE(report.error()[0].path.empty());
    }
  }
  EXPECT_EQ(readable, 636);
}

TEST(BufferAssignmentProto, ComesBack) {
  const hlo::Module module = ModuleWith(ExampleMessage().Bytes());
  const Result<BufferAssignmentMessage> read = ParseBufferAssignment(module);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(SerializeBufferAssignment(*read), ExampleMessage().Bytes());
  const Result<std::vector<HeapTrace>> traces = ParseHeapTraces(module);
  ASSERT_TRUE(traces.has_value());
  ASSERT_EQ(traces->size(), 1U);
  EXPECT_TRUE((*traces)[0].is_whole_module);
  EXPECT_EQ((*traces)[0].events[1].shares_with, 3);
  EXPECT_EQ((*traces)[0].events[0].instruction, "add");
}

TEST(WriteBufferAssignmentProto, OfAReport) {
  const hlo::Module module = ModuleWith(ExampleMessage().Bytes());
  const Result<Report> report = ReportFromModule(module);
  ASSERT_TRUE(report.has_value());
  const Result<std::string> bytes = WriteBufferAssignmentProto(*report, module);
  ASSERT_TRUE(bytes.has_value()) << Render(bytes.error());
  ExampleMessage expected;
  expected.message.aliases.clear();
  expected.message.traces.clear();
  expected.message.peaks.clear();
  EXPECT_EQ(*bytes, expected.Bytes());
}

TEST(WriteBufferAssignmentProto, NeedsItsModule) {
  const hlo::Module module = ModuleWith(ExampleMessage().Bytes());
  const Result<std::string> bytes = WriteBufferAssignmentProto(test::Example(), module);
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(bytes.error()[0].message, "the module has no instruction a");
  EXPECT_FALSE(WriteBufferAssignmentProto(MustRead({kLiveRanges}), module).has_value());
}

}  // namespace
}  // namespace stowplan::report::test
