// SPDX-License-Identifier: Apache-2.0
// Whole plans of small programs, as XLA would print them.
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assign/assignment.h"
#include "assign/rules.h"
#include "unit/planning.h"

namespace stowplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string Entry(const std::string& lines, const std::string& header = {},
                  const std::string& before = {}) {
  return "HloModule m, is_scheduled=true" + header + "\n" + before + "ENTRY e {\n" + lines + "}";
}

TEST(Assign, ParametersConstantsResultAndTemporaries) {
  // Two places are enough for a chain of four. y and z live longest, by the heap's own clock, and
  // are placed first.
  EXPECT_EQ(AssignmentOf(Entry(R"(
  p = f32[16] parameter(0)
  k = f32[] constant(2)
  x = f32[16] tan(p)
  y = f32[16] reverse(x), dimensions={0}
  z = f32[16] reverse(y), dimensions={0}
  w = f32[16] reverse(z), dimensions={0}
  ROOT r = f32[8] custom-call(w, k), custom_call_target="f"
)")),
            "allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}:\n"
            " value: <0 p @0> (size=64,offset=0): f32[16]\n"
            "allocation 1: size 32, output shape is |f32[8]|, maybe-live-out:\n"
            " value: <6 r @0> (size=32,offset=0): f32[8]\n"
            "allocation 2: size 4, constant:\n"
            " value: <5 k @0> (size=4,offset=0): f32[]\n"
            "allocation 3: size 128, preallocated-temp:\n"
            " value: <1 x @0> (size=64,offset=64): f32[16]\n"
            " value: <2 y @0> (size=64,offset=0): f32[16]\n"
            " value: <3 z @0> (size=64,offset=64): f32[16]\n"
            " value: <4 w @0> (size=64,offset=0): f32[16]\n");
}

TEST(Assign, ElementwiseChainsTakeOverOnePlace) {
  EXPECT_EQ(AssignmentOf(Entry(R"(
  p = f32[16] parameter(0)
  x = f32[16] tan(p)
  y = f32[16] negate(x)
  z = f32[16] sine(y)
  ROOT r = f32[8] custom-call(z), custom_call_target="f"
)")),
            "allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}:\n"
            " value: <0 p @0> (size=64,offset=0): f32[16]\n"
            "allocation 1: size 32, output shape is |f32[8]|, maybe-live-out:\n"
            " value: <4 r @0> (size=32,offset=0): f32[8]\n"
            "allocation 2: size 64, preallocated-temp:\n"
            " value: <1 x @0> (size=64,offset=0): f32[16]\n"
            " value: <2 y @0> (size=64,offset=0): f32[16]\n"
            " value: <3 z @0> (size=64,offset=0): f32[16]\n");
}

TEST(Assign, TemporariesMoveIntoTheResult) {
  // t ends where r is born, elementwise. s would fit, but t is born where s ends. Of equal sizes,
  // the result comes first.
  EXPECT_EQ(AssignmentOf(Entry(R"(
  p = f32[16] parameter(0)
  s = f32[4] custom-call(p), custom_call_target="g"
  t = f32[16] custom-call(s), custom_call_target="h"
  ROOT r = f32[16] add(t, p)
)")),
            "allocation 0: size 64, output shape is |f32[16]|, maybe-live-out:\n"
            " value: <2 t @0> (size=64,offset=0): f32[16]\n"
            " value: <3 r @0> (size=64,offset=0): f32[16]\n"
            "allocation 1: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}:\n"
            " value: <0 p @0> (size=64,offset=0): f32[16]\n"
            "allocation 2: size 16, preallocated-temp:\n"
            " value: <1 s @0> (size=16,offset=0): f32[4]\n");
}

TEST(Assign, ADonatedParameterIsReused) {
  EXPECT_EQ(AssignmentOf(Entry(R"(
  p = f32[16] parameter(0)
  x = f32[16] tan(p)
  y = f32[8] custom-call(x), custom_call_target="g"
  z = f32[16] custom-call(y), custom_call_target="g"
  ROOT r = f32[16] negate(z)
)",
                               ", input_output_alias={ {}: (0, {}, may-alias) }")),
            "allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}, output shape is "
            "|f32[16]|, maybe-live-out:\n"
            " value: <0 p @0> (size=64,offset=0): f32[16]\n"
            " value: <1 x @0> (size=64,offset=0): f32[16]\n"
            " value: <3 z @0> (size=64,offset=0): f32[16]\n"
            " value: <4 r @0> (size=64,offset=0): f32[16]\n"
            "allocation 1: size 32, preallocated-temp:\n"
            " value: <2 y @0> (size=32,offset=0): f32[8]\n");
}

TEST(Assign, ACopyNeverLiesOverItsSource) {
  const std::string plan = AssignmentOf(Entry(R"(
  p = f32[16] parameter(0)
  x = f32[16] tan(p)
  ROOT c = f32[16] copy(x)
)"));
  EXPECT_THAT(plan, HasSubstr("preallocated-temp:\n value: <1 x @0>"));
}

constexpr std::string_view kReducer = R"(add {
  l = f32[] parameter(0)
  r = f32[] parameter(1)
  ROOT sum = f32[] add(l, r)
}
)";

TEST(Assign, TheLastThreadLocalsTakeTheTemporariesNumbers) {
  // Made in order: p, result, k, the temporary, then l, r and sum. The temporaries go behind, by
  // swapping from both ends: sum gets the temporary's number.
  EXPECT_EQ(AssignmentOf(Entry(R"(
  p = f32[16] parameter(0)
  k = f32[] constant(0)
  x = f32[16] tan(p)
  ROOT r0 = f32[] reduce(x, k), dimensions={0}, to_apply=add
)",
                               "", std::string(kReducer))),
            "allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}:\n"
            " value: <3 p @0> (size=64,offset=0): f32[16]\n"
            "allocation 1: size 4, output shape is |f32[]|, maybe-live-out:\n"
            " value: <6 r0 @0> (size=4,offset=0): f32[]\n"
            "allocation 2: size 4, constant:\n"
            " value: <5 k @0> (size=4,offset=0): f32[]\n"
            "allocation 3: size 4, thread-local:\n"
            " value: <2 sum @0> (size=4,offset=0): f32[]\n"
            "allocation 4: size 4, thread-local:\n"
            " value: <0 l @0> (size=4,offset=0): f32[]\n"
            "allocation 5: size 4, thread-local:\n"
            " value: <1 r @0> (size=4,offset=0): f32[]\n"
            "allocation 6: size 64, preallocated-temp:\n"
            " value: <4 x @0> (size=64,offset=0): f32[16]\n");
}

