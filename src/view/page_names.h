// SPDX-License-Identifier: Apache-2.0
// File names for the pages of many modules.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace stowplan::view {

inline constexpr std::string_view kIndexPage = "index.html";

// Turns arbitrary names into file names: letters, digits, `_`, `-` and `.`, starting with a letter
// or digit, ending in .html, never too long for a file system, never index.html. No two differ only
// in case, which some file systems ignore.
class PageNames {
 public:
  // "module_0003.jit_step" is module_0003.jit_step.html; the second of a name ends in -2.html.
  [[nodiscard]] std::string NameFor(std::string_view module);

 private:
  std::set<std::string> taken_;            // in lower case
  std::map<std::string, int64_t> counts_;  // by stem in lower case: how often it came
};

}  // namespace stowplan::view
