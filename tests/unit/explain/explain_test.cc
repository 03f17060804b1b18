// SPDX-License-Identifier: Apache-2.0
// Small programs whose answers are known.
#include <gmock/gmock.h>

#include "explain/complete.h"
#include "explain/footprint.h"
#include "explain/moment.h"
#include "unit/explain/picturing.h"

namespace stowplan::explain::test {
namespace {

using ::testing::ElementsAre;

// Two parameters, one of them donated; three lines of source; a forward value that the backward
// pass reads.
constexpr std::string_view kStep =
    R"(HloModule step, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }

FileNames
1 "train.py"
2 "model.py"

FunctionNames
1 "main"
2 "loss"

FileLocations
1 {file_name_id=1 function_name_id=1 line=10 end_line=10 column=1 end_column=2}
2 {file_name_id=2 function_name_id=2 line=5 end_line=5 column=1 end_column=2}
3 {file_name_id=2 function_name_id=2 line=6 end_line=6 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=2}

ENTRY main {
  w = f32[64]{0} parameter(0), metadata={op_name="params[\'layers\'][3][\'w\']"}
  x = f32[32]{0} parameter(1), metadata={op_name="x"}
  big = f32[96]{0} concatenate(w, x), dimensions={0}, metadata={op_name="jit(step)/jvp()/concatenate" stack_frame_id=2}
  act = f32[96]{0} sine(big), metadata={op_name="jit(step)/jvp()/sin" stack_frame_id=2}
  sum = f32[96]{0} cosine(act), metadata={op_name="jit(step)/jvp()/cos" stack_frame_id=3}
  grad = f32[96]{0} multiply(sum, act), metadata={op_name="jit(step)/transpose(jvp())/mul" stack_frame_id=3}
  part = f32[64]{0} slice(grad), slice={[0:64]}, metadata={op_name="jit(step)/transpose(jvp())/slice" stack_frame_id=3}
  ROOT new = f32[64]{0} subtract(w, part), metadata={op_name="jit(step)/sub" stack_frame_id=1}
}
)";

TEST(Explain, WordsOfValues) {
  const auto scene = SceneOf(kStep);
  const Picture& picture = scene->picture;
  const ValueFact& act = picture.fact(scene->Find("act"));
  EXPECT_EQ(act.op_name, "jit(step)/jvp()/sin");
  EXPECT_EQ(SourceText(picture, act.frame), "model.py:5");
  std::vector<std::string> stack;
  for (const FrameId frame : StackOf(picture, act.frame)) {
    stack.push_back(SourceText(picture, frame) + " " + std::string(picture.frames[frame].function));
  }
  EXPECT_THAT(stack, ElementsAre("train.py:10 main", "model.py:5 loss"));
  EXPECT_EQ(picture.op_of(scene->Find("act")).time, 3);
  const report::AllocationId w = scene->report.values[scene->Find("w")].allocation;
  EXPECT_EQ(picture.parameter_paths[w.index], "params['layers'][3]['w']");
  EXPECT_THAT(picture.unknown, ElementsAre());
}

TEST(Explain, Kinds) {
  const auto scene = SceneOf(kStep);
  EXPECT_EQ(scene->KindOf("w"), Kind::kDonated);
  EXPECT_EQ(scene->KindOf("new"), Kind::kDonated);
  EXPECT_EQ(scene->KindOf("x"), Kind::kParameter);
  EXPECT_EQ(scene->KindOf("big"), Kind::kTemporary);
  EXPECT_EQ(scene->KindOf("act"), Kind::kActivation);
  EXPECT_EQ(scene->KindOf("sum"), Kind::kActivation);
  EXPECT_EQ(scene->KindOf("grad"), Kind::kTemporary);
}

// A loop as XLA leaves it: what it changes is copied first.
constexpr std::string_view kCarried = R"(HloModule carried, is_scheduled=true

body {
  bp = (s32[], f32[4]) parameter(0)
  bi = s32[] get-tuple-element(bp), index=0
  ba = f32[4] get-tuple-element(bp), index=1
  one = s32[] constant(1)
  bn = s32[] add(bi, one)
  mid = f32[4] negate(ba)
  bs = f32[4] exponential(mid)
  ROOT bt = (s32[], f32[4]) tuple(bn, bs)
}

cond {
  cp = (s32[], f32[4]) parameter(0)
  ci = s32[] get-tuple-element(cp), index=0
  ten = s32[] constant(10)
  ROOT lt = pred[] compare(ci, ten), direction=LT
}

ENTRY e {
  a = f32[4] parameter(0)
  zero = s32[] constant(0)
  i = s32[] copy(zero)
  b = f32[4] copy(a)
  init = (s32[], f32[4]) tuple(i, b)
  w = (s32[], f32[4]) while(init), condition=cond, body=body, metadata={op_name="jit(f)/while" source_file="f.py" source_line=7}
  last = f32[4] get-tuple-element(w), index=1
  ROOT out = f32[4] sine(last)
}
)";

