// SPDX-License-Identifier: Apache-2.0
#include "report/write.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "report/csv.h"
#include "report/json.h"
#include "stowplan/session.h"

namespace stowplan {
namespace {

// module_0001.jit_f.cpu_after_optimizations for ...after_optimizations.hlo.pb
std::string StemOf(const PlannedModule& planned) {
  const bool has_file =
      planned.module && planned.module->source && !planned.module->source->name().starts_with('<');
  const std::string& file = has_file ? planned.module->source->name() : planned.name;
  std::string name = file == "-" ? "stdin" : std::filesystem::path(file).filename().string();
  for (const std::string_view ending : {".gz", ".zst", ".hlo.pb", ".pb", ".txt", ".hlo"}) {
    if (name.ends_with(ending) && name.size() > ending.size())
      name.resize(name.size() - ending.size());
  }
  return name;
}

}  // namespace

std::vector<ReportFile> ReportFilesOf(const PlannedModule& planned) {
  const report::Report& report = *planned.report;
  const report::ReportDialect& dialect = report.dialect;
  const std::string stem = StemOf(planned);
  std::vector<ReportFile> files = {
      {stem + "-buffer-assignment.txt", report::WriteAssignment(report, dialect)}};
  if (dialect.separate_files) {
    files.push_back(
        {stem + "-buffer-assignment-values.txt", report::WriteValueList(report, dialect)});
    files.push_back({stem + "-live-range.txt", report::WriteLiveRanges(report, dialect)});
  }
  if (dialect.usage != report::UsageReport::kNone)
    files.push_back({stem + "-memory-usage-report.txt", report::WriteUsage(report, dialect)});
  return files;
}

std::string JsonOf(const PlannedModule& planned) { return report::WriteJson(*planned.report); }

Result<std::string> CsvOf(const PlannedModule& planned, std::string_view table) {
  std::string names;
  for (const report::NamedCsvTable& named : report::CsvTables()) {
    if (!report::HasCsvTable(*planned.report, named.table)) continue;
    names += (names.empty() ? "it has: " : ", ") + std::string(named.name);
  }
  const auto found = report::FindCsvTable(table);
  if (!found || !report::HasCsvTable(*planned.report, *found))
    return Fail("stowplan", "the input has nothing for the table `" + std::string(table) + "`",
                names);
  return report::WriteCsv(*planned.report, *found);
}

}  // namespace stowplan
