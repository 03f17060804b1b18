// SPDX-License-Identifier: Apache-2.0
// The modules of a directory, ranked by memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "page/report_page.h"
#include "session/count_modules.h"

namespace stowplan::page {

struct ListOptions {
  size_t limit = SIZE_MAX;
  int64_t min_size = 0;
  ReportSort sort = ReportSort::kDefault;
};

// What SelectModules left out.
struct HiddenModules {
  size_t count = 0;
  int64_t bytes = 0;
};
// Sorts and shortens the list as the options say.
HiddenModules SelectModules(CountedModules& counted, const ListOptions& options);

std::string ModulesPage(const CountedModules& counted, const HiddenModules& hidden,
                        const std::string& where);

}  // namespace stowplan::page
