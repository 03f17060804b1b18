// SPDX-License-Identifier: Apache-2.0
// The names that --dialect takes, for texts of modules and of reports alike.
#pragma once

#include <algorithm>
#include <string>

namespace stowplan::page {

// One name per line, each with the other releases that write the same.
template <typename NamedDialects>
std::string DialectList(const NamedDialects& dialects) {
  std::string out;
  for (const auto& dialect : dialects) {
    std::string line(dialect.name);
    if (!dialect.aliases.empty()) {
      line.resize(std::max<size_t>(line.size() + 2, 16), ' ');
      line += "also " + std::string(dialect.aliases);
    }
    out += line + "\n";
  }
  return out;
}

}  // namespace stowplan::page
