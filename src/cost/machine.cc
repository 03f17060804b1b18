// SPDX-License-Identifier: Apache-2.0
#include "cost/machine.h"

#include <algorithm>
#include <iterator>

namespace stowplan::cost {
namespace {

// What well-tuned kernels reach of the figures of a data sheet.
constexpr double kMemory = 0.8;
constexpr double kArithmetic = 0.6;

// As data sheets have them: products of matrices of 64, 32, 16 and 8 bits, on matrix units where
// these take the type by default (f32 as TF32 on GPUs, as bf16 on TPUs), without sparsity; and f32
// without matrix units.
struct Sheet {
  std::string_view name;
  double bytes_per_second;
  Products products_per_second;
  double elements_per_second;
  double seconds_per_launch;
  double host_bytes_per_second;
};
constexpr Sheet kSheets[] = {
    {"h100", 3.35e12, {67e12, 495e12, 989e12, 1979e12}, 67e12, 3e-6, 50e9},  // SXM, PCIe 5
    {"h200", 4.8e12, {67e12, 495e12, 989e12, 1979e12}, 67e12, 3e-6, 50e9},
    {"a100", 2.039e12, {19.5e12, 156e12, 312e12, 624e12}, 19.5e12, 3e-6, 25e9},  // SXM, 80 GB
    {"l4", 300e9, {0.47e12, 60e12, 121e12, 242e12}, 30.3e12, 3e-6, 25e9},
    {"rtx4090", 1.008e12, {1.3e12, 82.6e12, 165e12, 330e12}, 82.6e12, 3e-6, 25e9},
    // TPUs: no figure of the vector unit is published, nor of f64, which is emulated.
    {"v2", 700e9, {45e12, 45e12, 45e12, 45e12}, 45e12, 1e-6, 16e9},
    {"v3", 900e9, {123e12, 123e12, 123e12, 123e12}, 123e12, 1e-6, 16e9},
    {"v4", 1.228e12, {275e12, 275e12, 275e12, 275e12}, 275e12, 1e-6, 16e9},
    {"v5e", 819e9, {197e12, 197e12, 197e12, 394e12}, 197e12, 1e-6, 16e9},
    {"v5p", 2.765e12, {459e12, 459e12, 459e12, 918e12}, 459e12, 1e-6, 16e9},
    {"v6e", 1.64e12, {918e12, 918e12, 918e12, 1836e12}, 918e12, 1e-6, 16e9},
    {"v7x", 7.38e12, {2307e12, 2307e12, 2307e12, 4614e12}, 2307e12, 1e-6, 16e9},
    {"cpu", 100e9, {1e12, 2e12, 2e12, 2e12}, 2e12, 1e-6, 100e9},  // a server with 16 cores
};

constexpr size_t kProducts32 = 1;
static_assert(kProductBits[kProducts32] == 32);

Machine ReachedOf(const Sheet& sheet) {
  const double flops = sheet.products_per_second[kProducts32];
  Machine machine = {sheet.name, sheet.bytes_per_second * kMemory, flops * kArithmetic,
                     sheet.seconds_per_launch, sheet.host_bytes_per_second};
  for (size_t k = 0; k < sheet.products_per_second.size(); ++k)
    machine.product_speeds[k] = sheet.products_per_second[k] / flops;
  machine.element_speed = sheet.elements_per_second / flops;
  return machine;
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
  double elements = work.flops;
  double flops = 0;  // as if all were products of f32
  for (size_t k = 0; k < work.products.size(); ++k) {
    elements -= work.products[k];
    flops += work.products[k] / machine.product_speeds[k];
  }
  flops += std::max(elements, 0.0) / machine.element_speed;
  return std::max(work.bytes / machine.bytes_per_second, flops / machine.flops_per_second) +
         work.launches * machine.seconds_per_launch;
}

double PlainCost(const Work& work, const Target& target) {
  const double flops_per_byte = target.name == "cpu" ? 20 : 100;
  return std::max(work.whole_bytes, work.flops / flops_per_byte);
}

}  // namespace stowplan::cost
