// SPDX-License-Identifier: Apache-2.0
#include "cost/work.h"

#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

#include "cost/machine.h"
#include "stowplan/session.h"

namespace stowplan::cost {
namespace {

constexpr std::string_view kProgram = R"(HloModule m, is_scheduled=true

update {
  p = f32[8,100]{1,0} parameter(0)
  i = s32[] parameter(1)
  x = f32[1,100]{1,0} parameter(2)
  zero = s32[] constant(0)
  y = f32[1,100]{1,0} exponential(x)
  ROOT u = f32[8,100]{1,0} dynamic-update-slice(p, y, i, zero)
}

body {
  t = (s32[], f32[8,100]{1,0}, f32[1,100]{1,0}) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  s = f32[8,100]{1,0} get-tuple-element(t), index=1
  x = f32[1,100]{1,0} get-tuple-element(t), index=2
  one = s32[] constant(1)
  zero = s32[] constant(0)
  n = s32[] add(i, one)
  f = f32[8,100]{1,0} fusion(s, i, x), kind=kLoop, calls=update
  d = f32[1,100]{1,0} dynamic-slice(f, i, zero), dynamic_slice_sizes={1,100}
  ROOT r = (s32[], f32[8,100]{1,0}, f32[1,100]{1,0}) tuple(n, f, d)
}

condition {
  t = (s32[], f32[8,100]{1,0}, f32[1,100]{1,0}) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  eight = s32[] constant(8)
  ROOT c = pred[] compare(i, eight), direction=LT
}

ENTRY e {
  a = f32[16,32]{1,0} parameter(0)
  b = f32[32,64]{1,0} parameter(1)
  d = f32[16,64]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = (s32[], f32[8,100]{1,0}, f32[1,100]{1,0}) parameter(2)
  w = (s32[], f32[8,100]{1,0}, f32[1,100]{1,0}) while(t), condition=condition, body=body, backend_config={"known_trip_count":{"n":"8"}}
  ROOT r = (f32[16,64]{1,0}, (s32[], f32[8,100]{1,0}, f32[1,100]{1,0})) tuple(d, w)
}
)";

class CostOfProgram : public testing::Test {
 protected:
  void SetUp() override {
    Result<hlo::Module> module = ParseModule(Source::FromBytes("m.hlo", kProgram));
    ASSERT_TRUE(module) << Render(module.error());
    module_ = *std::move(module);
    works_ = FindWork(module_, *FindTarget("cpu"));
  }
  Work Of(std::string_view computation, std::string_view name) const {
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      const hlo::InstrId id(i);
      if (module_.name(id) == name && module_.name(module_.instructions[id].parent) == computation)
        return works_[i];
    }
    ADD_FAILURE() << name;
    return {};
  }
  hlo::Module module_;
  std::vector<Work> works_;
};

TEST_F(CostOfProgram, DotMultipliesAndAdds) {
  const Work dot = Of("e", "d");
  EXPECT_EQ(dot.flops, 2 * 16 * 32 * 64);
  EXPECT_EQ(dot.bytes, 4 * (16 * 32 + 32 * 64 + 16 * 64));
  EXPECT_EQ(dot.launches, 1);
}

// Matrix units multiply narrow types faster, and do nothing else.
TEST_F(CostOfProgram, ProductsAreCountedByType) {
  const Work dot = Of("e", "d");
  EXPECT_EQ(dot.products, (Products{0, dot.flops, 0, 0}));
  EXPECT_EQ(Of("body", "f").products, Products());
  Machine machine = {.flops_per_second = 10};
  machine.product_speeds = {0.5, 1, 2, 4};
  machine.element_speed = 0.1;
  EXPECT_DOUBLE_EQ(SecondsOf({.flops = 100, .products = {0, 100, 0, 0}}, machine), 10);
  EXPECT_DOUBLE_EQ(SecondsOf({.flops = 100, .products = {0, 0, 100, 0}}, machine), 5);
  EXPECT_DOUBLE_EQ(SecondsOf({.flops = 100, .products = {}}, machine), 100);
  EXPECT_DOUBLE_EQ(SecondsOf({.flops = 110, .products = {0, 0, 0, 100}}, machine), 12.5);
}

TEST_F(CostOfProgram, SlicesAndUpdatesTouchAPart) {
  const Work update = Of("body", "f");
  EXPECT_EQ(update.bytes, 400 + 4 + 400);
  EXPECT_EQ(update.whole_bytes, 3200 + 4 + 400 + 3200);
  EXPECT_EQ(update.flops, 100);
  EXPECT_EQ(Of("body", "d").bytes, 400 + 400 + 8);
}

