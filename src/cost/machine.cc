// SPDX-License-Identifier: Apache-2.0
#include "cost/machine.h"

#include <algorithm>

namespace stowplan::cost {
namespace {

bool IsTpu(const Target& target) { return target.name.starts_with("tpu"); }

}  // namespace

Machine MachineOf(const Target& target) {
  // Peak figures of data sheets, less what well-tuned kernels do not reach: four fifths of the
  // memory's speed, three fifths of the arithmetic's.
  constexpr double kMemory = 0.8;
  constexpr double kArithmetic = 0.6;
  if (target.name == "gpu")  // H100 SXM: 3.35 TB/s, 495 Tflop/s (TF32, dense), PCIe 5
    return {"H100", 3.35e12 * kMemory, 495e12 * kArithmetic, 3e-6, 50e9};
  if (IsTpu(target))  // v5e: 819 GB/s, 197 Tflop/s (bf16)
    return {"TPU v5e", 819e9 * kMemory, 197e12 * kArithmetic, 1e-6, 16e9};
  // A server with 16 cores: 100 GB/s, 2 Tflop/s (f32).
  return {"CPU with 16 cores", 100e9 * kMemory, 2e12 * kArithmetic, 1e-6, 100e9};
}

double SecondsOf(const Work& work, const Machine& machine) {
  return std::max(work.bytes / machine.bytes_per_second, work.flops / machine.flops_per_second) +
         work.launches * machine.seconds_per_launch;
}

double PlainCost(const Work& work, const Target& target) {
  const double flops_per_byte = target.name == "cpu" ? 20 : 100;
  return std::max(work.whole_bytes, work.flops / flops_per_byte);
}

}  // namespace stowplan::cost
