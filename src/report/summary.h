// SPDX-License-Identifier: Apache-2.0
// Where a module's memory goes: the figures of `stowplan report`, as data.
//
// Every allocation is of one kind and in one memory space, so kinds add up to their space, spaces
// to the total, and the total is the sum of the allocations.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/peak.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"
#include "target/guess.h"

namespace stowplan::report {

// What an allocation is for. Flags can combine; the first of these that holds decides:
enum class AllocationKind : uint8_t {
  kThreadLocal,  // of calls inside instructions; separate from the program's own memory
  kAliased,      // a parameter that is returned as an output
  kParameter,
  kConstant,  // even if it is also an output
  kOutput,    // maybe-live-out
  kTemporary,
};
inline constexpr size_t kAllocationKinds = 6;
[[nodiscard]] AllocationKind KindOf(const Allocation& allocation);
// "temporaries"
[[nodiscard]] std::string_view Name(AllocationKind kind);

// The kind of machine, as far as names of memory spaces depend on it.
using stowplan::Backend;
using stowplan::Name;
// From the name of a target: "tpu-v5e".
[[nodiscard]] Backend BackendOfTarget(std::string_view target);
// From the names of the report's files (`cpu_after_optimizations`), or from tiled layouts.
[[nodiscard]] Backend GuessBackend(const Report& report);
// What a back end calls a memory space: "HBM" for 0 on TPU. Empty if no name is known. These names
// differ from those of XLA's usage report, which uses one list for all back ends.
[[nodiscard]] std::string_view SpaceName(Backend backend, int64_t color);

struct KindTotal {
  AllocationKind kind = AllocationKind::kTemporary;
  int64_t allocations = 0;
  int64_t bytes = 0;
  friend bool operator==(const KindTotal&, const KindTotal&) = default;
};

struct SpaceTotal {
  int64_t color = 0;
  int64_t allocations = 0;
  int64_t bytes = 0;
  std::vector<KindTotal> kinds = {};  // those that it has, largest first
  std::optional<Peak> peak = {};      // the true one
};

// The list under `Live ranges at T (peak):`.
struct PrintedPeak {
  int64_t time = 0;
  int64_t bytes = 0;
  int64_t values = 0;
};

struct Summary {
  int64_t allocations = 0;
  int64_t values = 0;
  int64_t bytes = 0;               // of all allocations
  std::vector<SpaceTotal> spaces;  // by color
  std::vector<KindTotal> kinds;    // of all spaces together, largest first

  std::optional<PrintedPeak> printed_peak;  // when the files list one
  std::optional<TruePeak> peak;             // when the files tell live ranges
};

// Needs a report with an assignment. Fails when a sum does not fit in 64 bits.
[[nodiscard]] Result<Summary> Summarize(const Report& report);

// 1 - load / size of an allocation: how much of it is not in use at its fullest moment.
[[nodiscard]] double Fragmentation(int64_t size, int64_t load);

// Where an instruction comes from, in the user's terms. Empty if not known.
struct Origin {
  std::string op_name;
  std::string source;  // train.py:42
  friend bool operator==(const Origin&, const Origin&) = default;
};

// The metadata of an instruction, if it has some (an op_name or a source location). For a fusion
// without any, that of its root or of the last instruction inside that has some; for an instruction
// that only changes the form of its operand, that of the operand. Null if there is none.
[[nodiscard]] const hlo::Metadata* MetadataOf(const hlo::Module& module, hlo::InstrId id);

// The metadata in the text of an instruction.
[[nodiscard]] Origin OriginOfText(std::string_view instruction_text);

}  // namespace stowplan::report
