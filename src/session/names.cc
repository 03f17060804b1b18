// SPDX-License-Identifier: Apache-2.0
#include "session/names.h"

#include <ranges>

#include "stowplan/hlo/dialect.h"
#include "stowplan/target/target.h"

namespace stowplan {

std::vector<std::string_view> TargetNames() {
  std::vector<std::string_view> names;
  for (const Target& target : Targets()) names.push_back(target.name);
  return names;
}

std::vector<std::string_view> ReleaseNames() {
  std::vector<std::string_view> names;
  for (const hlo::NamedDialect& dialect : hlo::Dialects()) {
    names.push_back(dialect.name);
    for (const auto alias : std::views::split(dialect.aliases, ' ')) {
      if (!alias.empty()) names.emplace_back(alias);
    }
  }
  return names;
}

}  // namespace stowplan