// Tables are allocations of their own and join the block of temporaries in the end.
constexpr std::string_view kTables = R"(
  p = f32[16] parameter(0)
  x = f32[16] tan(p)
  t = (f32[16], f32[16]) tuple(p, x)
  s = ((f32[16], f32[16])) tuple(t)
  ROOT r = f32[8] custom-call(s), custom_call_target="f"
)";

TEST(Assign, TemporariesBecomeOneBlock) {
  // Made in order: p, r, t, s, and the heap with x. Nothing is swapped; each begins aligned.
  EXPECT_EQ(AssignmentOf(Entry(std::string(kTables))),
            "allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}:\n"
            " value: <0 p @0> (size=64,offset=0): f32[16]\n"
            "allocation 1: size 32, output shape is |f32[8]|, maybe-live-out:\n"
            " value: <4 r @0> (size=32,offset=0): f32[8]\n"
            "allocation 2: size 192, preallocated-temp:\n"
            " value: <1 x @0> (size=64,offset=128): f32[16]\n"
            " value: <2 t{} @0> (size=16,offset=0): (f32[16], f32[16])\n"
            " value: <3 s{} @0> (size=8,offset=64): ((f32[16], f32[16]))\n");
}

TEST(Assign, AlignmentIsTheBackEnds) {
  const std::string text = Entry(R"(
  p = f32[4] parameter(0)
  x = f32[4] tan(p)
  y = f32[4] sine(p)
  ROOT r = f32[2] custom-call(x, y), custom_call_target="f"
)");
  EXPECT_THAT(AssignmentOf(text, "cpu"), HasSubstr("(size=16,offset=64)"));
  EXPECT_THAT(AssignmentOf(text, "gpu"), HasSubstr("(size=16,offset=256)"));
  Rules old = RulesOf(*FindTarget("cpu"), "jaxlib-0.4.30");
  EXPECT_THAT(AssignmentOf(text, old), HasSubstr("(size=16,offset=16)"));
}

