// SPDX-License-Identifier: Apache-2.0
// A report as tables for spreadsheets and data frames, one for each kind of fact.
//
// The first line names the columns. What the report does not know is an empty field; fields with
// commas, quotes or newlines are quoted (RFC 4180). Indices are written as XLA does: {1,0}. Values
// are referred to by XLA's number.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stowplan/report/report.h"

namespace stowplan::report {

enum class CsvTable : uint8_t {
  kAllocations,
  kValues,
  kPositions,
  kUses,
  kRanges,
  kPeak,
  kTree,
  kUsage,
};

struct NamedCsvTable {
  std::string_view name;
  CsvTable table;
};
// In the order in which a reader wants them.
std::span<const NamedCsvTable> CsvTables();
std::optional<CsvTable> FindCsvTable(std::string_view name);

// Whether the report has something for this table.
bool HasCsvTable(const Report& report, CsvTable table);

std::string WriteCsv(const Report& report, CsvTable table);

}  // namespace stowplan::report
