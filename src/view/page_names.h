// SPDX-License-Identifier: Apache-2.0
// What the pages of many modules are called.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace stowplan::view {

inline constexpr std::string_view kIndexPage = "index.html";

// Names for files, of names that may hold anything: letters, digits, `_`, `-` and `.`, a letter or
// digit in front, .html behind, never too long for a disk, never index.html. No two differ in
// nothing but the case of letters, which some disks do not see.
class PageNames {
 public:
  // "module_0003.jit_step" is module_0003.jit_step.html; the second of a name ends in -2.html.
  [[nodiscard]] std::string NameFor(std::string_view module);

 private:
  std::set<std::string> taken_;            // in lower case
  std::map<std::string, int64_t> counts_;  // by stem in lower case: how often it came
};

}  // namespace stowplan::view