TEST(Assign, NoHeapGrowsBeyondItsLimit) {
  const std::string text = Entry(R"(
  p = f32[4] parameter(0)
  x = f32[16] custom-call(p), custom_call_target="a"
  y = f32[16] custom-call(p), custom_call_target="b"
  z = f32[32] custom-call(p), custom_call_target="c"
  ROOT r = f32[2] custom-call(x, y, z), custom_call_target="f"
)");
  Rules rules = RulesOf(*FindTarget("cpu"));
  EXPECT_THAT(AssignmentOf(text, rules), HasSubstr("size 256, preallocated-temp"));
  // z alone exceeds the limit, and may, as the first of its heap; x and y fit into another.
  rules.heap_limit = 129;
  const std::string plan = AssignmentOf(text, rules);
  EXPECT_THAT(plan, HasSubstr("allocation 2: size 128, preallocated-temp:\n value: <3 z @0>"));
  EXPECT_THAT(plan, HasSubstr("allocation 3: size 128, preallocated-temp:\n value: <1 x @0>"));
  EXPECT_THAT(plan, HasSubstr(" value: <2 y @0> (size=64,offset=64)"));
  rules.heap_limit = 1;
  EXPECT_THAT(AssignmentOf(text, rules), HasSubstr("allocation 4: size 64, preallocated-temp"));
}

TEST(Assign, PlainValuesFillHolesOfCollectiveMemory) {
  // y and z lie side by side; w is alive when y is gone, v begins where y ends, u is too large.
  const std::string text = Entry(R"(
  p = f32[64]{0} parameter(0)
  y = f32[64]{0:S(1)} custom-call(p), custom_call_target="a"
  z = f32[128]{0:S(1)} custom-call(y), custom_call_target="b"
  v = f32[64]{0} custom-call(p, y), custom_call_target="c"
  w = f32[32]{0} custom-call(p, v), custom_call_target="d"
  u = f32[256]{0} custom-call(p, w), custom_call_target="e"
  ROOT r = f32[2]{0} custom-call(u, z, w), custom_call_target="f"
)");
  const std::string plan = AssignmentOf(text, "gpu");
  EXPECT_THAT(plan, HasSubstr("size 768, color 1, preallocated-temp:\n"
                              " value: <1 y @1> (size=256,offset=512): f32[64]{0:S(1)}\n"
                              " value: <3 w @0> (size=128,offset=512): f32[32]{0}\n"
                              " value: <5 z @1> (size=512,offset=0): f32[128]{0:S(1)}\n"
                              " reused by buffers of a different color:\n"
                              "  value: <3 w @0> (color=0)\n"
                              "allocation 3: size 1024, preallocated-temp:\n"
                              " value: <2 v @0>"));
  // Older compilers keep them apart.
  EXPECT_THAT(AssignmentOf(text, RulesOf(*FindTarget("gpu"), "jaxlib-0.10.2")),
              Not(HasSubstr("different color")));
}

TEST(Assign, MemorySpacesAreApart) {
  const std::string plan = AssignmentOf(Entry(R"(
  p = f32[16]{0} parameter(0)
  x = f32[16]{0:S(5)} tan(p)
  y = f32[16]{0} sine(p)
  ROOT r = f32[2]{0} custom-call(x, y), custom_call_target="f"
)"),
                                        "gpu");
  EXPECT_THAT(plan, HasSubstr("size 64, color 5, preallocated-temp:\n value: <1 x @5>"));
  EXPECT_THAT(plan, HasSubstr("size 64, preallocated-temp:\n value: <2 y @0>"));
}