TEST(Explain, KindsOfALoop) {
  const auto scene = SceneOf(kCarried);
  EXPECT_EQ(scene->KindOf("a"), Kind::kParameter);
  EXPECT_EQ(scene->KindOf("one"), Kind::kConstant);
  for (const std::string_view name : {"w{0}", "w{1}", "bp{0}", "bp{1}", "bn", "bs"})
    EXPECT_EQ(scene->KindOf(name), Kind::kLoopState) << name;
  for (const std::string_view name : {"i", "lt"})
    EXPECT_EQ(scene->KindOf(name), Kind::kTemporary) << name;
  EXPECT_EQ(scene->KindOf("out"), Kind::kOutput);
  // Without words of its own, what the body is given is the loop's.
  const ValueFact& given = scene->picture.fact(scene->Find("bp{1}"));
  EXPECT_EQ(SourceText(scene->picture, given.frame), "f.py:7");
}

// At t=4 (cos): w 256, x 128, act 384, sum 384.
TEST(Explain, PartitionsOfTheMomentWhenCosRuns) {
  const auto scene = SceneOf(kStep);
  const Moment moment = MomentAt(scene->picture, 4);
  EXPECT_EQ(moment.bytes, 1152);
  const auto rows = [&](By by) { return RowsOf(PartitionOf(scene->picture, moment, by)); };
  EXPECT_THAT(rows(By::kValue), ElementsAre("act=384", "sum=384", "w=256", "x=128"));
  EXPECT_THAT(rows(By::kSource),
              ElementsAre("model.py:5=384", "model.py:6=384", "(parameters)=384"));
  EXPECT_THAT(rows(By::kStack), ElementsAre("train.py:10 main=0", " model.py:5 loss=384",
                                            " model.py:6 loss=384", "(parameters)=384"));
  EXPECT_THAT(rows(By::kOpName),
              ElementsAre("jit(step)=0", " jvp()=0", "  cos=384", "  sin=384", "(parameters)=384"));
  EXPECT_THAT(rows(By::kParameter), ElementsAre("(no parameter)=768", "params=0", " ['layers']=0",
                                                "  [3]=0", "   ['w']=256", "x=128"));
  EXPECT_THAT(rows(By::kKind), ElementsAre("activation kept for later=768", "donated parameter=256",
                                           "parameter=128"));
  EXPECT_THAT(RowsOf(Folded(PartitionOf(scene->picture, moment, By::kParameter))),
              ElementsAre("(no parameter)=768", "params['layers'][3]['w']=256", "x=128"));
  EXPECT_THAT(RowsOf(Folded(PartitionOf(scene->picture, moment, By::kOpName))),
              ElementsAre("jit(step)/jvp()=0", " cos=384", " sin=384", "(parameters)=384"));
}