TEST_F(CostOfProgram, LoopsCountTheirTrips) {
  const Work loop = Of("e", "w");
  const double once = Of("body", "f").bytes + Of("body", "d").bytes + Of("body", "n").bytes +
                      Of("condition", "c").bytes;
  EXPECT_EQ(loop.bytes, 8 * once);
  EXPECT_EQ(loop.launches, 8 * 4);
}

// A loop whose kernels wait in turn for memory and for arithmetic waits for both.
TEST_F(CostOfProgram, KernelsOfALoopRunOneAfterTheOther) {
  const auto cost = [](const Work& work) { return std::max(work.bytes, 20 * work.flops); };
  const std::vector<double> costs = FindCosts(module_, *FindTarget("cpu"), cost);
  const double once = cost(Of("body", "f")) + cost(Of("body", "d")) + cost(Of("body", "n")) +
                      cost(Of("condition", "c"));
  const Work loop = Of("e", "w");
  EXPECT_GT(8 * once, cost(loop));
  for (size_t i = 0; i < module_.instructions.size(); ++i) {
    if (module_.name(hlo::InstrId(i)) == "w") {
      EXPECT_EQ(costs[i], 8 * once);
    } else if (module_.name(hlo::InstrId(i)) == "f") {
      EXPECT_EQ(costs[i], cost(works_[i]));
    }
  }
}

// Libraries return memory to work in beside the result, and say what they sum over.
TEST(CostOfCalls, ProductsOfLibraries) {
  constexpr std::string_view kCalls = R"(HloModule m, is_scheduled=true

ENTRY e {
  a = f32[8,16,32]{2,1,0} parameter(0)
  b = f32[8,32,64]{2,1,0} parameter(1)
  product = (f32[8,16,64]{2,1,0}, s8[1000000]{0}) custom-call(a, b), custom_call_target="__cublas$lt$matmul", backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_batch_dimensions":["0"],"lhs_contracting_dimensions":["2"]}}}
  x = f32[4,10,10,16]{3,2,1,0} parameter(2)
  k = f32[32,3,3,16]{3,2,1,0} parameter(3)
  convolution = (f32[4,10,10,32]{3,2,1,0}, u8[1000000]{0}) custom-call(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_o01i->b01f, custom_call_target="__cudnn$convForward"
  ROOT r = ((f32[8,16,64]{2,1,0}, s8[1000000]{0}), (f32[4,10,10,32]{3,2,1,0}, u8[1000000]{0})) tuple(product, convolution)
}
)";
  const Result<hlo::Module> module = ParseModule(Source::FromBytes("m.hlo", kCalls));
  ASSERT_TRUE(module) << Render(module.error());
  const std::vector<Work> works = FindWork(*module, *FindTarget("gpu"));
  for (size_t i = 0; i < works.size(); ++i) {
    if (module->name(hlo::InstrId(i)) == "product") {
      EXPECT_EQ(works[i].flops, 2.0 * 8 * 16 * 32 * 64);
      EXPECT_EQ(works[i].bytes, 4.0 * 8 * (16 * 32 + 32 * 64 + 16 * 64));
    } else if (module->name(hlo::InstrId(i)) == "convolution") {
      EXPECT_NEAR(works[i].flops, 2.0 * 4 * 10 * 10 * 9 * 16 * 32, 1);
      EXPECT_EQ(works[i].bytes, 4.0 * (4 * 10 * 10 * (16 + 32) + 9 * 16 * 32));
    }
  }
}

TEST_F(CostOfProgram, TheSlowerOfTrafficAndArithmeticCounts) {
  const Machine machine = {
      .name = "m", .bytes_per_second = 10, .flops_per_second = 100, .seconds_per_launch = 1};
  EXPECT_DOUBLE_EQ(SecondsOf({.bytes = 50, .flops = 100, .launches = 2}, machine), 7);
  EXPECT_DOUBLE_EQ(SecondsOf({.bytes = 10, .flops = 1000, .launches = 0}, machine), 10);
  EXPECT_EQ(PlainCost({.whole_bytes = 50, .flops = 100}, *FindTarget("cpu")), 50);
  EXPECT_EQ(PlainCost({.whole_bytes = 50, .flops = 2000}, *FindTarget("cpu")), 100);
  EXPECT_EQ(PlainCost({.whole_bytes = 50, .flops = 20000}, *FindTarget("gpu")), 200);
}

}  // namespace
}  // namespace stowplan::cost