TEST(Assign, OneBufferInTwoMemorySpacesIsRefused) {
  const std::string error = AssignmentOf(Entry(R"(
  p = f32[16]{0:S(5)} parameter(0)
  i = s32[] parameter(1)
  u = f32[1]{0} parameter(2)
  ROOT r = f32[16]{0} dynamic-update-slice(p, u, i)
)"));
  EXPECT_THAT(error,
              HasSubstr("p and r must share a buffer, but are in the memory spaces 5 and 0"));
}

TEST(Assign, SizesThatDoNotFitAreRefused) {
  EXPECT_THAT(AssignmentOf(Entry(R"(
  a = u8[4611686018427387904] parameter(0)
  b = u8[4611686018427387904] parameter(1)
  ROOT t = (u8[4611686018427387904], u8[4611686018427387904]) tuple(a, b)
)")),
              HasSubstr("the sizes of all buffers together do not fit in 64 bits"));
}

TEST(Assign, ValuesOfNoBytesHaveAPlace) {
  const std::string plan = AssignmentOf(Entry(R"(
  p = f32[4] parameter(0)
  x = f32[0] custom-call(p), custom_call_target="f"
  k = token[] after-all()
  ROOT r = f32[4] custom-call(x, k), custom_call_target="g"
)"));
  EXPECT_THAT(plan, HasSubstr("allocation 2: size 0, preallocated-temp:\n"
                              " value: <1 x @0> (size=0,offset=0): f32[0]\n"
                              " value: <2 k @0> (size=0,offset=0): token[]\n"));
}

// A TPU program with two values in fast memory.
constexpr std::string_view kFast = R"(
  p = f32[1024]{0:T(1024)} parameter(0)
  x = f32[1024]{0:T(1024)S(1)} tan(p)
  y = f32[1024]{0:T(1024)S(1)} sine(x)
  ROOT r = f32[1024]{0:T(1024)} custom-call(x, y), custom_call_target="f"
)";

TEST(Assign, PresetsAreTakenAsTheyAre) {
  const Rules rules = RulesOf(*FindTarget("tpu-v5e"));
  const Program program = AnalyzeProgram(Entry(std::string(kFast)), rules.analysis);
  Preset preset = {.size = 12288};
  const auto at = [&](std::string_view name) {
    return program.analysis.flow.positions.top(program.Find(name));
  };
  preset.chunks = {{at("x"), 8192, 4096}, {at("y"), 0, 4096}};
  const Result<Assignment> plan = Assign(program.module, program.analysis, rules, preset);
  ASSERT_TRUE(plan.has_value());
  EXPECT_TRUE(plan->is_swept);
  const Place& x = plan->places[program.ValueAt("x").index];
  EXPECT_EQ(x.offset, 8192);
  EXPECT_EQ(x.size, 4096);
  EXPECT_EQ(plan->allocations[x.allocation].size, 12288);
  EXPECT_EQ(plan->allocations[x.allocation].color, 1);
  // Whether given places overlap is the other pass's business; that they are inside is ours.
  preset.chunks[1].offset = 8193;
  const auto error = [&] {
    return Render(Assign(program.module, program.analysis, rules, preset).error());
  };
  EXPECT_THAT(error(), HasSubstr("the preset places y outside its block"));
  preset.chunks[1] = preset.chunks[0];
  EXPECT_THAT(error(), HasSubstr("the preset places x twice"));
  preset.chunks.pop_back();
  EXPECT_THAT(error(), HasSubstr("the preset does not place y"));
  // And one that names other values.
  preset.chunks = {{at("p"), 0, 4096}};
  EXPECT_THAT(Render(Assign(program.module, program.analysis, rules, preset).error()),
              HasSubstr("the preset places p in memory space 1, but its layout says 0"));
}

TEST(Assign, AnEmptyPresetBlockIsThereAnyway) {
  const Rules rules = RulesOf(*FindTarget("tpu-v5e"));
  const std::string plan =
      AssignmentOf(Entry("  ROOT p = f32[1024]{0:T(1024)} parameter(0)\n"), rules, Preset{});
  EXPECT_THAT(plan, HasSubstr("size 0, color 1"));
  // Also where nobody says what is in it.
  EXPECT_EQ(AssignmentOf(Entry("  ROOT p = f32[1024]{0:T(1024)} parameter(0)\n"), rules), plan);
}

// An array without tiles that a bitcast sees in tiles has room for their padding.
TEST(Assign, BitcastsInFastMemoryHaveRoom) {
  const std::string plan = AssignmentOf(Entry(R"(
  p = f32[96,768]{1,0:T(8,128)} parameter(0)
  x = f32[96,768]{0,1:S(1)} custom-call(p), custom_call_target="f"
  b = f32[96,16,48]{0,2,1:T(8,128)S(1)} bitcast(x)
  ROOT y = f32[96,16,48]{0,2,1:T(8,128)} custom-call(b), custom_call_target="f"
)"),
                                        "tpu-v5e");
  EXPECT_THAT(plan, HasSubstr("x @1> (size=393216,offset=0)"));
}

// What is fetched in slices: they lie side by side, by their starts, not in the order of the call.
TEST(Assign, SlicesInFastMemoryLieSideBySide) {
  const std::string plan =
      AssignmentOf(Entry("  p = f32[2048]{0:T(1024)} parameter(0)\n"
                         "  high = f32[1024]{0:T(1024)S(1)} slice(p), slice={[1024:2048]}\n"
                         "  low = f32[1024]{0:T(1024)S(1)} slice(p), slice={[0:1024]}\n"
                         "  whole = f32[2048]{0:T(1024)S(1)} custom-call(high, low), "
                         "custom_call_target=\"ConcatBitcast\"\n"
                         "  ROOT copy = f32[2048]{0:T(1024)} copy(whole)\n"),
                   "tpu-v5e");
  EXPECT_THAT(plan, HasSubstr("size 8192, color 1, preallocated-temp"));
  EXPECT_THAT(plan, HasSubstr("low @1> (size=4096,offset=0)"));
  EXPECT_THAT(plan, HasSubstr("high @1> (size=4096,offset=4096)"));
  EXPECT_THAT(plan, HasSubstr("whole @1> (size=8192,offset=0)"));
}

// No compiler writes these; they are packed as any others.
TEST(Assign, OddSlicesAreLeftAlone) {
  const auto entry = [](std::string_view calls) {
    return Entry(
        "  p = f32[1024]{0:T(1024)} parameter(0)\n"
        "  a = f32[1024]{0:T(1024)S(1)} tan(p)\n"
        "  b = f32[1024]{0:T(1024)S(1)} sine(p)\n" +
        std::string(calls));
  };
  const std::string call = ", custom_call_target=\"ConcatBitcast\"\n";
  // One twice; a whole of a whole, in both orders; one slice of two wholes.
  for (const std::string& calls :
       {"  ROOT w = f32[2048]{0:T(1024)S(1)} custom-call(a, a)" + call,
        "  v = f32[2048]{0:T(1024)S(1)} custom-call(a, b)" + call +
            "  c = f32[1024]{0:T(1024)S(1)} cosine(p)\n"
            "  w = f32[3072]{0:T(1024)S(1)} custom-call(v, c)" +
            call + "  ROOT r = f32[3072]{0:T(1024)} copy(w)\n",
        "  v = f32[2048]{0:T(1024)S(1)} custom-call(a, b)" + call +
            "  w = f32[2048]{0:T(1024)S(1)} custom-call(b, a)" + call +
            "  ROOT r = (f32[2048]{0:T(1024)S(1)}, f32[2048]{0:T(1024)S(1)}) tuple(v, w)\n"}) {
    EXPECT_THAT(AssignmentOf(entry(calls), "tpu-v5e"), HasSubstr("color 1")) << calls;
  }
}

TEST(Assign, WithoutAPresetFastMemoryIsPackedToo) {
  const std::string plan = AssignmentOf(Entry(std::string(kFast)), "tpu-v5e");
  EXPECT_THAT(plan, HasSubstr("size 8192, color 1, preallocated-temp"));
}

// Our own places in fast memory: a fusion that reads x through another layout, and one that does
// not.
TEST(Assign, WithoutAPresetNothingIsWrittenOverWhatIsStillRead) {
  const auto plan = [](std::string_view opcode) {
    const std::string before = "f {\n  q = f32[4,4,128]{2,1,0:T(4,128)S(1)} parameter(0)\n  c = " +
                               ("f32[4,4,128]{2,0,1:T(4,128)} " + std::string(opcode)) +
                               "(q)\n  ROOT n = f32[4,4,128]{2,0,1:T(4,128)S(1)} negate(c)\n}\n\n";
    return AssignmentOf(
        Entry("  p = f32[4,4,128]{2,1,0:T(4,128)} parameter(0)\n"
              "  x = f32[4,4,128]{2,1,0:T(4,128)S(1)} tan(p)\n"
              "  y = f32[4,4,128]{2,0,1:T(4,128)S(1)} fusion(x), kind=kLoop, calls=f\n"
              "  ROOT r = f32[4,4,128]{2,0,1:T(4,128)} tan(y)\n",
              "", before),
        "tpu-v5e");
  };
  EXPECT_THAT(plan("copy"), HasSubstr("size 16384, color 1, preallocated-temp"));
  EXPECT_THAT(plan("bitcast"), HasSubstr("size 8192, color 1, preallocated-temp"));
}

// Work that is handed to the SparseCore: its stack and its own memories are the same for all of it,
// though b begins before a has ended. s takes the stack over; empty contexts are of the heap.
TEST(Assign, SparseCoreProgramsHaveOneMemory) {
  constexpr std::string_view kBefore = R"(
wa {
  pa = f32[1024]{0:T(1024)} parameter(0)
  ROOT na = f32[1024]{0:T(1024)} custom-call(pa), custom_call_target="sc"
}, execution_thread="sparsecore"

wb {
  pb = f32[1024]{0:T(1024)} parameter(0)
  ROOT nb = f32[1024]{0:T(1024)} custom-call(pb), custom_call_target="sc"
}, execution_thread="sparsecore"

)";
  const std::string plan = AssignmentOf(Entry(R"(
  p = f32[1024]{0:T(1024)} parameter(0)
  a = ((f32[1024]{0:T(1024)}), f32[1024]{0:T(1024)}, (s32[2048]{0:T(1024)}, s32[25]{0:T(1)S(11)}, s32[3]{0:S(10)}, s32[12]{0:S(8)}, s32[0]{0})) async-start(p), async_execution_thread="sparsecore", calls=wa
  b = ((f32[1024]{0:T(1024)}), f32[1024]{0:T(1024)}, (s32[1024]{0:T(1024)}, s32[25]{0:T(1)S(11)}, s32[12]{0:S(10)}, s32[12]{0:S(8)}, s32[0]{0})) async-start(p), async_execution_thread="sparsecore", calls=wb
  ad = f32[1024]{0:T(1024)} async-done(a)
  bd = f32[1024]{0:T(1024)} async-done(b)
  s = f32[1024]{0:T(1024)} add(ad, bd)
  x = f32[1024]{0:T(1024)} reverse(s), dimensions={0}
  ROOT r = f32[1024]{0:T(1024)} reverse(x), dimensions={0}
)",
                                              "", std::string(kBefore)),
                                        RulesOf(*FindTarget("tpu-v6e"), "libtpu-0.0.51"));
  const auto has = [&](std::string_view words) { return plan.find(words) != std::string::npos; };
  EXPECT_TRUE(has("size 48, color 8, preallocated-temp:\n")) << plan;
  EXPECT_TRUE(has("size 48, color 10, preallocated-temp:\n")) << plan;
  EXPECT_TRUE(has("size 100, color 11, preallocated-temp:\n")) << plan;
  EXPECT_TRUE(has("a{2,2} @10> (size=12,offset=0)") && has("b{2,2} @10> (size=48,offset=0)"));
  EXPECT_TRUE(has("a{2,0} @0> (size=8192,offset=0)") && has("b{2,0} @0> (size=4096,offset=0)"));
  EXPECT_TRUE(has("s @0> (size=4096,offset=0)")) << plan;
  EXPECT_TRUE(has("a{2,4} @0> (size=0,offset=114688)") && has("x @0> (size=4096,offset=114688)"));
  // The memory-space pass's block is last all the same.
  EXPECT_TRUE(plan.ends_with("size 0, color 1, preallocated-temp:\n")) << plan;
}