TEST(Explain, TheFootprint) {
  const auto scene = SceneOf(kStep);
  const Moment moment = MomentAt(scene->picture, 0);
  const Partition partition = PartitionOf(scene->picture, moment, By::kFootprint);
  const Footprint split = FootprintAt(scene->picture, 0);
  EXPECT_EQ(split.live, moment.bytes);
  EXPECT_EQ(split.sum(), split.bytes);
  EXPECT_EQ(partition.total(), split.bytes);
  // Two of the four temporaries are alive at once.
  EXPECT_EQ(split.dead, 768);
}

TEST(Explain, TopRows) {
  const auto scene = SceneOf(kStep);
  const Moment moment = MomentAt(scene->picture, 4);
  const Partition partition = PartitionOf(scene->picture, moment, By::kOpName);
  const TopRows top = Largest(partition, 3);
  EXPECT_THAT(top.rows, ElementsAre(1, 2, 3));
  EXPECT_EQ(top.rest, 768);
  EXPECT_EQ(top.hidden, 2);
  EXPECT_EQ(Largest(partition, 0).rest, 0);
}

// What the report alone tells: this one has the texts of instructions, but no table of frames.
TEST(Explain, WithoutTheModule) {
  const auto scene = SceneOf(kStep, "cpu", false);
  const ValueFact& act = scene->picture.fact(scene->Find("act"));
  EXPECT_EQ(act.op_name, "jit(step)/jvp()/sin");
  EXPECT_TRUE(act.frame.is_none());
  EXPECT_EQ(act.kind, Kind::kActivation);
  EXPECT_EQ(scene->picture.unknown.size(), 1U);
  const report::AllocationId w = scene->report.values[scene->Find("w")].allocation;
  EXPECT_EQ(scene->picture.parameter_paths[w.index], "params['layers'][3]['w']");
}

TEST(Explain, PathsAreSplit) {
  EXPECT_THAT(OpNameParts("jit(f)/while/a[b/c]/mul;x/y"),
              ElementsAre("jit(f)", "while", "a[b/c]", "mul"));
  EXPECT_THAT(OpNameParts("mul"), ElementsAre("mul"));
  EXPECT_THAT(OpNameParts("/"), ElementsAre("/"));
  EXPECT_THAT(ParameterParts("state.params['a.b[']['w'][0]"),
              ElementsAre("state", ".params", "['a.b[']", "['w']", "[0]"));
  EXPECT_THAT(ParameterParts("parameter 3{1}"), ElementsAre("parameter 3{1}"));
}

TEST(Explain, NamesOfPartitions) {
  for (size_t i = 0; i < kBys; ++i) {
    const By by = static_cast<By>(i);
    EXPECT_EQ(FindBy(Name(by)), by);
  }
  EXPECT_FALSE(FindBy("weight"));
}

TEST(Explain, CopiesOfParametersAreARow) {
  const auto scene = SceneOf(R"(HloModule m, is_scheduled=true
ENTRY e {
  p = f32[64]{0} parameter(0), metadata={op_name="w"}
  c = f32[64]{0} copy(p)
  d = f32[64]{0} negate(c), metadata={op_name="jit(f)/neg" source_file="f.py" source_line=2}
  ROOT r = f32[64]{0} add(c, d), metadata={op_name="jit(f)/add" source_file="f.py" source_line=3}
}
)");
  const Moment moment = MomentAt(scene->picture, 2);
  const auto rows = [&](By by) { return RowsOf(PartitionOf(scene->picture, moment, by)); };
  EXPECT_THAT(rows(By::kSource),
              ElementsAre("f.py:2=256", "(copies of parameters)=256", "(parameters)=256"));
  EXPECT_THAT(rows(By::kOpName), ElementsAre("jit(f)=0", " neg=256", "(copies of parameters)=256",
                                             "(parameters)=256"));
}

// Frames that call each other in a circle, as no compiler writes them.
TEST(Explain, CircularFramesEnd) {
  std::string text(kStep);
  text.replace(text.find("parent_frame_id=1}"), 18, "parent_frame_id=3}");
  const auto scene = SceneOf(text);
  EXPECT_LE(StackOf(scene->picture, scene->picture.fact(scene->Find("act")).frame).size(), 3U);
}

