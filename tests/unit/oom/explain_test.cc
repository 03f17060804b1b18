// SPDX-License-Identifier: Apache-2.0
// Which causes follow from which figures.
#include "oom/explain.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "oom/causes.h"
#include "unit/oom/sizes.h"

namespace stowplan::oom {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Log LogOf(Incident incident) {
  Log log;
  log.incidents.push_back(std::move(incident));
  return log;
}

std::vector<CauseKind> Kinds(const Explanation& explanation) {
  std::vector<CauseKind> kinds;
  for (const Cause& cause : explanation.causes) kinds.push_back(cause.kind);
  return kinds;
}

std::vector<std::string> Hows(const Explanation& explanation) {
  std::vector<std::string> hows;
  for (const Fix& fix : explanation.fixes) hows.insert(hows.end(), fix.how.begin(), fix.how.end());
  return hows;
}

Size GiB(int64_t count) { return {.bytes = count * kGiB, .slack = 0}; }

Incident GpuRequest(int64_t requested, int64_t limit, int64_t in_use) {
  Incident incident;
  incident.kind = Kind::kBuffer;
  incident.backend = Backend::kGpu;
  incident.requested = GiB(requested);
  incident.limit = incident.pool.limit = GiB(limit);
  incident.pool.in_use = GiB(in_use);
  return incident;
}

TEST(OomExplain, PoolTooSmallOnlyIfMoreWouldHelp) {
  // 12 of 16 GiB; 2 are lacking, and .95 of the device gives 3.2 more.
  Explanation explanation = Explain(LogOf(GpuRequest(8, 12, 6)), 0);
  EXPECT_EQ(explanation.lack, GiB(2));
  EXPECT_THAT(Kinds(explanation), ElementsAre(CauseKind::kPoolSmall, CauseKind::kPoolFull));
  EXPECT_FALSE(explanation.causes[0].is_sure);
  EXPECT_TRUE(explanation.fixes[0].is_enough);
  EXPECT_THAT(Hows(explanation), Contains("XLA_PYTHON_CLIENT_MEM_FRACTION=.95"));
  // 6 are lacking: it would not.
  explanation = Explain(LogOf(GpuRequest(12, 12, 6)), 0);
  EXPECT_THAT(Kinds(explanation), Not(Contains(CauseKind::kPoolSmall)));
  // The driver says how much there is.
  Incident incident = GpuRequest(12, 12, 6);
  incident.device_total = GiB(24);
  explanation = Explain(LogOf(incident), 0);
  EXPECT_EQ(explanation.causes[0].kind, CauseKind::kPoolSmall);
  EXPECT_TRUE(explanation.causes[0].is_sure);
  // TensorFlow takes nearly all of a device.
  Log log = LogOf(GpuRequest(8, 12, 6));
  log.framework = Framework::kTensorFlow;
  EXPECT_THAT(Kinds(Explain(log, 0)), Not(Contains(CauseKind::kPoolSmall)));
}

TEST(OomExplain, FragmentedOnlyIfEnoughIsFree) {
  Incident incident = GpuRequest(2, 12, 9);
  incident.largest_free = GiB(1);
  Explanation explanation = Explain(LogOf(incident), 0);
  EXPECT_EQ(explanation.causes[0].kind, CauseKind::kPoolFragmented);
  EXPECT_TRUE(explanation.causes[0].is_sure);
  EXPECT_EQ(explanation.lack, GiB(1));
  EXPECT_THAT(Hows(explanation), Contains("XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async"));
  EXPECT_THAT(Hows(explanation),
              Contains("XLA_FLAGS=--xla_multiheap_size_constraint_per_heap=1073741824"));
  incident.pool.in_use = GiB(11);
  explanation = Explain(LogOf(incident), 0);
  EXPECT_THAT(Kinds(explanation), Not(Contains(CauseKind::kPoolFragmented)));
}

TEST(OomExplain, LargerThanAll) {
  const Explanation explanation = Explain(LogOf(GpuRequest(20, 12, 3)), 0);
  EXPECT_EQ(explanation.causes[0].kind, CauseKind::kTooLarge);
  EXPECT_THAT(Kinds(explanation), Not(Contains(CauseKind::kPoolFull)));
}

TEST(OomExplain, OtherProcesses) {
  Incident incident = GpuRequest(8, 18, 3);
  incident.device_total = GiB(24);
  incident.device_free = GiB(1);
  const Explanation explanation = Explain(LogOf(incident), 0);
  EXPECT_THAT(Kinds(explanation), ElementsAre(CauseKind::kOtherProcess));
  EXPECT_EQ(explanation.causes[0].bytes, GiB(20));
  EXPECT_EQ(explanation.lack, GiB(7));
}

Incident TpuProgram() {
  Incident incident;
  incident.kind = Kind::kCompile;
  incident.backend = Backend::kTpu;
  incident.space = "hbm";
  incident.used = GiB(20);
  incident.limit = GiB(16);
  incident.exceeded = GiB(4);
  incident.program.total = GiB(12);
  incident.program.temporaries = GiB(12);
  incident.program.arguments = GiB(8);
  return incident;
}

TEST(OomExplain, ShareOfArgumentsAndTemporaries) {
  const Explanation explanation = Explain(LogOf(TpuProgram()), 0);
  EXPECT_THAT(Kinds(explanation), ElementsAre(CauseKind::kTemporaries, CauseKind::kArguments));
  EXPECT_THAT(explanation.causes[0].why, HasSubstr("60%"));
  // 4 of 12 GiB are too many: two thirds of the batch fit.
  const auto batch = std::ranges::find_if(
      explanation.fixes, [](const Fix& fix) { return fix.note.contains("of it fits"); });
  ASSERT_NE(batch, explanation.fixes.end());
  EXPECT_THAT(batch->note, HasSubstr("66%"));
}

TEST(OomExplain, PaddingFirstIfItIsEnough) {
  Incident incident = TpuProgram();
  incident.program.padded = GiB(12);
  incident.program.unpadded = GiB(7);
  Buffer buffer;
  buffer.size = GiB(4);
  buffer.padding = Size{.bytes = 4 * kGiB / 16 * 15, .slack = 0};
  buffer.shape = "f32[8388608,8]{1,0:T(8,128)}";
  incident.buffers = {buffer};
  Explanation explanation = Explain(LogOf(incident), 0);
  EXPECT_EQ(explanation.causes[0].kind, CauseKind::kPadding);
  EXPECT_EQ(explanation.causes[0].bytes, GiB(5));
  EXPECT_THAT(explanation.causes[0].why, HasSubstr("dimension 1 has 8 elements and takes 128"));
  EXPECT_THAT(Hows(explanation),
              Contains("f32[8388608,8]: 4.00GiB -> 256.00MiB with 8,8388608 last"));
  incident.program.unpadded = GiB(10);
  explanation = Explain(LogOf(incident), 0);
  EXPECT_NE(explanation.causes[0].kind, CauseKind::kPadding);
  EXPECT_THAT(Kinds(explanation), Contains(CauseKind::kPadding));
}

TEST(OomExplain, DonationByArithmetic) {
  Incident incident = GpuRequest(8, 12, 6);
  incident.program = {.total = GiB(17),
                      .arguments = GiB(4),
                      .outputs = GiB(4),
                      .constants = Size{},
                      .temporaries = GiB(9)};
  // 4 + 4 + 9 are 17: nothing is shared.
  Explanation explanation = Explain(LogOf(incident), 0);
  const auto is_outputs = [](const Cause& cause) { return cause.kind == CauseKind::kOutputs; };
  const auto outputs = std::ranges::find_if(explanation.causes, is_outputs);
  ASSERT_NE(outputs, explanation.causes.end());
  EXPECT_EQ(outputs->bytes, GiB(4));
  EXPECT_THAT(Hows(explanation), Contains("jax.jit(step, donate_argnums=(0,))"));
  // 13 in all: outputs lie in arguments already.
  incident.program.total = GiB(13);
  explanation = Explain(LogOf(incident), 0);
  EXPECT_EQ(std::ranges::find_if(explanation.causes, is_outputs), explanation.causes.end());
}

TEST(OomExplain, ActivationsAndAttention) {
  Incident incident = TpuProgram();
  for (int i = 0; i < 4; ++i) {
    Buffer buffer;
    buffer.size = GiB(2);
    buffer.op_name = "jit(f)/jvp(Model)/layer_" + std::to_string(i) + "/softmax";
    buffer.shape = "bf16[8,16,2048,2048]{3,2,1,0:T(8,128)(2,1)}";
    incident.buffers.push_back(buffer);
  }
  const Explanation explanation = Explain(LogOf(incident), 0);
  const auto group = std::ranges::find_if(
      explanation.causes, [](const Cause& cause) { return cause.kind == CauseKind::kSameBuffers; });
  ASSERT_NE(group, explanation.causes.end());
  EXPECT_EQ(group->bytes, GiB(8));
  EXPECT_THAT(group->why,
              HasSubstr("4 of the 4 listed ones come from jit(f)/jvp(Model)/layer_*/softmax"));
  EXPECT_THAT(Hows(explanation), Contains("jax.experimental.pallas.ops.tpu.flash_attention"));
  const auto checkpoint = std::ranges::find_if(
      explanation.fixes, [](const Fix& fix) { return fix.what.starts_with("recompute values"); });
  ASSERT_NE(checkpoint, explanation.fixes.end());
  EXPECT_EQ(checkpoint->saves, GiB(8));
  EXPECT_TRUE(checkpoint->is_enough);
}

TEST(OomExplain, RematerializationOfTheCompileBefore) {
  Log log = LogOf(TpuProgram());
  log.incidents[0].line = 50;
  log.remats = {{.limit = GiB(1), .reached = GiB(2), .original = {}, .line = 10},
                {.limit = GiB(3), .reached = GiB(9), .original = GiB(10), .line = 40},
                {.limit = GiB(4), .reached = GiB(5), .original = {}, .line = 60}};
  const Explanation explanation = Explain(log, 0);
  EXPECT_EQ(explanation.causes.back().kind, CauseKind::kRemat);
  EXPECT_EQ(explanation.causes.back().bytes, GiB(6));
  EXPECT_THAT(explanation.causes.back().why, HasSubstr("from 10.00GiB"));
}

TEST(OomExplain, Kernels) {
  Incident incident;
  incident.kind = Kind::kScoped;
  incident.backend = Backend::kTpu;
  incident.space = "vmem";
  incident.used = Size{.bytes = (int64_t{22} << 20) + 5, .slack = 0};
  incident.limit = Size{.bytes = int64_t{16} << 20, .slack = 0};
  Explanation explanation = Explain(LogOf(incident), 0);
  EXPECT_THAT(Kinds(explanation), ElementsAre(CauseKind::kKernel));
  EXPECT_THAT(Hows(explanation),
              Contains("LIBTPU_INIT_ARGS=--xla_tpu_scoped_vmem_limit_kib=23552"));
  EXPECT_THAT(Hows(explanation), Not(Contains(HasSubstr("vmem_limit_bytes"))));
  incident.is_custom_kernel = true;
  explanation = Explain(LogOf(incident), 0);
  EXPECT_THAT(Hows(explanation), Contains(HasSubstr("vmem_limit_bytes=24117248")));
}

TEST(OomExplain, FrameworksHaveTheirOwnWords) {
  Log log = LogOf(GpuRequest(8, 12, 6));
  log.framework = Framework::kTorch;
  EXPECT_THAT(Hows(Explain(log, 0)), Contains("PJRT_ALLOCATOR_FRACTION=.95"));
  EXPECT_THAT(Hows(Explain(log, 0)), Not(Contains(HasSubstr("jax"))));
}

TEST(OomExplain, FiguresThatDoNotAddUp) {
  Incident incident = TpuProgram();
  EXPECT_THAT(Explain(LogOf(incident), 0).unknown, Not(Contains(HasSubstr("do not add up"))));
  incident.exceeded = GiB(5);
  EXPECT_THAT(Explain(LogOf(incident), 0).unknown, Contains(HasSubstr("do not add up")));
}

TEST(OomExplain, WhatIsNotSaid) {
  Incident incident;
  incident.kind = Kind::kBuffer;
  incident.backend = Backend::kGpu;
  incident.requested = GiB(3);
  const Explanation explanation = Explain(LogOf(incident), 0);
  EXPECT_FALSE(explanation.lack.has_value());
  EXPECT_EQ(explanation.unknown.size(), 4U);
  EXPECT_THAT(Kinds(explanation), ElementsAre(CauseKind::kTooLarge));
}

// Nobody is told a cause and left without help, whatever the log says or does not say.
TEST(OomExplain, EveryCauseHasAFix) {
  for (const Backend backend : {Backend::kUnknown, Backend::kCpu, Backend::kGpu, Backend::kTpu}) {
    for (int kind = 0; kind <= static_cast<int>(CauseKind::kTooLarge); ++kind) {
      for (const bool has_buffers : {false, true}) {
        Incident incident;
        incident.backend = backend;
        if (has_buffers) incident.buffers.resize(3);
        const Log log = LogOf(incident);
        const Cause cause{.kind = static_cast<CauseKind>(kind), .what = {}, .why = {}, .bytes = {}};
        EXPECT_FALSE(FixesFor(MakeCase(log, log.incidents[0]), cause).empty())
            << Name(backend) << " " << Word(cause.kind) << " " << has_buffers;
      }
    }
  }
}

TEST(OomExplain, ManyBuffersOfOneUnnamedPlace) {
  Incident incident = TpuProgram();
  incident.program = {};
  incident.buffers.resize(3);
  for (Buffer& buffer : incident.buffers) {
    buffer.size = GiB(1);
    buffer.op_name = "xla::matmul";
  }
  const Explanation explanation = Explain(LogOf(incident), 0);
  EXPECT_THAT(Kinds(explanation), ElementsAre(CauseKind::kSameBuffers));
  EXPECT_FALSE(explanation.fixes.empty());
}

}  // namespace
}  // namespace stowplan::oom