// A computation for the SparseCore, and an operation that hands it to that core. Arrays of 4096
// elements do not fit into a stack.
std::string SparseCoreWork(const std::string& name, const std::string& size = "1024") {
  const std::string array = "f32[" + size + "]{0:T(1024)}";
  return "w" + name + " {\n  p" + name + " = " + array + " parameter(0)\n  ROOT n" + name + " = " +
         array + " custom-call(p" + name +
         "), custom_call_target=\"sc\"\n}, execution_thread=\"sparsecore\"\n\n";
}
std::string StartOf(const std::string& name, const std::string& operand,
                    const std::string& size = "1024") {
  const std::string array = "f32[" + size + "]{0:T(1024)}";
  return "  " + name + " = ((" + array + "), " + array + ", (s32[2048]{0:T(1024)})) async-start(" +
         operand + "), async_execution_thread=\"sparsecore\", calls=w" + name + "\n";
}
std::string OffsetOf(const std::string& plan, std::string_view value) {
  const size_t at = plan.find("offset=", plan.find(value));
  return plan.substr(at, plan.find(')', at) - at);
}

// x lies in the stack from the end of a to the end of c, so b needs a stack of its own. c finds no
// stack free, and shares that of b. y, which is made when the programs have ended, takes the first;
// so does d. While d runs, the second is free, so e does not share the first.
TEST(Assign, SparseCoreProgramsGetAnotherStackWhereTheFirstIsTaken) {
  const std::string before = SparseCoreWork("a") + SparseCoreWork("b") + SparseCoreWork("c") +
                             SparseCoreWork("d", "4096") + SparseCoreWork("e", "4096");
  const std::string plan = AssignmentOf(
      Entry("\n  p = f32[1024]{0:T(1024)} parameter(0)\n  q = f32[4096]{0:T(1024)} parameter(1)\n" +
                StartOf("a", "p") + R"(
  ad = f32[1024]{0:T(1024)} async-done(a)
  x = f32[1024]{0:T(1024)} reverse(ad), dimensions={0}
)" + StartOf("b", "p") +
                StartOf("c", "p") + R"(
  cd = f32[1024]{0:T(1024)} async-done(c)
  z = f32[2048]{0:T(1024)} concatenate(x, cd), dimensions={0}
  bd = f32[1024]{0:T(1024)} async-done(b)
  y = f32[1024]{0:T(1024)} reverse(bd), dimensions={0}
  v = f32[3072]{0:T(1024)} concatenate(z, y), dimensions={0}
)" + StartOf("d", "q", "4096") +
                StartOf("e", "q", "4096") + R"(
  dd = f32[4096]{0:T(1024)} async-done(d)
  ed = f32[4096]{0:T(1024)} async-done(e)
  ROOT r = f32[11264]{0:T(1024)} concatenate(v, dd, ed), dimensions={0}
)",
            "", before),
      RulesOf(*FindTarget("tpu-v6e"), "libtpu-0.0.51"));
  const std::string first = OffsetOf(plan, " a{2,0} ");
  const std::string second = OffsetOf(plan, " b{2,0} ");
  EXPECT_NE(first, second) << plan;
  EXPECT_EQ(OffsetOf(plan, " x @"), first) << plan;
  EXPECT_EQ(OffsetOf(plan, " c{2,0} "), second) << plan;
  EXPECT_EQ(OffsetOf(plan, " y @"), first) << plan;
  EXPECT_EQ(OffsetOf(plan, " d{2,0} "), first) << plan;
  EXPECT_EQ(OffsetOf(plan, " e{2,0} "), second) << plan;
  // Not in the second stack, which b has though it began before c did and lasts on; nor in the
  // first, which is too small for z while x is read.
  EXPECT_NE(OffsetOf(plan, " z @"), second) << plan;
}

