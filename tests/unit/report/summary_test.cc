// SPDX-License-Identifier: Apache-2.0
#include "report/summary.h"

#include <numeric>

#include <gmock/gmock.h>

#include "stowplan/session.h"
#include "unit/report/example_report.h"

namespace stowplan::report::test {
namespace {

using ::testing::ElementsAre;

Summary SummaryOf(const Report& report) {
  Result<Summary> summary = Summarize(report);
  if (summary) return *std::move(summary);
  ADD_FAILURE() << Render(summary.error());
  return {};
}

KindTotal Total(AllocationKind kind, int64_t allocations, int64_t bytes) {
  return {.kind = kind, .allocations = allocations, .bytes = bytes};
}

constexpr std::string_view kSpaces =
    "BufferAssignment:\n"
    "allocation 0: size 100, parameter 0, shape |f32[25]| at ShapeIndex {}:\n"
    "allocation 1: size 50, parameter 1, shape |f32[1]| at ShapeIndex {}, maybe-live-out:\n"
    "allocation 2: size 7, constant, maybe-live-out:\n"
    "allocation 3: size 30, color 1, preallocated-temp:\n"
    "allocation 4: size 20, preallocated-temp:\n"
    "allocation 5: size 5, thread-local:\n"
    "allocation 6: size 3, color 1, output shape is |()|, maybe-live-out:\n";

TEST(Summary, EveryAllocationIsOfOneKindAndInOneSpace) {
  const Summary summary = SummaryOf(MustRead({kSpaces}));
  EXPECT_EQ(summary.bytes, 215);
  EXPECT_EQ(summary.allocations, 7);
  using enum AllocationKind;
  EXPECT_THAT(summary.kinds, ElementsAre(Total(kParameter, 1, 100), Total(kAliased, 1, 50),
                                         Total(kTemporary, 2, 50), Total(kConstant, 1, 7),
                                         Total(kThreadLocal, 1, 5), Total(kOutput, 1, 3)));
  ASSERT_EQ(summary.spaces.size(), 2U);
  EXPECT_EQ(summary.spaces[0].bytes, 182);
  EXPECT_EQ(summary.spaces[1].color, 1);
  EXPECT_EQ(summary.spaces[1].bytes, 33);
  EXPECT_THAT(summary.spaces[1].kinds, ElementsAre(Total(kTemporary, 1, 30), Total(kOutput, 1, 3)));
  EXPECT_FALSE(summary.peak);
  EXPECT_FALSE(summary.printed_peak);
}

TEST(Summary, Peaks) {
  const Summary summary = SummaryOf(Example());
  EXPECT_EQ(summary.values, 5);
  ASSERT_TRUE(summary.printed_peak && summary.peak);
  EXPECT_EQ(summary.printed_peak->time, 4);
  EXPECT_EQ(summary.printed_peak->bytes, 52);
  EXPECT_EQ(summary.printed_peak->values, 4);
  EXPECT_EQ(summary.peak->all.bytes, 52);
  ASSERT_EQ(summary.spaces.size(), 1U);
  EXPECT_EQ(summary.spaces[0].peak, summary.peak->all);
}

TEST(Summary, SumsThatDoNotFit) {
  EXPECT_FALSE(
      Summarize(MustRead({"BufferAssignment:\n"
                          "allocation 0: size 9223372036854775807, constant:\n"
                          "allocation 1: size 1, constant:\n"})));
}

TEST(Summary, Fragmentation) {
  EXPECT_DOUBLE_EQ(Fragmentation(100, 75), 0.25);
  EXPECT_DOUBLE_EQ(Fragmentation(0, 0), 0);
}

TEST(Backend, FromNamesAndTiles) {
  const auto guess = [](std::string name, std::string_view text) {
    const std::vector<std::shared_ptr<const Source>> sources = {
        Source::FromBytes(std::move(name), text)};
    return GuessBackend(*ReadReport(sources));
  };
  const std::string plain =
      "BufferAssignment:\nallocation 0: size 4, constant:\n"
      " value: <0 c @0> (size=4,offset=0): f32[]\n";
  const std::string tiled =
      "BufferAssignment:\nallocation 0: size 512, constant:\n"
      " value: <0 c @0> (size=512,offset=0): f32[]{:T(128)}\n";
  EXPECT_EQ(guess("d/module_0000.f.cpu_after_optimizations-buffer-assignment.txt", plain),
            Backend::kCpu);
  EXPECT_EQ(guess("sm_9.0_gpu_after_optimizations-buffer-assignment.txt", plain), Backend::kGpu);
  // A folder's name says nothing.
  EXPECT_EQ(guess("cpu_after_optimizations/x.txt", plain), Backend::kUnknown);
  EXPECT_EQ(guess("x.txt", tiled), Backend::kTpu);
  EXPECT_EQ(BackendOfTarget("tpu-v5e"), Backend::kTpu);
  EXPECT_EQ(BackendOfTarget("gpu"), Backend::kGpu);
}

TEST(Backend, NamesOfSpaces) {
  EXPECT_EQ(SpaceName(Backend::kTpu, 0), "HBM");
  EXPECT_EQ(SpaceName(Backend::kTpu, 1), "VMEM");
  EXPECT_EQ(SpaceName(Backend::kTpu, 4), "");
  EXPECT_EQ(SpaceName(Backend::kTpu, 5), "host");
  EXPECT_EQ(SpaceName(Backend::kTpu, 6), "SMEM");
  EXPECT_EQ(SpaceName(Backend::kTpu, 8), "SparseCore");
  EXPECT_EQ(SpaceName(Backend::kTpu, -1), "");
  EXPECT_EQ(SpaceName(Backend::kGpu, 1), "collective");
  EXPECT_EQ(SpaceName(Backend::kGpu, 6), "unpinned host");
  EXPECT_EQ(SpaceName(Backend::kCpu, 0), "default");
  EXPECT_EQ(SpaceName(Backend::kUnknown, 5), "host");
  EXPECT_EQ(SpaceName(Backend::kUnknown, 77), "");
}

TEST(Origin, OfText) {
  EXPECT_EQ(OriginOfText("%x = f32[] add(%a, %b), metadata={op_name=\"jit(f)/add[a=\\\"{\\\"]\" "
                         "source_file=\"/home/me/train.py\" source_line=42}, backend_config={}"),
            (Origin{.op_name = "jit(f)/add[a=\"{\"]", .source = "/home/me/train.py:42"}));
  EXPECT_EQ(OriginOfText("%x = f32[] parameter(0), metadata={op_name=\"params[\\'w\\']\"}"),
            (Origin{.op_name = "params['w']", .source = ""}));
  EXPECT_EQ(OriginOfText("%x = f32[] add(%a, %b)"), Origin());
  for (const std::string_view bad : {"metadata={", "metadata={op_name=\"", "metadata={op_name=\"x",
                                     "metadata={op_name=\"\\", "metadata={op_name=\"\\x\"}"}) {
    EXPECT_EQ(OriginOfText(bad), Origin()) << bad;
  }
}

TEST(Origin, OfTheModule) {
  const Result<hlo::Module> module = ParseModule(Source::FromBytes("m", R"(HloModule m

FileNames
1 "train.py"

FunctionNames
1 "step"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=0 end_column=5}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%body (p: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  ROOT %n = f32[] negate(%p), metadata={op_name="jit(step)/neg" stack_frame_id=1}
}

%inner (q: f32[]) -> f32[] {
  %q = f32[] parameter(0)
  %i = f32[] negate(%q), metadata={op_name="jit(step)/inner"}
  ROOT %b = f32[] bitcast(%i)
}

%form (r: f32[]) -> f32[] {
  %r = f32[] parameter(0)
  ROOT %d = f32[] copy(%r)
}

%sum (s: f32[]) -> f32[] {
  %s = f32[] parameter(0)
  ROOT %e = f32[] add(%s, %s)
}

ENTRY %main (a: f32[]) -> f32[] {
  %a = f32[] parameter(0), metadata={op_name="a"}
  %g = f32[] fusion(%a), kind=kLoop, calls=%inner
  %h = f32[] fusion(%g), kind=kLoop, calls=%form
  %k = f32[] copy(%h)
  %l = f32[] fusion(%k), kind=kLoop, calls=%sum
  %m = f32[] add(%l, %l)
  ROOT %f = f32[] fusion(%a), kind=kLoop, calls=%body
}

)"));
  ASSERT_TRUE(module) << Render(module.error());
  const auto op_name = [&](std::string_view name) -> std::string {
    for (size_t i = 0; i < module->instructions.size(); ++i) {
      if (module->name(hlo::InstrId(i)) != name) continue;
      const hlo::Metadata* words = MetadataOf(*module, hlo::InstrId(i));
      return words == nullptr ? "" : std::string(module->view(words->op_name));
    }
    return "there is none";
  };
  EXPECT_EQ(op_name("n"), "jit(step)/neg");
  // A fusion without words of its own is what its root is.
  EXPECT_EQ(op_name("f"), "jit(step)/neg");
  // Or what the last inside of it is that has words, and a copy is what it copies.
  for (const std::string_view name : {"g", "h", "k"}) EXPECT_EQ(op_name(name), "jit(step)/inner");
  // What computes something is not its operand.
  for (const std::string_view name : {"l", "m"}) EXPECT_EQ(op_name(name), "") << name;
  EXPECT_EQ(op_name("a"), "a");
  EXPECT_EQ(OriginOfText("%nobody = f32[] x(), metadata={op_name=\"o\"}"),
            (Origin{.op_name = "o", .source = ""}));
}

}  // namespace
}  // namespace stowplan::report::test
