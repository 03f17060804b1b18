// SPDX-License-Identifier: Apache-2.0
// The state that the readers of a report's files share.
#pragma once

#include <string_view>
#include <unordered_map>

#include "report/lines.h"
#include "stowplan/report/report.h"

namespace stowplan::report {

class ReportBuilder {
 public:
  Report report;
  // Marks of the dialect.
  bool saw_none_uses = false;
  bool saw_empty_uses = false;

  // The value with this number; created if it is new. `head` is what a file says about it.
  ValueId FindOrAddByNumber(const Value& head);
  // The value defined here; created if it is new. Live ranges name values without their numbers.
  ValueId FindOrAddByPlace(std::string_view instruction, const Index& index);

  // Reads `<12 fusion.3{0} (phi) @1>` from the front of a piece.
  bool TakeValueHead(Piece& piece, Value& head);

 private:
  [[nodiscard]] uint64_t HashPlace(std::string_view instruction,
                                   std::span<const int64_t> index) const;

  std::unordered_map<int64_t, ValueId> by_number_;
  std::unordered_multimap<uint64_t, ValueId> by_place_;
  size_t placed_ = 0;  // values before this one are in by_place_
};

// Each reads from the current line on to where its section ends; errors are in `lines`.
void ReadAssignmentSection(Lines& lines, ReportBuilder& builder);
void ReadValueListSection(Lines& lines, ReportBuilder& builder);
void ReadLiveRangeSection(Lines& lines, ReportBuilder& builder);
void ReadUsageSection(Lines& lines, ReportBuilder& builder);

}  // namespace stowplan::report