// x lies in the stack, and with it the state of the loop. Between the last read of the old state
// and the new one nobody needs the bytes. They are not for v, since the state holds the stack to
// its end; but the program b of the SparseCore takes them, for want of another stack.
TEST(Assign, GapsInAStackAreForSparseCorePrograms) {
  const std::string before = SparseCoreWork("a") + SparseCoreWork("b") +
                             R"(cond {
  cp = (f32[1024]{0:T(1024)}) parameter(0)
  ROOT go = pred[]{:T(512)} constant(true)
}

body {
  bp = (f32[1024]{0:T(1024)}) parameter(0)
  g = f32[1024]{0:T(1024)} get-tuple-element(bp), index=0
  u = f32[1024]{0:T(1024)} reverse(g), dimensions={0}
  v = f32[1024]{0:T(1024)} reverse(u), dimensions={0}
)" + StartOf("b", "v") + R"(
  bd = f32[1024]{0:T(1024)} async-done(b)
  n = f32[1024]{0:T(1024)} reverse(bd), dimensions={0}
  ROOT bt = (f32[1024]{0:T(1024)}) tuple(n)
}

)";
  const std::string plan =
      AssignmentOf(Entry("\n  p = f32[1024]{0:T(1024)} parameter(0)\n" + StartOf("a", "p") + R"(
  ad = f32[1024]{0:T(1024)} async-done(a)
  x = f32[1024]{0:T(1024)} reverse(ad), dimensions={0}
  t = (f32[1024]{0:T(1024)}) tuple(x)
  w = (f32[1024]{0:T(1024)}) while(t), condition=cond, body=body
  o = f32[1024]{0:T(1024)} get-tuple-element(w), index=0
  ROOT r = f32[2048]{0:T(1024)} concatenate(o, o), dimensions={0}
)",
                         "", before),
                   RulesOf(*FindTarget("tpu-v6e"), "libtpu-0.0.51"));
  const std::string stack = OffsetOf(plan, " a{2,0} ");
  EXPECT_EQ(OffsetOf(plan, " x @"), stack) << plan;
  EXPECT_EQ(OffsetOf(plan, " n @"), stack) << plan;
  EXPECT_NE(OffsetOf(plan, " v @"), stack) << plan;
  EXPECT_EQ(OffsetOf(plan, " b{2,0} "), stack) << plan;
}

