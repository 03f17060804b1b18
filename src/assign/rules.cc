// SPDX-License-Identifier: Apache-2.0
#include "assign/rules.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/words.h"
#include "stowplan/hlo/dialect.h"

namespace stowplan {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30U;

// What a program may use of the main memory, in hundredths of a GiB, as the compilers' own messages
// say it.
struct Memory {
  std::string_view target;
  int64_t hundredths;
};
constexpr std::array<Memory, 7> kMemories = {{
    {"tpu-v2", 748},
    {"tpu-v3", 1548},
    {"tpu-v4", 1525},
    {"tpu-v5e", 1575},
    {"tpu-v5p", 9573},
    {"tpu-v6e", 3124},
    {"tpu-v7x", 9474},
}};

// Beyond this the time sweep is given up: what is available less 2.5 GiB.
int64_t SweepLimit(std::string_view target) {
  const auto row = std::ranges::find(kMemories, target, &Memory::target);
  return row == kMemories.end() ? std::numeric_limits<int64_t>::max()
                                : (row->hundredths - 250) * kGiB / 100;
}

// Versions are listed oldest first; aliases stand with the name they are equal to.
bool IsOlderThan(std::string_view version, std::string_view name) {
  version = hlo::KnownRelease(version);
  const auto rank = [](std::string_view wanted) {
    const std::span<const hlo::NamedDialect> dialects = hlo::Dialects();
    for (size_t k = 0; k < dialects.size(); ++k) {
      if (dialects[k].name == wanted || HasWord(dialects[k].aliases, wanted)) return k;
    }
    return dialects.size();  // the newest
  };
  return rank(version) < rank(name);
}

// XLA changed this in July 2026.
bool ReadsLastPosition(std::string_view version) {
  return version != "libtpu-0.0.51" && IsOlderThan(version, "jaxlib-0.11.2");
}

// XLA changed this in June 2026.
bool LendsCollectiveMemory(std::string_view version) {
  return !IsOlderThan(version, "jaxlib-0.11.2");
}

// Since jaxlib 0.12, as in libtpu. Its reports look like those of 0.11: who guesses a version from
// them does not get this one.
bool HasThreadLocalsByNumber(std::string_view version) {
  return hlo::KnownRelease(version) == "jaxlib-0.12.0";
}

Rules TpuRules(const Target& target, std::string_view version) {
  Rules rules = {.target = target, .sharing = Sharing::kTpu, .alignment = 512};
  rules.analysis = {.computations = ComputationList::kPostOrderThenAsync,
                    .async_birth = AsyncBirth::kAtStart};
  rules.space_alignments[0] = 16384;
  rules.space_alignments[1] = 4096;
  rules.space_alignments[2] = 4;
  rules.space_alignments[3] = 4096;
  for (const int64_t space : {8, 10, 11, 12}) rules.space_alignments[space] = 4;
  // The first generations have no memory-space assignment.
  if (target.name != "tpu-v2" && target.name != "tpu-v3")
    rules.preset_space = target.name == "tpu-v4" ? 3 : 1;
  rules.reads_last_position = ReadsLastPosition(version);
  if (IsOlderThan(version, "libtpu-0.0.51")) return rules;
  rules.order = AssignOrder::kEarliestFirst;
  rules.thread_locals_by_number = true;
  rules.has_sparse_core = true;
  rules.swept_spaces = (uint64_t{1} << 0U) | (uint64_t{1} << 6U);
  rules.sweep_limit = SweepLimit(target.name);
  return rules;
}

Rules RulesOfBackend(const Target& target, std::string_view version) {
  const bool reads_last_position = ReadsLastPosition(version);
  if (target.name == "cpu") {
    return {.target = target,
            .analysis = {.no_ops = IsOlderThan(version, "jaxlib-0.10.2") ? NoOps::kOperandBitcasts
                                                                         : NoOps::kBitcasts},
            .reads_last_position = reads_last_position,
            .alignment = IsOlderThan(version, "jaxlib-0.4.35") ? 16 : 64,
            .thread_locals_by_number = HasThreadLocalsByNumber(version)};
  }
  if (target.name == "gpu") {
    return {.target = target,
            .analysis = {.no_ops = NoOps::kBitcastsAndReshapes},
            .sharing = Sharing::kGpu,
            .reads_last_position = reads_last_position,
            .alignment = 256,
            .thread_locals_by_number = HasThreadLocalsByNumber(version),
            .lending_space = LendsCollectiveMemory(version) ? 1 : -1};
  }
  return TpuRules(target, version);
}

}  // namespace

Rules RulesOf(const Target& target, std::string_view version) {
  Rules rules = RulesOfBackend(target, version);
  if (IsOlderThan(version, "jaxlib-0.8.2"))
    rules.analysis.post_order = ComputationPostOrder::kAsPrinted;
  return rules;
}

}  // namespace stowplan
