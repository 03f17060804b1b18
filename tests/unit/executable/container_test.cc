// SPDX-License-Identifier: Apache-2.0
#include "executable/container.h"

#include <zlib.h>

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executable/riegeli.h"
#include "unit/executable/made_executable.h"

namespace stowplan::executable {
namespace {

const std::vector<MadeAllocation> kMade = {
    {MadeAs::kParameter, 64}, {MadeAs::kResult, 64}, {MadeAs::kTemporary, 64}};

std::string Plain() {
  return MadeBytes(
      kMade, {Kernel("f", {{0, 0, 64}}, {{2, 0, 64}}), Kernel("g", {{2, 0, 64}}, {{1, 0, 64}})});
}

std::string Header(uint64_t version = 3) {
  std::string header;
  if (version != 0) AppendVarintField(kHeaderVersion, version, header);
  AppendBytesField(kHeaderRuntime, "pjrt_ifrt", header);
  std::string out;
  AppendVarint(header.size(), out);
  return out + header;
}

std::string Zlib(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &size,
           reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  out.resize(size);
  return out;
}

// A GPU's executable, whose messages are split over records.
std::string Split() {
  const std::string path = Message({{3, Message({{1, std::string("\x08\x01", 2)}})}});
  const std::string merge = Message({{2, ""}});
  const std::string kernel = Message(
      {{1, SliceMessage({0, 0, 64})}, {1, SliceMessage({1, 0, 64})}, {2, {0, 1}}, {3, "f"}});
  const std::string thunk = Message({{1, Message({{1, "f"}})}, {8, kernel}});
  const std::string module = Message({{1, "made"}, {3, Message({{1, "main"}})}});
  const std::string result = WriteRiegeli(std::vector<std::string>{
      Message({{1, "type"}, {2, merge}, {2, merge}}),
      Message({{12, "constant"}}),
      Message({{1, Message({{1, module}})}, {2, AssignmentMessage(kMade)}, {13, thunk}}),
  });
  return Header() + WriteRiegeli(std::vector<std::string>{
                        Message({{1, "type"}, {2, path}, {2, merge}}),
                        result,
                        Message({{2, "options"}}),
                    });
}

std::string Rewritten(const std::string& bytes) {
  const auto executable = ReadExecutable(Source::FromBytes("made", bytes));
  if (!executable) return Render(executable.error());
  const auto written = WriteExecutable(*executable, {.program = &executable->program});
  return written ? *written : Render(written.error());
}

TEST(Container, ReadsAndWritesEveryKind) {
  const std::string time("\0\0\0\x05", 4);
  for (const std::string& bytes :
       {Plain(), Header() + Plain(), time + Plain(), time + Header() + Plain(),
        Zlib(time + Header() + Plain()), Split()}) {
    EXPECT_TRUE(LooksLikeExecutable(bytes));
    EXPECT_EQ(Rewritten(bytes), bytes);
  }
}

TEST(Container, ReadsTheHeaderOfTheFirstVersion) {
  const std::string bytes = Header(0) + Plain();
  const auto executable = ReadExecutable(Source::FromBytes("made", bytes));
  ASSERT_TRUE(executable);
  EXPECT_EQ(executable->runtime, "pjrt_ifrt");
  EXPECT_FALSE(executable->container.compile_time);
  EXPECT_EQ(Rewritten(bytes), bytes);
}

TEST(Container, FindsTheExecutableInAPickle) {
  const std::string plain = Header() + Plain();
  std::string inner("\x80\x04", 2);
  inner += std::string("B") + static_cast<char>(plain.size() & 0xff) +
           static_cast<char>(plain.size() >> 8U) + std::string("\0\0", 2) + plain + ".";
  std::string outer("\x80\x05", 2);
  outer += std::string("\x8e") + static_cast<char>(inner.size() & 0xff) +
           static_cast<char>(inner.size() >> 8U) + std::string(6, '\0') + inner + "Q.";
  EXPECT_TRUE(LooksLikeExecutable(outer));
  const auto executable = ReadExecutable(Source::FromBytes("made", outer));
  ASSERT_TRUE(executable);
  EXPECT_EQ(executable->module_name, "made");
  EXPECT_THAT(Rewritten(outer), testing::HasSubstr("inside a pickle"));
}

TEST(Container, LeavesOthersAlone) {
  const std::string module = Message({{1, "made"}, {3, Message({{1, "main"}})}});
  const std::string hlo_proto = Message({{1, module}, {3, AssignmentMessage(kMade)}});
  for (const std::string& bytes :
       {std::string(), std::string("HloModule m\n"), module, hlo_proto, Zlib("text")}) {
    EXPECT_FALSE(LooksLikeExecutable(bytes));
  }
}

TEST(Container, ReadsNoPartOfAnExecutable) {
  for (const std::string& bytes : {Plain(), Header() + Plain(), Split()}) {
    for (size_t size = 0; size < bytes.size(); size += 3) {
      const auto executable = ReadExecutable(Source::FromBytes("made", bytes.substr(0, size)));
      // Fields at the end may be missing; then the message is whole without them.
      EXPECT_TRUE(!executable || executable->program.thunks.size() <= 2) << size;
    }
  }
}

TEST(Executable, KeepsWhatItDoesNotKnow) {
  std::string bytes = Plain();
  AppendBytesField(9, "unknown", bytes);
  EXPECT_EQ(Rewritten(bytes), bytes);
}

TEST(Executable, WritesOtherPlaces) {
  const auto before = ReadExecutable(Source::FromBytes("made", Header() + Plain()));
  ASSERT_TRUE(before);
  Program program = before->program;
  Assignment assignment = before->assignment;
  assignment.allocations[2].size = 1024;
  for (Slot& slot : program.slots) {
    if (slot.slice.allocation == 2) slot.slice.offset = 300;
  }
  const auto bytes = WriteExecutable(*before, {.assignment = assignment, .program = &program});
  ASSERT_TRUE(bytes);
  const auto after = ReadExecutable(Source::FromBytes("made", *bytes));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->assignment.allocations[2].size, 1024);
  ASSERT_EQ(after->program.slots.size(), 4);
  EXPECT_EQ(after->program.slots[1].slice, (Slice{2, 300, 64}));
  EXPECT_EQ(after->program.slots[2].slice, (Slice{2, 300, 64}));
  EXPECT_EQ(after->program.slots[3].slice, (Slice{1, 0, 64}));
}

TEST(Executable, WritesAnotherOrder) {
  const auto before = ReadExecutable(Source::FromBytes("made", Plain()));
  ASSERT_TRUE(before);
  Program program = before->program;
  std::swap(program.sequences[0].thunks[0], program.sequences[0].thunks[1]);
  const auto bytes = WriteExecutable(*before, {.program = &program});
  ASSERT_TRUE(bytes);
  const auto after = ReadExecutable(Source::FromBytes("made", *bytes));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->program.thunks[0].name, "g");
  EXPECT_EQ(after->program.thunks[1].name, "f");
}

// A field of a sequence inside a loop changes the lengths of everything around it.
TEST(Executable, WritesPlacesInsideLoops) {
  const auto made = [](int64_t offset) {
    return MadeBytes(kMade,
                     {While("loop", {}, {Kernel("f", {{0, 0, 64}}, {{2, offset, 8}})}, {2, 0, 1})});
  };
  const auto before = ReadExecutable(Source::FromBytes("made", made(8)));
  ASSERT_TRUE(before);
  Program program = before->program;
  for (Slot& slot : program.slots) {
    if (slot.slice.offset == 8) slot.slice.offset = 100000;
  }
  const auto bytes = WriteExecutable(*before, {.program = &program});
  ASSERT_TRUE(bytes);
  const auto expected = ReadExecutable(Source::FromBytes("made", made(100000)));
  const auto after = ReadExecutable(Source::FromBytes("made", *bytes));
  ASSERT_TRUE(after);
  ASSERT_TRUE(expected);
  ASSERT_EQ(after->program.slots.size(), expected->program.slots.size());
  for (size_t i = 0; i < after->program.slots.size(); ++i)
    EXPECT_EQ(after->program.slots[i].slice, expected->program.slots[i].slice);
}

}  // namespace
}  // namespace stowplan::executable
