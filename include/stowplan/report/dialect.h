// SPDX-License-Identifier: Apache-2.0
// Report dialects: how each version of XLA writes its memory reports, which have changed like HLO
// text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace stowplan::report {

enum class FromInstruction : uint8_t {
  kAbsent,  // before 2021-09
  kTight,   // ` from instruction:%x`
  kGlued,   // ` from instruction: %x` without a newline: the next value follows on the same line
            // (2024)
  kLine,    // ` from instruction: %x`
};
enum class PeakLine : uint8_t {
  kNone,        // no live ranges in the file
  kName,        // `    name: N bytes`: bytes of the whole instruction, by value
  kIndex,       // `    name{i}: N bytes`: bytes of the value, by value
  kCumulative,  // `    name{i}: N bytes (cumulative: C bytes)`: largest first
};
enum class UsageReport : uint8_t {
  kNone,
  kHashOrder,  // one list of allocations; rows of equal size in no particular order
  kSorted,     // the same in a fixed order
  kSpaces,     // one block for each memory space
};

struct ReportDialect {
  bool address = false;     // `allocation 0: 0x15308170, size N`
  bool page = true;         // `, page 0`
  bool human_total = true;  // `Total bytes used: N (H)`
  FromInstruction from_instruction = FromInstruction::kLine;
  bool none_uses = true;  // `  (none)` when a value has no uses
  PeakLine peak_line = PeakLine::kCumulative;
  bool stack_tree = true;
  bool separate_files = true;  // values and live ranges in separate files
  bool parameter_parts =
      true;  // a parameter's header shows the part at the index, not the whole shape
  UsageReport usage = UsageReport::kSpaces;
  friend bool operator==(const ReportDialect&, const ReportDialect&) = default;
};

struct NamedReportDialect {
  std::string_view name;     // as in hlo/dialect.h: "jaxlib-0.10.2"
  std::string_view aliases;  // separated by blanks
  ReportDialect dialect;
};
std::span<const NamedReportDialect> ReportDialects();
std::optional<ReportDialect> FindReportDialect(std::string_view version);

}  // namespace stowplan::report
