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

// What some versions do otherwise than the newest one.
struct Change {
  bool (*is_in)(std::string_view version);
  void (*apply)(Rules& rules);
};

constexpr std::array kAllChanges = {
    // XLA changed this in July 2026; libtpu 0.0.51 is of an older release, but has it.
    Change{[](std::string_view version) {
             return version != "libtpu-0.0.51" && IsOlderThan(version, "jaxlib-0.11.2");
           },
           [](Rules& rules) { rules.reads_last_position = true; }},
    Change{[](std::string_view version) { return IsOlderThan(version, "jaxlib-0.8.2"); },
           [](Rules& rules) { rules.analysis.post_order = ComputationPostOrder::kAsPrinted; }},
};

// Since jaxlib 0.12, as in libtpu. Its reports look like those of 0.11: who guesses a version from
// them does not get this one.
constexpr Change kThreadLocalsByNumber = {
    [](std::string_view version) { return hlo::KnownRelease(version) == "jaxlib-0.12.0"; },
    [](Rules& rules) { rules.thread_locals_by_number = true; }};

constexpr std::array kCpuChanges = {
    kThreadLocalsByNumber,
    Change{[](std::string_view version) { return IsOlderThan(version, "jaxlib-0.10.2"); },
           [](Rules& rules) { rules.analysis.no_ops = NoOps::kOperandBitcasts; }},
    Change{[](std::string_view version) { return IsOlderThan(version, "jaxlib-0.4.35"); },
           [](Rules& rules) { rules.alignment = 16; }},
};

constexpr std::array kGpuChanges = {
    kThreadLocalsByNumber,
    // XLA changed this in June 2026.
    Change{[](std::string_view version) { return IsOlderThan(version, "jaxlib-0.11.2"); },
           [](Rules& rules) { rules.lending_space = -1; }},
};

constexpr std::array kTpuChanges = {
    Change{[](std::string_view version) { return IsOlderThan(version, "libtpu-0.0.51"); },
           [](Rules& rules) {
             const Rules plain;
             rules.order = plain.order;
             rules.thread_locals_by_number = plain.thread_locals_by_number;
             rules.has_sparse_core = plain.has_sparse_core;
             rules.swept_spaces = plain.swept_spaces;
             rules.sweep_limit = plain.sweep_limit;
           }},
};

// Where another pass has placed values; the first generations have no such pass.
struct PresetSpace {
  int64_t number = -1;
};
// What a program may use of the main memory, in hundredths of a GiB, as the compilers' own messages
// say it.
struct Memory {
  int64_t hundredths = 0;
};

constexpr Rules TpuRules(PresetSpace preset, Memory memory) {
  Rules rules = {.analysis = {.computations = ComputationList::kPostOrderThenAsync,
                              .async_birth = AsyncBirth::kAtStart},
                 .sharing = Sharing::kTpu,
                 .alignment = 512,
                 .order = AssignOrder::kEarliestFirst,
                 .thread_locals_by_number = true,
                 .swept_spaces = (uint64_t{1} << 0U) | (uint64_t{1} << 6U),
                 .preset_space = preset.number,
                 .has_sparse_core = true,
                 // Beyond this the time sweep is given up: what is available less 2.5 GiB.
                 .sweep_limit = (memory.hundredths - 250) * kGiB / 100};
  rules.space_alignments[0] = 16384;
  rules.space_alignments[1] = 4096;
  rules.space_alignments[2] = 4;
  rules.space_alignments[3] = 4096;
  for (const int64_t space : {8, 10, 11, 12}) rules.space_alignments[space] = 4;
  return rules;
}

struct BackendRules {
  std::string_view target;
  Rules rules;                      // of the newest version
  std::span<const Change> changes;  // besides kAllChanges
};
constexpr std::array kBackends = {
    BackendRules{"cpu", {.alignment = 64}, kCpuChanges},
    BackendRules{"gpu",
                 {.analysis = {.no_ops = NoOps::kBitcastsAndReshapes},
                  .sharing = Sharing::kGpu,
                  .alignment = 256,
                  .lending_space = 1},
                 kGpuChanges},
    BackendRules{"tpu-v2", TpuRules({}, {748}), kTpuChanges},
    BackendRules{"tpu-v3", TpuRules({}, {1548}), kTpuChanges},
    BackendRules{"tpu-v4", TpuRules({3}, {1525}), kTpuChanges},
    BackendRules{"tpu-v5e", TpuRules({1}, {1575}), kTpuChanges},
    BackendRules{"tpu-v5p", TpuRules({1}, {9573}), kTpuChanges},
    BackendRules{"tpu-v6e", TpuRules({1}, {3124}), kTpuChanges},
    BackendRules{"tpu-v7x", TpuRules({1}, {9474}), kTpuChanges},
};

}  // namespace

Rules RulesOf(const Target& target, std::string_view version) {
  const auto known = std::ranges::find(kBackends, target.name, &BackendRules::target);
  // A target that has no row is a TPU of a generation to come.
  const BackendRules& backend = known == kBackends.end() ? kBackends.back() : *known;
  Rules rules = backend.rules;
  rules.target = target;
  for (const std::span<const Change> changes :
       {std::span<const Change>(kAllChanges), backend.changes}) {
    for (const Change& change : changes) {
      if (change.is_in(version)) change.apply(rules);
    }
  }
  return rules;
}

}  // namespace stowplan
