// SPDX-License-Identifier: Apache-2.0
// Each sentence that says that memory ran out, alone: its kind and its figures.
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "oom/oom.h"
#include "unit/oom/sizes.h"

namespace stowplan::oom {
namespace {

Incident One(std::string_view text) {
  const Log log = ReadLog(text);
  EXPECT_EQ(log.incidents.size(), 1U) << text;
  return log.incidents.empty() ? Incident{} : log.incidents[0];
}

TEST(OomHeads, TpuCompiler) {
  const Incident hbm = One(
      "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom:\nXLA:TPU compile permanent error. Ran out of "
      "memory in memory space hbm. Used 21.50G of 15.25G hbm. Exceeded hbm capacity by 6.25G.");
  EXPECT_EQ(hbm.kind, Kind::kCompile);
  EXPECT_EQ(hbm.backend, Backend::kTpu);
  EXPECT_EQ(hbm.space, "hbm");
  EXPECT_EQ(hbm.code, "E1000");
  EXPECT_EQ(Bytes(hbm.used), kGiB * 43 / 2);
  EXPECT_EQ(Bytes(hbm.limit), kGiB * 61 / 4);
  EXPECT_EQ(Bytes(hbm.exceeded), kGiB * 25 / 4);
  EXPECT_EQ(hbm.line, 2);

  const Incident smem = One(
      "Ran out of memory in memory space smem. Used 1.00M of 1.00M smem. Exceeded smem capacity by "
      "1.5K.");
  EXPECT_EQ(smem.space, "smem");
  EXPECT_EQ(Bytes(smem.exceeded), 1536);

  const Incident old = One(
      "Compilation failure: Ran out of memory in memory space vmem. It should not be possible to "
      "run out of vmem - please file a bug against XLA.");
  EXPECT_EQ(old.space, "vmem");
  EXPECT_FALSE(old.used.has_value());

  const Incident early = One(
      "Aborting compilation early because it's unlikely to have enough memory. Requires 3.50T, has "
      "91.00G available. If more detailed logging is desired");
  EXPECT_EQ(Bytes(early.used), kGiB * 3584);
  EXPECT_EQ(Bytes(early.limit), kGiB * 91);

  const Incident total = One(
      "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory "
      "on "
      "HBM, the total memory required for HLO temporaries (52.50G) exceeds available HBM (15.75G). "
      "HLO module: jit_step.\nSee https://openxla.org/xla/errors/error_1000 for more details.");
  EXPECT_EQ(total.kind, Kind::kCompile);
  EXPECT_EQ(total.code, "E1000");
  EXPECT_EQ(total.executable, "jit_step");
  EXPECT_EQ(Bytes(total.used), kGiB * 105 / 2);
  EXPECT_EQ(Bytes(total.limit), kGiB * 63 / 4);

  const Incident cores = One(
      "TPU TensorCore Hbm usage: 34.00G, SparseCore Hbm usage 170.00G, exceeding available bytes: "
      "95.00G");
  EXPECT_EQ(Bytes(cores.used), kGiB * 204);
  EXPECT_EQ(cores.program.parts.size(), 2U);
}

TEST(OomHeads, TpuKernels) {
  const Incident scoped = One(
      "Ran out of memory in memory space vmem while allocating on stack for %my_kernel.2 = "
      "bf16[16,64]{1,0:T(8,128)(2,1)} custom-call(%a), custom_call_target=\"tpu_custom_call\". "
      "Scoped allocation with size 36.25M and limit 32.00M exceeded scoped vmem limit by 4.25M.");
  EXPECT_EQ(scoped.kind, Kind::kScoped);
  EXPECT_EQ(scoped.instruction, "my_kernel.2");
  EXPECT_TRUE(scoped.is_custom_kernel);
  EXPECT_EQ(Bytes(scoped.used), kMiB * 145 / 4);
  EXPECT_EQ(Bytes(scoped.exceeded), kMiB * 17 / 4);

  const Incident plain = One(
      "Ran out of memory in memory space vmem while allocating on stack for %reduce-window.1 = "
      "(u32[16,8]{1,0}, u32[16,8]{1,0}) reduce-window(%a, %b), to_apply=%c. Scoped allocation with "
      "size 31.00M and limit 16.00M exceeded scoped vmem limit by 15.00M.");
  EXPECT_EQ(plain.instruction, "reduce-window.1");
  EXPECT_FALSE(plain.is_custom_kernel);

  const Incident exceeds =
      One("RESOURCE_EXHAUSTED: Allocation (size=134217728) would exceed memory (size=67108864) :: "
          "#allocation25 [shape = 'u8[134217728]{0}', space=vmem, size = 0x8000000, tag = 'scoped "
          "memory for gather.2'] :: gather.2");
  EXPECT_EQ(exceeds.kind, Kind::kScoped);
  EXPECT_EQ(Bytes(exceeds.limit), 67108864);
  EXPECT_EQ(exceeds.instruction, "scoped memory for gather.2");
}

TEST(OomHeads, TpuRuntime) {
  const Incident load = One(
      "Error loading program 'jit_f': Attempting to reserve 29.50G at the bottom of memory. That "
      "was not possible. There are 147.00M free, 0B reserved, and 146.00M reservable.");
  EXPECT_EQ(load.kind, Kind::kLoad);
  EXPECT_EQ(load.executable, "jit_f");
  EXPECT_EQ(Bytes(load.requested), kGiB * 59 / 2);
  EXPECT_EQ(Bytes(load.free), kMiB * 147);
  EXPECT_EQ(Bytes(load.largest_free), kMiB * 146);

  const Incident buffer =
      One("Error allocating device buffer: Attempting to allocate 129.50M. That was not possible. "
          "There "
          "are 78.00M free.; (0x0x1_HBM0)");
  EXPECT_EQ(buffer.kind, Kind::kBuffer);
  EXPECT_EQ(buffer.backend, Backend::kTpu);
  EXPECT_THAT(buffer.devices, ::testing::ElementsAre("0x0x1_HBM0"));
}

TEST(OomHeads, Gpu) {
  for (const std::string_view text :
       {"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 6291456 bytes.",
        "Resource exhausted: Out of memory while trying to allocate 6.00MiB.",
        "Out of memory while trying to allocate 6.00MiB with allocator GPU_0_bfc on device 0.",
        "Failed to allocate request for 6.00MiB (6291456B) on device ordinal 3",
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 6.00MiB (rounded to "
        "6291456)requested by op ",
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 6.00MiB (rounded to 6291456) "
        "from the lower end requested by op"}) {
    const Incident incident = One(text);
    EXPECT_EQ(incident.kind, Kind::kBuffer) << text;
    EXPECT_EQ(incident.backend, Backend::kGpu) << text;
    EXPECT_EQ(Bytes(incident.requested), 6 * kMiB) << text;
    EXPECT_TRUE(incident.is_failure);
  }
  const Incident soft = One(
      "Allocator (GPU_0_bfc) ran out of memory trying to allocate 3.25GiB with freed_by_count=0. "
      "The caller indicates that this is not a failure, but this may mean that there could be "
      "performance gains if more memory were available.");
  EXPECT_FALSE(soft.is_failure);
  for (const std::string_view text :
       {"failed to allocate 7.81G (8387559424 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of "
        "memory",
        "failed to allocate 8387559424 bytes from device: hipErrorOutOfMemory",
        "Failed to allocate device memory of 7.81GiB (8387559424 bytes): RESOURCE_EXHAUSTED",
        "gpu_async_0 cuMemAllocAsync failed to allocate 8387559424 bytes: "
        "CUDA_ERROR_OUT_OF_MEMORY"}) {
    const Incident incident = One(text);
    EXPECT_EQ(incident.kind, Kind::kDriver) << text;
    EXPECT_EQ(Bytes(incident.requested), 8387559424) << text;
  }
  EXPECT_EQ(One("Could not create cudnn handle: CUDNN_STATUS_ALLOC_FAILED").kind, Kind::kDriver);
}

TEST(OomHeads, Host) {
  for (const std::string_view text :
       {"Out of host memory while trying to allocate 6.00MiB with allocator xla_gpu_host_bfc",
        "Allocator (xla_gpu_host_bfc) ran out of memory trying to allocate 6.00MiB (rounded to "
        "6291456)",
        "Failed to allocate 6.00MiB (6291456 bytes) of pinned host memory: no",
        "Unable to allocate 6.00 MiB for an array with shape (6, 1048576) and data type int8",
        "Allocation of 6291456 exceeds 10% of free system memory."}) {
    const Incident incident = One(text);
    EXPECT_EQ(incident.kind, Kind::kHost) << text;
    EXPECT_EQ(Bytes(incident.requested), 6 * kMiB) << text;
  }
  EXPECT_FALSE(One("Allocation of 6291456 exceeds 10% of free system memory.").is_failure);
  EXPECT_EQ(One("terminate called after throwing an instance of 'std::bad_alloc'").kind,
            Kind::kHost);
  EXPECT_EQ(One("Out of memory: Killed process 77 (python3) total-vm:1kB").kind, Kind::kHost);
  const Incident cpu = One("RESOURCE_EXHAUSTED: Out of memory allocating 70368744177664 bytes.");
  EXPECT_EQ(cpu.backend, Backend::kCpu);
  EXPECT_EQ(Bytes(cpu.requested), 70368744177664);
}

TEST(OomHeads, Tensors) {
  const Incident incident =
      One("OOM when allocating tensor with shape[32,1024,64,64] and type float on "
          "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc [Op:AddV2]");
  EXPECT_EQ(Bytes(incident.requested), int64_t{32} * 1024 * 64 * 64 * 4);
  EXPECT_EQ(incident.backend, Backend::kGpu);
  EXPECT_FALSE(
      One("OOM when allocating tensor with shape[99999999999,99999999999] and type float on "
          "x by allocator cpu")
          .requested.has_value());
}

TEST(OomHeads, OtherWords) {
  EXPECT_EQ(One("RESOURCE_EXHAUSTED: the accelerator has no more memory for you").kind,
            Kind::kOther);
  for (const std::string_view text :
       {"", "all is well", "RESOURCE_EXHAUSTED: grpc: received message larger than max",
        "The allocator allocated memory.", "failed to allocate a port", "out of memory",
        "Out of memory while trying to allocate", "Attempting to allocate 5 workers",
        "Stats:\nLimit: 5\nInUse: 4\n", "BufferAssignment stats:\n parameter allocation: 6.00MiB"})
    EXPECT_TRUE(ReadLog(text).incidents.empty()) << text;
}

TEST(OomHeads, Rematerialization) {
  const Log log = ReadLog(
      "W hlo_rematerialization.cc:1] Can't reduce memory use below 10.00GiB (10737418240 bytes) by "
      "rematerialization; only reduced to 71.00GiB (76235669504 bytes), down from 73.00GiB "
      "(78383153152 bytes) originally\n"
      "Can't reduce memory use below 1.00GiB by\nrematerialization; only reduced to 2.00GiB\n");
  ASSERT_EQ(log.remats.size(), 2U);
  EXPECT_TRUE(log.incidents.empty());
  EXPECT_EQ(log.remats[0].limit, (Size{10737418240, 0}));
  EXPECT_EQ(log.remats[0].reached, (Size{76235669504, 0}));
  EXPECT_EQ(log.remats[0].original, (Size{78383153152, 0}));
  EXPECT_EQ(log.remats[1].reached.bytes, 2 * kGiB);
  EXPECT_FALSE(log.remats[1].original.has_value());
}

// Wherever a line ends between two words, the sentence says the same.
TEST(OomHeads, WrappedAnywhere) {
  const std::string text =
      "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. "
      "Used 21.50G of 15.25G hbm. Exceeded hbm capacity by 6.25G.";
  for (size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at + 1)) {
    std::string wrapped = text;
    wrapped.replace(at, 1, "\n    ");
    const Incident incident = One(wrapped);
    EXPECT_EQ(Bytes(incident.used), kGiB * 43 / 2) << wrapped;
    EXPECT_EQ(Bytes(incident.exceeded), kGiB * 25 / 4) << wrapped;
  }
}

}  // namespace
}  // namespace stowplan::oom
