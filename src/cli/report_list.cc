// SPDX-License-Identifier: Apache-2.0
#include "cli/report_list.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/checked_math.h"
#include "base/human_bytes.h"
#include "cli/progress.h"
#include "cli/report_text.h"

namespace stowplan::cli {
namespace {

int64_t PeakOf(const ModuleRow& row) { return row.summary.peak ? row.summary.peak->all.bytes : -1; }

}  // namespace

report::DumpLeftover LeftoverOf(const Diagnostic& diagnostic) {
  std::string path = diagnostic.file;
  if (diagnostic.line != 0) {
    path += ":" + std::to_string(diagnostic.line) + ":" + std::to_string(diagnostic.column);
  }
  return {std::move(path), diagnostic.message};
}

std::vector<ModuleRow> CountModules(Inputs& inputs, const ListOptions& options,
                                    Listener& listener) {
  return CountModules(inputs, options, listener, [](InputModule module) {
    return Load(std::move(module), Program::kLeaveOut);
  });
}

std::vector<ModuleRow> CountModules(Inputs& inputs, const ListOptions& options, Listener& listener,
                                    const ModuleLoader& load) {
  std::vector<ModuleRow> rows;
  Progress progress(inputs.modules.size(), listener.is_watched());
  for (InputModule& module : inputs.modules) {
    progress.Next(module.name);
    ModuleRow row{.name = module.name, .stage = module.stage, .summary = {}};
    const Result<LoadedModule> loaded = load(std::move(module));
    if (!loaded) {
      inputs.leftovers.push_back(LeftoverOf(loaded.error()[0]));
      continue;
    }
    for (const Diagnostic& problem : loaded->problems) {
      inputs.leftovers.push_back(LeftoverOf(problem));
    }
    Result<report::Summary> summary = report::Summarize(loaded->report);
    if (!summary) {
      inputs.leftovers.push_back(LeftoverOf(summary.error()[0]));
      continue;
    }
    row.summary = *std::move(summary);
    const std::string& target = options.target.empty() ? loaded->target : options.target;
    row.backend =
        target.empty() ? report::GuessBackend(loaded->report) : report::BackendOfTarget(target);
    row.is_ours = loaded->is_ours;
    row.findings = FindingsOf(loaded->report, loaded->sources).size();
    rows.push_back(std::move(row));
  }
  return rows;
}

HiddenModules SelectModules(std::vector<ModuleRow>& modules, const ListOptions& options) {
  // They come by name, which begins with the number of the module: the order of time.
  switch (options.sort) {
    case ReportSort::kPeak:
      std::ranges::stable_sort(modules, std::greater(), PeakOf);
      break;
    case ReportSort::kName:
      std::ranges::stable_sort(modules, {}, [](const ModuleRow& row) {
        // Behind "module_0003.", and the folder stays.
        const size_t name = row.name.rfind('/') + 1;
        const size_t dot = row.name.find('.', name);
        return dot == std::string::npos ? row.name.substr(name) : row.name.substr(dot + 1);
      });
      break;
    case ReportSort::kTime:
      break;
    case ReportSort::kDefault:
    case ReportSort::kSize:
      std::ranges::stable_sort(modules, std::greater(),
                               [](const ModuleRow& row) { return row.summary.bytes; });
  }
  HiddenModules hidden;
  std::vector<ModuleRow> shown;
  for (ModuleRow& row : modules) {
    if (shown.size() < options.limit && row.summary.bytes >= options.min_size) {
      shown.push_back(std::move(row));
    } else {
      ++hidden.count;
      hidden.bytes = CheckedAdd(hidden.bytes, row.summary.bytes).value_or(INT64_MAX);
    }
  }
  modules = std::move(shown);
  return hidden;
}

std::string ModulesPage(const std::vector<ModuleRow>& modules, const HiddenModules& hidden,
                        const std::string& where) {
  std::string out = CountOf(static_cast<int64_t>(modules.size() + hidden.count), "module") +
                    " in " + Printable(where) + "\n\n";
  TextTable table({TextTable::kRight, TextTable::kRight, TextTable::kRight, TextTable::kLeft});
  table.Add({"all allocations", "temp", "most live at once", "module"});
  int64_t sum = hidden.bytes;
  for (const ModuleRow& row : modules) {
    sum = CheckedAdd(sum, row.summary.bytes).value_or(INT64_MAX);
    int64_t temp = 0;
    for (const report::KindTotal& kind : row.summary.kinds) {
      if (kind.kind == report::AllocationKind::kTemporary) temp = kind.bytes;
    }
    std::string name = Printable(row.name);
    if (row.findings != 0) {
      name += "  (" + CountOf(static_cast<int64_t>(row.findings), "finding") + ")";
    }
    table.Add({HumanAndExactBytes(row.summary.bytes), Percent(temp, row.summary.bytes),
               row.summary.peak ? HumanAndExactBytes(PeakOf(row)) : "not known", std::move(name)});
  }
  if (hidden.count != 0) {
    table.Add({HumanAndExactBytes(hidden.bytes), "", "",
               "and " + std::to_string(hidden.count) + " more"});
  }
  if (modules.size() + hidden.count > 1) table.Add({HumanAndExactBytes(sum), "", "", "total"});
  table.Append(out);
  return out + "\n--module=NAME shows where the memory of one of them goes.\n";
}

void ShowLeftovers(const Inputs& inputs, Listener& listener) {
  Diagnostics lines;
  for (const report::DumpLeftover& leftover : inputs.leftovers) {
    Diagnostic line;
    line.severity = Severity::kWarning;
    line.file = leftover.path;
    line.message = leftover.reason;
    lines.push_back(std::move(line));
  }
  listener.Show(lines, 50);
}

}  // namespace stowplan::cli