// x could lie in the result's allocation, being dead by the time r is born.
constexpr std::string_view kRoomInResult = R"(
  p = f32[1024]{0:T(1024)} parameter(0)
  x = f32[1024]{0:T(1024)} tan(p)
  y = f32[8]{0:T(1024)} custom-call(x), custom_call_target="f"
  ROOT r = f32[1024]{0:T(1024)} custom-call(y), custom_call_target="f"
)";

TEST(Assign, TheSweepKeepsTemporariesOutOfTheResult) {
  const std::string text = Entry(std::string(kRoomInResult));
  Rules rules = RulesOf(*FindTarget("tpu-v5e"));
  EXPECT_THAT(AssignmentOf(text, rules), Not(HasSubstr("maybe-live-out:\n value: <1 x")));
  rules.order = AssignOrder::kLargestFirst;
  EXPECT_THAT(AssignmentOf(text, rules), HasSubstr("maybe-live-out:\n value: <1 x"));
}

TEST(Assign, AboveTheSweepLimitThePlanIsMadeTheOtherWay) {
  const std::string text = Entry(std::string(kRoomInResult));
  Rules rules = RulesOf(*FindTarget("tpu-v5e"));
  // p, r, and a heap of x with y behind it at the next multiple of 16384.
  rules.sweep_limit = 4096 + 4096 + 16384 + 4096;
  EXPECT_THAT(AssignmentOf(text, rules), Not(HasSubstr("maybe-live-out:\n value: <1 x")));
  --rules.sweep_limit;
  EXPECT_THAT(AssignmentOf(text, rules), HasSubstr("maybe-live-out:\n value: <1 x"));
}

