// SPDX-License-Identifier: Apache-2.0
#include "cli/names.h"

#include "stowplan/hlo/dialect.h"
#include "stowplan/target/target.h"

namespace stowplan::cli {

std::vector<std::string_view> TargetNames() {
  std::vector<std::string_view> names;
  for (const Target& target : Targets()) names.push_back(target.name);
  return names;
}

std::vector<std::string_view> VersionNames() {
  std::vector<std::string_view> names;
  for (const hlo::NamedDialect& dialect : hlo::Dialects()) names.push_back(dialect.name);
  return names;
}

}  // namespace stowplan::cli
