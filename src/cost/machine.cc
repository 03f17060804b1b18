// SPDX-License-Identifier: Apache-2.0
#include "cost/machine.h"

#include <algorithm>
#include <iterator>

namespace stowplan::cost {
namespace {

// What well-tuned kernels reach of the figures of a data sheet.
constexpr double kMemory = 0.8;
constexpr double kArithmetic = 0.6;

// As data sheets have them: arithmetic in the format that matrix multiplications of f32 use by
// default (TF32 on GPUs, bf16 on TPUs, f32 on CPUs), without sparsity.
struct Sheet {
  std::string_view name;
  double bytes_per_second;
  double flops_per_second;
  double seconds_per_launch;
  double host_bytes_per_second;
};
constexpr Sheet kSheets[] = {
    {"h100", 3.35e12, 495e12, 3e-6, 50e9},  // SXM, PCIe 5
    {"h200", 4.8e12, 495e12, 3e-6, 50e9},
    {"a100", 2.039e12, 156e12, 3e-6, 25e9},  // SXM, 80 GB
    {"l4", 300e9, 60e12, 3e-6, 25e9},
    {"rtx4090", 1.008e12, 82.6e12, 3e-6, 25e9},
    {"v2", 700e9, 45e12, 1e-6, 16e9},
    {"v3", 900e9, 123e12, 1e-6, 16e9},
    {"v4", 1.228e12, 275e12, 1e-6, 16e9},
    {"v5e", 819e9, 197e12, 1e-6, 16e9},
    {"v5p", 2.765e12, 459e12, 1e-6, 16e9},
    {"v6e", 1.64e12, 918e12, 1e-6, 16e9},
    {"v7x", 7.38e12, 2307e12, 1e-6, 16e9},
    {"cpu", 100e9, 2e12, 1e-6, 100e9},  // a server with 16 cores
};

Machine ReachedOf(const Sheet& sheet) {
  return {sheet.name, sheet.bytes_per_second * kMemory, sheet.flops_per_second * kArithmetic,
          sheet.seconds_per_launch, sheet.host_bytes_per_second};
}

}  // namespace

std::optional<Machine> FindMachine(std::string_view name) {
  const auto* const found = std::ranges::find(kSheets, name, &Sheet::name);
  return found == std::end(kSheets) ? std::nullopt : std::optional(ReachedOf(*found));
}

std::vector<std::string_view> MachineNames() {
  std::vector<std::string_view> names;
  for (const Sheet& sheet : kSheets) names.push_back(sheet.name);
  return names;
}

Machine MachineOf(const Target& target) {
  std::string_view name = target.name;
  if (name == "gpu") return *FindMachine("h100");
  if (!name.starts_with("tpu")) return *FindMachine("cpu");
  name.remove_prefix(std::min<size_t>(name.size(), 4));  // tpu-v4
  return FindMachine(name).value_or(*FindMachine("v5e"));
}

Machine Chosen(const MachineChoice& choice, const Target& target) {
  Machine machine = choice.name.empty() ? MachineOf(target) : *FindMachine(choice.name);
  if (choice.bytes_per_second > 0) machine.bytes_per_second = choice.bytes_per_second;
  if (choice.flops_per_second > 0) machine.flops_per_second = choice.flops_per_second;
  return machine;
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
