// SPDX-License-Identifier: Apache-2.0
// The report files of the corpus, read.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/corpus_files.h"
#include "report/read.h"
#include "stowplan/base/source.h"

namespace stowplan::report {

inline constexpr std::string_view kAssignmentEnding = "-buffer-assignment.txt";

// The file of the same module with another ending; `file` ends in `from`.
inline std::string Sibling(const std::string& file, std::string_view from, std::string_view to) {
  return file.substr(0, file.size() - from.size()) + std::string(to);
}

// The bytes of a file, unpacked; none if it cannot be read.
inline std::string BytesOf(const std::string& file) {
  const auto source = ReadSource(file);
  return source ? std::string((*source)->bytes()) : std::string();
}

// A report from the files that exist among the given ones.
inline Result<Report> ReadFiles(const std::vector<std::string>& files) {
  std::vector<std::shared_ptr<const Source>> sources;
  for (const std::string& file : files) {
    if (!std::filesystem::exists(file)) continue;
    STOWPLAN_TRY(sources.emplace_back(), ReadSource(file));
  }
  return ReadReport(sources);
}

// All text files of the module whose assignment this is.
inline Result<Report> ReadAllOf(const std::string& assignment) {
  return ReadFiles({assignment,
                    Sibling(assignment, kAssignmentEnding, "-buffer-assignment-values.txt"),
                    Sibling(assignment, kAssignmentEnding, "-live-range.txt"),
                    Sibling(assignment, kAssignmentEnding, "-memory-usage-report.txt")});
}

// The lines of each `uses:` list in one order: XLA's own is history.
inline std::string WithSortedUses(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  std::vector<std::string> uses;
  bool is_inside = false;
  const auto flush = [&] {
    std::ranges::sort(uses);
    for (const std::string& use : uses) out += use + "\n";
    uses.clear();
  };
  for (std::string line; std::getline(in, line);) {
    if (is_inside && line.starts_with("  ")) {
      uses.push_back(line);
      continue;
    }
    flush();
    is_inside = line == " uses:";
    out += line + "\n";
  }
  flush();
  return out;
}

}  // namespace stowplan::report