TEST(Curve, StepsWhereTheLevelChanges) {
  const auto scene = SceneOf(kStep);
  const Curves curves = report::ComputeLiveBytes(scene->report)->curves;
  ASSERT_EQ(curves.spaces.size(), 1U);
  EXPECT_EQ(curves.all.steps, curves.spaces[0].steps);
  EXPECT_EQ(curves.all.peak, report::ComputeTruePeak(scene->report)->all);
  for (int64_t time = -1; time < 12; ++time) {
    EXPECT_EQ(BytesAt(curves.all, time), MomentAt(scene->picture, time).bytes) << time;
  }
}

report::Report ByHand(const std::vector<report::Value>& values, int64_t size) {
  report::Report report;
  report.has_assignment = true;
  report.live_ranges.emplace();
  report::Allocation allocation;
  allocation.size = size;
  for (report::Value value : values) {
    value.allocation = report::AllocationId(0);
    value.has_range = value.end >= 0;
    allocation.values.push_back(report.values.Add(value));
  }
  report.allocations.Add(allocation);
  return report;
}

report::Value Placed(int64_t offset, int64_t size, int64_t start, int64_t end) {
  report::Value value;
  value.instruction = "v";
  value.offset = offset;
  value.size = size;
  value.start = start;
  value.end = end;
  return value;
}

//     byte 256..300   c               t=0..1    the allocation has 320 bytes
//     byte 128..200       b           t=1
//     byte   0..100   a   a           t=0..1
//  At t=1, when it is fullest, there are gaps of 28, 56 and 20 bytes; offsets are multiples of 128.
TEST(Footprint, AlignmentAndFragmentation) {
  const report::Report report =
      ByHand({Placed(0, 100, 0, 1), Placed(128, 72, 1, 1), Placed(256, 44, 0, 1)}, 320);
  const Result<Picture> picture = MakePicture(report, nullptr);
  ASSERT_TRUE(picture.has_value());
  EXPECT_EQ(picture->FindSpace(0)->alignment, 128);
  const Footprint at_peak = FootprintAt(*picture, 1);
  EXPECT_EQ(at_peak, (Footprint{.bytes = 320, .live = 216, .alignment = 104}));
  const Footprint before = FootprintAt(*picture, 0);
  EXPECT_EQ(before, (Footprint{.bytes = 320, .live = 144, .dead = 72, .alignment = 104}));
}

// Allocations of two colors, one between the other's.
TEST(Picture, SpacesHaveWhatIsTheirs) {
  report::Report report = ByHand({Placed(0, 64, 0, 1), Placed(64, 32, 0, 1)}, 96);
  const auto add = [&](int64_t color, const report::Value& value) {
    report::Allocation allocation;
    allocation.size = 512;
    allocation.color = color;
    const report::AllocationId id = report.allocations.Add(allocation);
    report::Value placed = value;
    placed.allocation = id;
    placed.has_range = true;
    return report.values.Add(placed);
  };
  const report::ValueId other = add(7, Placed(256, 8, 0, 0));
  const report::ValueId last = add(0, Placed(16, 16, 1, 1));
  const Result<Picture> picture = MakePicture(report, nullptr);
  ASSERT_TRUE(picture.has_value());
  ASSERT_EQ(picture->spaces.size(), 2U);
  EXPECT_EQ(picture->FindSpace(3), nullptr);
  EXPECT_EQ(picture->FindSpace(0)->alignment, 16);
  EXPECT_EQ(picture->FindSpace(7)->alignment, 256);
  EXPECT_EQ(picture->FindSpace(7)->values, std::vector({other}));
  EXPECT_EQ(picture->FindSpace(0)->values.back(), last);
  EXPECT_EQ(MomentAt(*picture, 1, 0).bytes, 64 + 32 + 16);
  EXPECT_EQ(MomentAt(*picture, 1, 7).bytes, 0);
  EXPECT_EQ(MomentAt(*picture, 1, 3).bytes, 0);
  const Footprint mine = FootprintAt(*picture, 1, 0);
  EXPECT_EQ(mine, (Footprint{.bytes = 608, .live = 112, .fragmentation = 496}));
  const Footprint theirs = FootprintAt(*picture, 1, 7);
  EXPECT_EQ(theirs, (Footprint{.bytes = 512, .dead = 8, .fragmentation = 256, .alignment = 248}));
  EXPECT_EQ(FootprintAt(*picture, 1).bytes, mine.bytes + theirs.bytes);
  EXPECT_EQ(FootprintAt(*picture, 1).alignment, mine.alignment + theirs.alignment);
  EXPECT_EQ(FootprintAt(*picture, 1, 3), Footprint());
}

