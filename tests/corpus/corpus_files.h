// SPDX-License-Identifier: Apache-2.0
// The files of the unpacked corpus.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace stowplan {

// The archive that a file comes from: "cpu", "dialects", ...
inline std::string ArchiveOf(const std::string& file) {
  return std::filesystem::relative(file, STOWPLAN_CORPUS_DIR).begin()->string();
}

// The archive of answers to random programs; it has no module texts, and only the test of the
// planner asks for it.
inline constexpr std::string_view kOracle = "oracle";
// The same for programs that only TPUs have: kernels, callbacks, work for the SparseCore.
inline constexpr std::string_view kOracleTpu = "oracle_tpu";
inline bool IsOracle(std::string_view archive) {
  return archive == kOracle || archive == kOracleTpu;
}

// The archive for `explain`, `diff` and `gate`, with tests of its own. Not part of the counts that
// other tests keep of the whole corpus.
inline constexpr std::string_view kExplain = "explain";

// The archive of other frameworks' dumps. Only its own test sees it: many of its modules
// have no schedule.
inline constexpr std::string_view kFrameworks = "frameworks";

// The archive of XLA's errors (docs/findings.md). Only its own test sees it: elsewhere, XLA's plans
// are right.
inline constexpr std::string_view kErrors = "errors";

// The archive of library programs that Stowplan was wrong about once. Only its own test sees it.
inline constexpr std::string_view kLibraries = "libraries";

// Its folders are named after the machine and the compiler: tpu-v5e-libtpu-0.0.51.
inline bool HasCompilersAsFolders(std::string_view archive) {
  return IsOracle(archive) || archive == kErrors || archive == kLibraries;
}

// All files of the corpus below `folder` whose names end so, in the order of their names. Those of
// kFrameworks, kErrors and kLibraries only if that is the folder.
inline std::vector<std::string> FilesBelow(const std::string& folder, std::string_view ending) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().filename().string().ends_with(ending)) {
      files.push_back(entry.path().string());
    }
  }
  if (folder == STOWPLAN_CORPUS_DIR)
    std::erase_if(files, [](const std::string& file) {
      const std::string archive = ArchiveOf(file);
      return archive == kFrameworks || archive == kErrors || archive == kLibraries;
    });
  std::ranges::sort(files);
  return files;
}

// All but the oracles' and those of `explain`.
inline std::vector<std::string> CorpusFiles(std::string_view ending) {
  std::vector<std::string> files = FilesBelow(STOWPLAN_CORPUS_DIR, ending);
  std::erase_if(files, [](const std::string& file) {
    return IsOracle(ArchiveOf(file)) || ArchiveOf(file) == kExplain;
  });
  return files;
}

// Texts of modules. Reports are texts, too, and have longer names.
inline std::vector<std::string> CorpusTexts() {
  std::vector<std::string> files = CorpusFiles("after_optimizations.txt");
  const std::vector<std::string> before =
      CorpusFiles("after_optimizations_before_buffer_assignment.txt");
  files.insert(files.end(), before.begin(), before.end());
  std::ranges::sort(files);
  return files;
}

inline std::vector<std::string> CorpusProtos() { return CorpusFiles(".hlo.pb"); }

}  // namespace stowplan
