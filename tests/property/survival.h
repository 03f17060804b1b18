// SPDX-License-Identifier: Apache-2.0
// Readers answer any bytes with a module or with errors, and never crash.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hlo/print.h"
#include "hlo/verify.h"
#include "proto/parse.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"
#include "stowplan/hlo/module.h"
#include "text/parse.h"

namespace stowplan {

using ModuleReader = std::function<Result<hlo::Module>(std::shared_ptr<const Source>)>;

// Reads the bytes and makes use of what comes back.
inline void ExpectSurvives(const ModuleReader& read, std::string_view bytes,
                           std::string_view what) {
  const auto module = read(Source::FromBytes("input", bytes));
  if (module) {
    EXPECT_FALSE(module->computations.empty()) << what;
    (void)hlo::ToString(*module);
    (void)hlo::Verify(*module);
    return;
  }
  EXPECT_FALSE(module.error().empty()) << what;
  EXPECT_LE(module.error().size(), kMaxErrors) << what;
  EXPECT_FALSE(Render(module.error()).empty()) << what;
}

// The contents of a folder below tests/, by name.
inline std::vector<std::pair<std::string, std::string>> FilesIn(std::string_view folder) {
  std::vector<std::pair<std::string, std::string>> files;
  const std::string path = std::string(STOWPLAN_TESTS_DIR) + "/" + std::string(folder);
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    std::ifstream file(entry.path(), std::ios::binary);
    files.emplace_back(entry.path().filename().string(),
                       std::string{std::istreambuf_iterator<char>(file), {}});
  }
  std::ranges::sort(files);
  return files;
}

// Cut behind each byte.
inline void ExpectSurvivesTruncation(const ModuleReader& read, const std::string& name,
                                     const std::string& bytes) {
  for (size_t size = 0; size < bytes.size(); ++size) {
    ExpectSurvives(read, std::string_view(bytes).substr(0, size), name);
  }
}

// Each byte replaced by each of `values`.
inline void ExpectSurvivesCorruption(const ModuleReader& read, const std::string& name,
                                     std::string bytes, std::string_view values) {
  for (char& byte : bytes) {
    const char good = byte;
    for (const char bad : values) {
      byte = bad;
      if (bad != good) ExpectSurvives(read, bytes, name);
    }
    // And by its neighbour: other digits, other letters.
    byte = static_cast<char>(good ^ 1);
    ExpectSurvives(read, bytes, name);
    byte = good;
  }
}

}  // namespace stowplan