TEST(Footprint, HolesAreFragmentation) {
  const report::Report report =
      ByHand({Placed(0, 64, 0, 1), Placed(64, 64, 0, 0), Placed(192, 64, 1, 1)}, 256);
  const Result<Picture> picture = MakePicture(report, nullptr);
  ASSERT_TRUE(picture.has_value());
  EXPECT_EQ(FootprintAt(*picture, 1), (Footprint{.bytes = 256, .live = 128, .fragmentation = 128}));
}

TEST(Footprint, ValuesWithoutARangeStandApart) {
  const report::Report report = ByHand({Placed(0, 64, 0, -1), Placed(32, 64, 0, 2)}, 128);
  const Result<Picture> picture = MakePicture(report, nullptr);
  ASSERT_TRUE(picture.has_value());
  const Footprint split = FootprintAt(*picture, 5);
  EXPECT_EQ(split, (Footprint{.bytes = 128, .dead = 64, .fragmentation = 32, .untimed = 32}));
}

TEST(Picture, ValuesOutsideOfTheirAllocationAreRefused) {
  const report::Report report = ByHand({Placed(64, 65, 0, 1)}, 128);
  const Result<Picture> picture = MakePicture(report, nullptr);
  ASSERT_FALSE(picture.has_value());
  EXPECT_NE(Render(picture.error()).find("the value v lies outside allocation 0"),
            std::string::npos);
  EXPECT_FALSE(MakePicture(ByHand({Placed(INT64_MAX, 65, 0, 1)}, 128), nullptr).has_value());
  EXPECT_FALSE(MakePicture(report::Report(), nullptr).has_value());
}

// The proto's report has no live ranges and no uses; the program has.
TEST(Complete, AddsWhatTheProgramKnows) {
  const auto scene = SceneOf(kStep);
  const Completed same =
      Complete(std::move(SceneOf(kStep)->report), scene->program.module, scene->program.analysis);
  EXPECT_FALSE(same.has_new_ranges || same.has_new_uses);

  report::Report bare = std::move(SceneOf(kStep)->report);
  bare.live_ranges.reset();
  bare.has_value_list = false;
  bare.value_list.clear();
  for (size_t i = 0; i < bare.values.size(); ++i) {
    report::Value& value = bare.values[report::ValueId(i)];
    value.has_range = value.has_uses = value.is_listed = false;
    value.uses = value.positions = {};
  }
  const Completed full = Complete(std::move(bare), scene->program.module, scene->program.analysis);
  EXPECT_TRUE(full.has_new_ranges && full.has_new_uses);
  EXPECT_EQ(full.strangers, 0);
  EXPECT_EQ(report::ComputeTruePeak(full.report)->all, report::ComputeTruePeak(scene->report)->all);
  const report::Value& act = full.report.values[scene->Find("act")];
  ASSERT_EQ(full.report.uses_of(act).size(), 2U);
  EXPECT_EQ(full.report.uses_of(act)[1].instruction, "grad");
}

}  // namespace
}  // namespace stowplan::explain::test