TEST(FindOverlaps, SeesWhatIsPlanted) {
  const Rules rules = RulesOf(*FindTarget("cpu"));
  const Program program = AnalyzeProgram(Entry(R"(
  p = f32[16] parameter(0)
  x = f32[16] tan(p)
  y = f32[16] sine(p)
  ROOT r = f32[2] custom-call(x, y), custom_call_target="f"
)"),
                                         rules.analysis);
  const Result<Assignment> plan = Assign(program.module, program.analysis, rules, std::nullopt);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(Render(FindOverlaps(program.module, program.analysis, *plan)), "");
  const size_t y = program.ValueAt("y").index;
  const size_t x = program.ValueAt("x").index;
  for (const int64_t offset : {0, 1, 63}) {
    Assignment bad = *plan;
    bad.places[y].offset = offset;
    bad.places[x].offset = 0;
    EXPECT_THAT(Render(FindOverlaps(program.module, program.analysis, bad)),
                HasSubstr("share bytes while both are alive"))
        << offset;
  }
  Assignment outside = *plan;
  outside.places[y].offset = 65;
  EXPECT_THAT(Render(FindOverlaps(program.module, program.analysis, outside)),
              HasSubstr("lies outside allocation"));
}

TEST(Rules, FollowTheVersion) {
  const Target cpu = *FindTarget("cpu");
  // The version that nobody names is not the last one: its reports do not show it.
  EXPECT_FALSE(RulesOf(cpu).thread_locals_by_number);
  EXPECT_FALSE(RulesOf(cpu, "jaxlib-0.11.2").thread_locals_by_number);
  EXPECT_TRUE(RulesOf(cpu, "jaxlib-0.12.0").thread_locals_by_number);
  EXPECT_EQ(RulesOf(cpu, "jaxlib-0.10.0").analysis.no_ops, NoOps::kOperandBitcasts);
  EXPECT_EQ(RulesOf(cpu, "jaxlib-0.10.2").analysis.no_ops, NoOps::kBitcasts);
}

}  // namespace
}  // namespace stowplan
