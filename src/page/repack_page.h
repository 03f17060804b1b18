// SPDX-License-Identifier: Apache-2.0
// What became of an executable's memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "repack/repack.h"

namespace stowplan::page {

std::string RepackPage(const repack::Repacked& repacked);
std::string RepackJson(const repack::Repacked& repacked);

// Of a folder.
struct RepackedEntry {
  std::string name;
  std::optional<repack::Repacked> repacked;
  std::string failure;  // why it could not be read
};
std::string RepackFolderPage(const std::vector<RepackedEntry>& entries);
std::string RepackFolderJson(const std::vector<RepackedEntry>& entries);

}  // namespace stowplan::page
