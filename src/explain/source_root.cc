// SPDX-License-Identifier: Apache-2.0
#include "explain/source_root.h"

#include <algorithm>
#include <filesystem>

#include "stowplan/base/source.h"

namespace stowplan::explain {

Result<bool> CheckRoot(const std::string& root) {
  std::error_code error;
  if (root.empty() || std::filesystem::is_directory(root, error)) return true;
  return Fail("stowplan", "--source-root needs a directory, and there is none at `" + root + "`");
}

std::string PathBelow(const std::string& root, std::string_view file) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path relative = fs::path(file).relative_path();
  // Names in a dump must not lead out of the root: the page may be sent to others.
  if (std::ranges::find(relative, fs::path("..")) != relative.end()) return {};
  while (!relative.empty()) {
    const fs::path path = fs::path(root) / relative;
    if (fs::is_regular_file(path, error)) return path.string();
    // Try without the first folder: the tree may have moved.
    auto rest = relative.begin();
    fs::path shorter;
    for (++rest; rest != relative.end(); ++rest) shorter /= *rest;
    relative = shorter;
  }
  return {};
}

std::optional<std::string> ReadBelow(const std::string& root, std::string_view file) {
  const std::string path = PathBelow(root, file);
  if (path.empty()) return std::nullopt;
  const Result<std::shared_ptr<const Source>> source = ReadSource(path);
  if (!source) return std::nullopt;
  return std::string((*source)->begin(), (*source)->size());
}

}  // namespace stowplan::explain
