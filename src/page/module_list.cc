// SPDX-License-Identifier: Apache-2.0
#include "page/module_list.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/checked_math.h"
#include "base/human_bytes.h"
#include "base/stable_sort.h"
#include "page/text.h"

namespace stowplan::page {
namespace {

int64_t PeakOf(const CountedModule& row) {
  return row.summary.peak ? row.summary.peak->all.bytes : -1;
}

}  // namespace

HiddenModules SelectModules(CountedModules& counted, const ListOptions& options) {
  std::vector<CountedModule>& modules = counted.modules;
  // They come sorted by name. Names begin with the module's number, so this is the order of
  // compilation.
  switch (options.sort) {
    case ReportSort::kPeak:
      StableSort(modules, std::greater(), PeakOf);
      break;
    case ReportSort::kName:
      StableSort(modules, {}, [](const CountedModule& row) {
        // After "module_0003."; the folder stays.
        const size_t name = row.input.name.rfind('/') + 1;
        const size_t dot = row.input.name.find('.', name);
        return dot == std::string::npos ? row.input.name.substr(name)
                                        : row.input.name.substr(dot + 1);
      });
      break;
    case ReportSort::kTime:
      break;
    case ReportSort::kDefault:
    case ReportSort::kSize:
      StableSort(modules, std::greater(),
                 [](const CountedModule& row) { return row.summary.bytes; });
  }
  HiddenModules hidden;
  std::vector<CountedModule> shown;
  for (CountedModule& row : modules) {
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

std::string ModulesPage(const CountedModules& counted, const HiddenModules& hidden,
                        const std::string& where) {
  const std::vector<CountedModule>& modules = counted.modules;
  std::string out = CountOf(static_cast<int64_t>(modules.size() + hidden.count), "module") +
                    " in " + Printable(where) + "\n\n";
  TextTable table({TextTable::kRight, TextTable::kRight, TextTable::kRight, TextTable::kLeft});
  table.Add({"all allocations", "temp", "live at the peak", "module"});
  int64_t sum = hidden.bytes;
  for (const CountedModule& row : modules) {
    sum = CheckedAdd(sum, row.summary.bytes).value_or(INT64_MAX);
    int64_t temp = 0;
    for (const report::KindTotal& kind : row.summary.kinds) {
      if (kind.kind == report::AllocationKind::kTemporary) temp = kind.bytes;
    }
    std::string name = Printable(row.input.name);
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
  return out + "\n--module=NAME shows where the memory of one module goes.\n";
}

}  // namespace stowplan::page
