// SPDX-License-Identifier: Apache-2.0
#include "stowplan/assign/rules.h"

#include <ranges>
#include <span>

#include "stowplan/hlo/dialect.h"

namespace stowplan {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30U;

// What a program may use of the main memory, as far as it has been measured.
int64_t AvailableMemory(std::string_view target) {
  if (target == "tpu-v5e") return 15 * kGiB + kGiB * 3 / 4;
  if (target == "tpu-v2") return 7 * kGiB + kGiB * 48 / 100;
  if (target == "tpu-v3") return 15 * kGiB + kGiB * 48 / 100;
  if (target == "tpu-v4") return 15 * kGiB + kGiB / 4;
  if (target == "tpu-v5p") return 95 * kGiB + kGiB * 73 / 100;
  if (target == "tpu-v7x") return 94 * kGiB + kGiB * 74 / 100;
  if (target == "tpu-v6e") return 31 * kGiB + kGiB / 4 - kGiB / 100;
  return std::numeric_limits<int64_t>::max();
}

// Versions are listed oldest first; aliases stand with the name they are equal to.
bool IsBefore(std::string_view version, std::string_view name) {
  const auto rank = [](std::string_view wanted) {
    const std::span<const hlo::NamedDialect> dialects = hlo::Dialects();
    for (size_t k = 0; k < dialects.size(); ++k) {
      if (dialects[k].name == wanted) return k;
      for (const auto& alias : std::views::split(dialects[k].aliases, ' ')) {
        if (std::string_view(alias.begin(), alias.end()) == wanted) return k;
      }
    }
    return dialects.size();  // the newest
  };
  return rank(version) < rank(name);
}

// XLA changed this in July 2026.
bool ReadsLastPosition(std::string_view version) {
  return version != "libtpu-0.0.51" && IsBefore(version, "jaxlib-0.11.2");
}

Rules TpuRules(const Target& target, std::string_view version) {
  Rules rules = {.target = target, .sharing = Sharing::kTpu, .alignment = 512};
  rules.analysis = {.computations = ComputationList::kPostOrderThenAsync,
                    .async_birth = AsyncBirth::kAtStart};
  rules.space_alignments[0] = 16384;
  rules.space_alignments[1] = 4096;
  rules.space_alignments[2] = 4;
  rules.space_alignments[3] = 4096;
  // The first generations have no memory-space assignment.
  if (target.name != "tpu-v2" && target.name != "tpu-v3")
    rules.preset_space = target.name == "tpu-v4" ? 3 : 1;
  rules.reads_last_position = ReadsLastPosition(version);
  if (IsBefore(version, "libtpu-0.0.51")) return rules;
  rules.order = AssignOrder::kEarliestFirst;
  rules.thread_locals_by_number = true;
  rules.swept_spaces = (uint64_t{1} << 0U) | (uint64_t{1} << 6U);
  if (const int64_t available = AvailableMemory(target.name);
      available != std::numeric_limits<int64_t>::max())
    rules.sweep_limit = available - (2 * kGiB + kGiB / 2);
  return rules;
}

}  // namespace

Rules RulesOf(const Target& target, std::string_view version) {
  const bool reads_last_position = ReadsLastPosition(version);
  if (target.name == "cpu") {
    return {.target = target,
            .reads_last_position = reads_last_position,
            .alignment = IsBefore(version, "jaxlib-0.4.35") ? 16 : 64};
  }
  if (target.name == "gpu") {
    return {.target = target,
            .analysis = {.reshapes = Reshapes::kNothing},
            .sharing = Sharing::kGpu,
            .reads_last_position = reads_last_position,
            .alignment = 256};
  }
  return TpuRules(target, version);
}

}  // namespace stowplan
