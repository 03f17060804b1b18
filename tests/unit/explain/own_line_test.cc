// SPDX-License-Identifier: Apache-2.0
// Whose line is it, and what is named after whom.
#include "explain/own_line.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "explain/moment.h"
#include "unit/explain/picturing.h"

namespace stowplan::explain::test {
namespace {

using ::testing::ElementsAre;

TEST(OwnLine, Libraries) {
  for (const std::string_view file :
       {"/v/lib/python3.11/site-packages/flax/linen/linear.py",
        "/usr/local/lib/python3.10/dist-packages/haiku/_src/basic.py",
        "/usr/lib/python3.12/contextlib.py", "/opt/lib64/python3.9/functools.py",
        "C:\\py\\Lib\\site-packages\\flax\\core.py", "/opt/pypy/lib/pypy3.10/abc.py",
        "<frozen importlib._bootstrap>", "<attrs generated init x>", "p/__pypackages__/x/y.py", ""})
    EXPECT_TRUE(IsLibrary(file)) << file;
  for (const std::string_view file :
       {"train.py", "/home/me/model.py", "/home/me/python3.11/model.py", "/home/me/lib/model.py",
        "/home/me/site-packages", "<stdin>", "<string>", "<ipython-input-3-abc>",
        "<python-input-0>", "/tmp/ipykernel_17/123.py", "/home/me/my-site-packages/a.py"})
    EXPECT_FALSE(IsLibrary(file)) << file;
}

TEST(OwnLine, PatternsName) {
  Owners owners({.source_root = {}, .patterns = PatternsOf("flax/linen,mylib\n*/tools/*.py,")});
  EXPECT_EQ(owners.Of("/v/lib/python3.11/site-packages/flax/linen/linear.py"), Owner::kNamed);
  EXPECT_EQ(owners.Of("/v/lib/python3.11/site-packages/flax/core/scope.py"), Owner::kLibrary);
  EXPECT_EQ(owners.Of("/v/lib/python3.11/site-packages/myflax/linen/x.py"), Owner::kLibrary);
  EXPECT_EQ(owners.Of("/x/mylib/a.py"), Owner::kNamed);
  EXPECT_EQ(owners.Of("/x/mylib2/a.py"), Owner::kUser);
  EXPECT_EQ(owners.Of("/x/tools/deep/a.py"), Owner::kNamed);
  EXPECT_EQ(owners.Of("/x/tools/a.txt"), Owner::kUser);
  EXPECT_THAT(PatternsOf(""), ElementsAre());
}

TEST(OwnLine, ASourceRootNamesItsFiles) {
  const std::filesystem::path root =
      std::filesystem::path(::testing::TempDir()) / "own_line_source_root";
  const auto write = [&](const std::string& name) {
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(root / name) << "x = 1\n";
  };
  write("model.py");
  write("linear.py");
  write("flax/core/scope.py");
  write(".venv/lib/python3.11/site-packages/optax/base.py");
  Owners owners({.source_root = root.string(), .patterns = {}});
  EXPECT_EQ(owners.Of("/build/model.py"), Owner::kNamed);
  EXPECT_EQ(owners.Of("/build/other.py"), Owner::kUser);
  // A checkout of the library, but not a file that happens to have the same name.
  const std::string site = "/v/lib/python3.11/site-packages/";
  EXPECT_EQ(owners.Of(site + "flax/core/scope.py"), Owner::kNamed);
  EXPECT_EQ(owners.Of(site + "flax/linen/linear.py"), Owner::kLibrary);
  // What is installed inside of the root is installed.
  EXPECT_EQ(owners.Of((root / ".venv/lib/python3.11/site-packages/optax/base.py").string()),
            Owner::kLibrary);
  EXPECT_EQ(owners.Of(site + "optax/base.py"), Owner::kLibrary);
  std::filesystem::remove_all(root);
}

// train.py:10 calls model.py:5, which calls a library; and the library calls itself.
constexpr std::string_view kTables = R"(
FileNames
1 "train.py"
2 "model.py"
3 "/v/lib/python3.11/site-packages/flax/linear.py"

FunctionNames
1 "main"
2 "loss"
3 "dense"

FileLocations
1 {file_name_id=1 function_name_id=1 line=10 end_line=10 column=1 end_column=2}
2 {file_name_id=2 function_name_id=2 line=5 end_line=5 column=1 end_column=2}
3 {file_name_id=3 function_name_id=3 line=700 end_line=6 column=1 end_column=2}
4 {file_name_id=3 function_name_id=3 line=800 end_line=6 column=1 end_column=2}
5 {file_name_id=2 function_name_id=2 line=7 end_line=5 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=3}
4 {file_location_id=4 parent_frame_id=4}
5 {file_location_id=4 parent_frame_id=1}
6 {file_location_id=5 parent_frame_id=2}
)";

std::string WithTables(std::string_view head, std::string_view body) {
  return std::string(head) + "\n" + std::string(kTables) + "\n" + std::string(body);
}

TEST(OwnLine, AValueBelongsToTheNearestOwnFrame) {
  const auto scene = SceneOf(WithTables("HloModule m, is_scheduled=true", R"(ENTRY main {
  x = f32[64]{0} parameter(0)
  deep = f32[64]{0} sine(x), metadata={op_name="jit(f)/sin" stack_frame_id=4}
  near = f32[64]{0} cosine(deep), metadata={op_name="jit(f)/cos" stack_frame_id=2}
  alone = f32[64]{0} negate(near), metadata={op_name="jit(f)/neg" stack_frame_id=5}
  sum = f32[64]{0} add(deep, near), metadata={op_name="jit(f)/add" stack_frame_id=2}
  ROOT out = f32[64]{0} add(sum, alone), metadata={op_name="jit(f)/add" stack_frame_id=1}
})"));
  const Picture& picture = scene->picture;
  const auto line = [&](std::string_view name) {
    return SourceText(picture, picture.own_line(picture.fact(scene->Find(name)).frame));
  };
  EXPECT_EQ(line("deep"), "model.py:5");
  EXPECT_EQ(line("near"), "model.py:5");
  EXPECT_EQ(line("alone"), "/v/lib/python3.11/site-packages/flax/linear.py:800");
  const hlo::Module& module = scene->program.module;
  const auto metadata = [&](std::string_view name) {
    return *module.metadata_of(picture.op_of(scene->Find(name)).instruction);
  };
  EXPECT_EQ(LineText(OwnLineOf(module, metadata("deep"), {})), "model.py:5");
  EXPECT_EQ(OwnLineOf(module, metadata("deep"), {}).function, "loss");
  EXPECT_EQ(LineText(OwnLineOf(module, metadata("alone"), {})), "linear.py:800");
  EXPECT_EQ(
      LineText(OwnLineOf(module, metadata("deep"), {.source_root = {}, .patterns = {"flax"}})),
      "linear.py:800");
  EXPECT_EQ(
      LineText(OwnLineOf(module, metadata("deep"), {.source_root = {}, .patterns = {"train.py"}})),
      "train.py:10");
  // Both are in one row, and the library's line stands beside it only if most bytes are its own.
  const Moment moment = MomentAt(picture, picture.op_of(scene->Find("near")).time, 0);
  const Partition partition = PartitionOf(picture, moment, By::kSource);
  ASSERT_GE(partition.rows.size(), 2U);
  EXPECT_EQ(partition.rows[1].name, "model.py:5");
}

// The forward loop stacks what it computes, in a fusion or not; the backward loop reads it.
constexpr std::string_view kScan = R"(
fused {
  fs = f32[8,64]{1,0} parameter(0)
  fx = f32[64]{0} parameter(1)
  fi = s32[] parameter(2)
  fz = s32[] constant(0)
  fe = f32[64]{0} exponential(fx), metadata={op_name="jit(f)/jvp()/while/body/exp" stack_frame_id=6}
  fr = f32[1,64]{1,0} reshape(fe), metadata={op_name="jit(f)/jvp()/while/body/broadcast_in_dim" stack_frame_id=5}
  ROOT fd = f32[8,64]{1,0} dynamic-update-slice(fs, fr, fi, fz), metadata={op_name="jit(f)/jvp()/while/body/dynamic_update_slice" stack_frame_id=5}
}

body {
  p = (s32[], f32[64]{0}, f32[8,64]{1,0}, f32[8,64]{1,0}, f32[8,64]{1,0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[64]{0} get-tuple-element(p), index=1
  s = f32[8,64]{1,0} get-tuple-element(p), index=2
  t = f32[8,64]{1,0} get-tuple-element(p), index=3
  cache = f32[8,64]{1,0} get-tuple-element(p), index=4
  zero = s32[] constant(0)
  one = s32[] constant(1)
  n = s32[] add(i, one)
  y = f32[64]{0} sine(x), metadata={op_name="jit(f)/jvp()/while/body/sin" stack_frame_id=4}
  r = f32[1,64]{1,0} reshape(y), metadata={op_name="jit(f)/jvp()/while/body/broadcast_in_dim" stack_frame_id=5}
  d = f32[8,64]{1,0} dynamic-update-slice(s, r, i, zero), metadata={op_name="jit(f)/jvp()/while/body/dynamic_update_slice" stack_frame_id=5}
  e = f32[8,64]{1,0} fusion(t, y, i), kind=kLoop, calls=fused, metadata={op_name="jit(f)/jvp()/while/body/dynamic_update_slice" stack_frame_id=5}
  c = f32[8,64]{1,0} dynamic-update-slice(cache, r, i, zero), metadata={op_name="jit(f)/jvp()/while/body/mine" stack_frame_id=2}
  seen = f32[1,64]{1,0} slice(c), slice={[3:4], [0:64]}
  back = f32[64]{0} reshape(seen)
  z = f32[64]{0} add(y, back), metadata={op_name="jit(f)/jvp()/while/body/add" stack_frame_id=2}
  ROOT o = (s32[], f32[64]{0}, f32[8,64]{1,0}, f32[8,64]{1,0}, f32[8,64]{1,0}) tuple(n, z, d, e, c)
}

cond {
  cp = (s32[], f32[64]{0}, f32[8,64]{1,0}, f32[8,64]{1,0}, f32[8,64]{1,0}) parameter(0)
  ci = s32[] get-tuple-element(cp), index=0
  eight = s32[] constant(8)
  ROOT lt = pred[] compare(ci, eight), direction=LT
}

backward {
  bp = (s32[], f32[64]{0}, f32[8,64]{1,0}, f32[8,64]{1,0}) parameter(0)
  bi = s32[] get-tuple-element(bp), index=0
  bg = f32[64]{0} get-tuple-element(bp), index=1
  bs = f32[8,64]{1,0} get-tuple-element(bp), index=2
  bw = f32[8,64]{1,0} get-tuple-element(bp), index=3
  bzero = s32[] constant(0)
  bone = s32[] constant(1)
  bn = s32[] add(bi, bone)
  got = f32[1,64]{1,0} dynamic-slice(bs, bi, bzero), dynamic_slice_sizes={1,64}, metadata={op_name="jit(f)/transpose(jvp())/while/body/dynamic_slice" stack_frame_id=5}
  weight = f32[1,64]{1,0} dynamic-slice(bw, bi, bzero), dynamic_slice_sizes={1,64}, metadata={op_name="jit(f)/transpose(jvp())/while/body/dynamic_slice" stack_frame_id=5}
  both = f32[1,64]{1,0} multiply(got, weight), metadata={op_name="jit(f)/transpose(jvp())/while/body/mul" stack_frame_id=2}
  flat = f32[64]{0} reshape(both)
  bo = f32[64]{0} add(bg, flat), metadata={op_name="jit(f)/transpose(jvp())/while/body/add_any" stack_frame_id=2}
  ROOT br = (s32[], f32[64]{0}, f32[8,64]{1,0}, f32[8,64]{1,0}) tuple(bn, bo, bs, bw)
}

bcond {
  dp = (s32[], f32[64]{0}, f32[8,64]{1,0}, f32[8,64]{1,0}) parameter(0)
  di = s32[] get-tuple-element(dp), index=0
  deight = s32[] constant(8)
  ROOT dlt = pred[] compare(di, deight), direction=LT
}

ENTRY main {
  a = f32[64]{0} parameter(0), metadata={op_name="x"}
  w = f32[8,64]{1,0} parameter(1), metadata={op_name="params['w']"}
  k = s32[] constant(0)
  k2 = s32[] copy(k)
  k3 = s32[] copy(k)
  f0 = f32[] constant(0)
  a2 = f32[64]{0} copy(a)
  empty = f32[8,64]{1,0} broadcast(f0), dimensions={}
  empty2 = f32[8,64]{1,0} broadcast(f0), dimensions={}
  empty3 = f32[8,64]{1,0} broadcast(f0), dimensions={}
  init = (s32[], f32[64]{0}, f32[8,64]{1,0}, f32[8,64]{1,0}, f32[8,64]{1,0}) tuple(k2, a2, empty, empty2, empty3)
  loop = (s32[], f32[64]{0}, f32[8,64]{1,0}, f32[8,64]{1,0}, f32[8,64]{1,0}) while(init), condition=cond, body=body, metadata={op_name="jit(f)/jvp()/while" stack_frame_id=5}
  last = f32[64]{0} get-tuple-element(loop), index=1, metadata={op_name="jit(f)/jvp()/while" stack_frame_id=5}
  stack = f32[8,64]{1,0} get-tuple-element(loop), index=3, metadata={op_name="jit(f)/jvp()/while" stack_frame_id=5}
  g = f32[64]{0} copy(last)
  init2 = (s32[], f32[64]{0}, f32[8,64]{1,0}, f32[8,64]{1,0}) tuple(k3, g, stack, w)
  loop2 = (s32[], f32[64]{0}, f32[8,64]{1,0}, f32[8,64]{1,0}) while(init2), condition=bcond, body=backward, metadata={op_name="jit(f)/transpose(jvp())/while" stack_frame_id=5}
  ROOT grad = f32[64]{0} get-tuple-element(loop2), index=1
})";

TEST(Makers, StacksBelongToWhatComputesTheirSlices) {
  const auto scene = SceneOf(WithTables("HloModule m, is_scheduled=true", kScan));
  const Picture& picture = scene->picture;
  const auto fact = [&](std::string_view name) { return picture.fact(scene->Find(name)); };
  const auto line = [&](std::string_view name) {
    return SourceText(picture, picture.own_line(fact(name).frame));
  };
  // The library's line is the user's line that calls it.
  EXPECT_EQ(fact("loop{2}").op_name, "jit(f)/jvp()/while/body/sin");
  EXPECT_EQ(line("loop{2}"), "model.py:5");
  EXPECT_EQ(fact("loop{2}").slices, 8);
  // Inside of a fusion.
  EXPECT_EQ(fact("loop{3}").op_name, "jit(f)/jvp()/while/body/exp");
  EXPECT_EQ(line("loop{3}"), "model.py:7");
  EXPECT_EQ(fact("e").op_name, "jit(f)/jvp()/while/body/exp");
  // What the loop reads as it goes is no stack: the update is the user's own.
  EXPECT_EQ(fact("loop{4}").op_name, "jit(f)/jvp()/while/body/mine");
  EXPECT_EQ(fact("loop{4}").slices, 0);
  // The carried value, and a plain result.
  EXPECT_EQ(fact("loop{1}").op_name, "jit(f)/jvp()/while/body/add");
  EXPECT_EQ(fact("y").op_name, "jit(f)/jvp()/while/body/sin");
  EXPECT_EQ(fact("y").slices, 0);
}

TEST(Makers, SlicesBelongToWhatWasStacked) {
  const auto scene = SceneOf(WithTables("HloModule m, is_scheduled=true", kScan));
  const Picture& picture = scene->picture;
  const auto fact = [&](std::string_view name) { return picture.fact(scene->Find(name)); };
  EXPECT_EQ(fact("got").op_name, "jit(f)/jvp()/while/body/exp");
  EXPECT_EQ(fact("got").kind, Kind::kTemporary);
  EXPECT_EQ(fact("weight").op_name, "params['w']");
  EXPECT_TRUE(fact("weight").is_parameter_copy);
  // The op itself keeps its words: it runs in the backward pass.
  EXPECT_EQ(picture.op_of(scene->Find("got")).op_name,
            "jit(f)/transpose(jvp())/while/body/dynamic_slice");
}

TEST(Makers, BranchesAndCalls) {
  const auto scene = SceneOf(WithTables("HloModule m, is_scheduled=true", R"(
callee {
  q = f32[64]{0} parameter(0)
  ROOT s = f32[64]{0} sine(q), metadata={op_name="jit(f)/sin" stack_frame_id=2}
}

no {
  np = f32[64]{0} parameter(0)
  nz = f32[] constant(0)
  ROOT nb = f32[64]{0} broadcast(nz), dimensions={}, metadata={op_name="jit(f)/zeros" stack_frame_id=5}
}

yes {
  yp = f32[64]{0} parameter(0)
  ROOT ye = f32[64]{0} exponential(yp), metadata={op_name="jit(f)/cond/branch_1_fun/exp" stack_frame_id=4}
}

ENTRY main {
  x = f32[64]{0} parameter(0)
  is = pred[] parameter(1)
  c = f32[64]{0} call(x), to_apply=callee, metadata={op_name="jit(f)/closed_call" stack_frame_id=5}
  b = f32[64]{0} conditional(is, c, c), true_computation=yes, false_computation=no, metadata={op_name="jit(f)/cond" stack_frame_id=5}
  ROOT o = f32[64]{0} negate(b), metadata={op_name="jit(f)/neg" stack_frame_id=1}
})"));
  const Picture& picture = scene->picture;
  const auto name = [&](std::string_view value) {
    return picture.fact(scene->Find(value)).op_name;
  };
  EXPECT_EQ(name("s"), "jit(f)/sin");
  EXPECT_EQ(name("b"), "jit(f)/cond/branch_1_fun/exp");
}

}  // namespace
}  // namespace stowplan::explain::test
