// SPDX-License-Identifier: Apache-2.0
#include "cli/view_files.h"

#include <filesystem>
#include <memory>
#include <string_view>

#include "stowplan/base/source.h"
#include "view/page.h"

namespace stowplan::cli {
namespace {

namespace fs = std::filesystem;

bool MayWrite(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return true;
  if (status.type() != fs::file_type::regular) return false;
  const Result<std::shared_ptr<const Source>> source = ReadSource(path);
  return source && (*source)->bytes().find(view::kDataElement) != std::string_view::npos;
}

}  // namespace

bool MayWritePages(const std::vector<std::string>& paths, std::string_view hint, Console& console) {
  Diagnostics refused;
  for (const std::string& path : paths) {
    if (MayWrite(path)) continue;
    refused.push_back(Fail(path, "exists and was not written by `stowplan view`").error()[0]);
  }
  if (refused.empty()) return true;
  refused[0].hint = hint;
  console.Show(refused);
  return false;
}

}  // namespace stowplan::cli
