// SPDX-License-Identifier: Apache-2.0
// Which compiler wrote a file of the corpus, and for which machine.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "corpus/corpus_files.h"

namespace stowplan {

// The compiler that wrote a file, by the name of its dialect. See corpus/README.md.
inline std::string_view CompilerOf(const std::string& file) {
  using Row = std::pair<std::string_view, std::string_view>;
  constexpr std::array kArchives = {
      Row{"cpu", "jaxlib-0.10.2"}, Row{"cpu11", "jaxlib-0.11.2"}, Row{"explain", "jaxlib-0.10.2"},
      Row{"gpu", "jaxlib-0.11.2"}, Row{"scale", "jaxlib-0.11.2"}, Row{"tpu", "libtpu-0.0.51"},
  };
  constexpr std::array kFolders = {
      Row{"cpu_tf22", "tf-2.2"},
      Row{"cpu_tf24", "tf-2.4"},
      Row{"cpu_tf26", "tf-2.6"},
      Row{"cpu_tf28", "tf-2.8"},
      Row{"cpu_tf211", "tf-2.11"},
      Row{"cpu_0413", "jaxlib-0.4.13"},
      Row{"cpu_0425", "jaxlib-0.4.25"},
      Row{"cpu_0430", "jaxlib-0.4.30"},
      Row{"cpu_0435", "jaxlib-0.4.35"},
      Row{"cpu_050", "jaxlib-0.5.0"},
      Row{"cpu_060", "jaxlib-0.6.0"},
      Row{"cpu_072", "jaxlib-0.7.2"},
      Row{"cpu_082", "jaxlib-0.8.2"},
      Row{"cpu_090", "jaxlib-0.9.0"},
      Row{"cpu_0100", "jaxlib-0.10.0"},
      Row{"cpu_new", "jaxlib-0.10.2"},
      Row{"cpu_more", "jaxlib-0.10.2"},
      Row{"dyn_cpu", "jaxlib-0.10.2"},
      Row{"tpu_0435_v5e", "libtpu-0.0.2"},
      Row{"tpu_050_v5e", "libtpu-0.0.8"},
      Row{"tpu_060_v5e", "libtpu-0.0.13"},
      Row{"tpu_072_v5e", "libtpu-0.0.23.1"},
      Row{"tpu_082_v5e", "libtpu-0.0.32.1"},
      Row{"tpu_new_v5e", "libtpu-0.0.51"},
      Row{"tpu_more_v5e", "libtpu-0.0.51"},
      Row{"tpu_new_v4", "libtpu-0.0.51"},
      Row{"tpu_new_v6e", "libtpu-0.0.51"},
      Row{"tpu_new_v7x", "libtpu-0.0.51"},
      Row{"tpu_sm_v22x2", "libtpu-0.0.51"},
      Row{"tpu_sm_v32x2", "libtpu-0.0.51"},
      Row{"tpu_sm_v5p2x2x1", "libtpu-0.0.51"},
      Row{"tpu_sm_v5p4x4x4", "libtpu-0.0.51"},
      Row{"dyn_tpu", "libtpu-0.0.51"},
  };
  const std::filesystem::path inside = std::filesystem::relative(file, STOWPLAN_CORPUS_DIR);
  const std::string archive = inside.begin()->string();
  const std::string folder = std::next(inside.begin())->string();
  for (const Row& row : kArchives) {
    if (row.first == archive) return row.second;
  }
  for (const Row& row : kFolders) {
    if (row.first == folder) return row.second;
  }
  return {};
}

// The folder of the file's archive that it is in.
inline std::string FolderOf(const std::string& file) {
  return std::next(std::filesystem::relative(file, STOWPLAN_CORPUS_DIR).begin())->string();
}

// Of an archive with folders like these: tpu-v5e-libtpu-0.0.51, cpu-jaxlib-0.10.2-unfused.
inline std::string VersionOfFolder(const std::string& folder) {
  const size_t at =
      folder.find("jaxlib-") != std::string::npos ? folder.find("jaxlib-") : folder.find("libtpu-");
  return folder.substr(at, folder.find('-', at + 7) - at);
}

// By the name of its dialect; of all archives.
inline std::string VersionOf(const std::string& file) {
  return HasCompilersAsFolders(ArchiveOf(file)) ? VersionOfFolder(FolderOf(file))
                                                : std::string(CompilerOf(file));
}

// The machine that it was compiled for. Folders of `dialects` are named after the compiler and the
// machine.
inline std::string TargetOf(const std::string& file) {
  const std::string archive = ArchiveOf(file);
  const std::string folder = FolderOf(file);
  if (HasCompilersAsFolders(archive))
    return folder.substr(0, folder.find("lib") - (folder[0] == 't' ? 1 : 4));
  if (archive == "cpu" || archive == "cpu11" || archive == "explain") return "cpu";
  if (archive == "gpu" || archive == "scale") return "gpu";
  if (archive == "tpu") return "tpu-v5e";
  if (folder.find("cpu") != std::string::npos) return "cpu";
  for (const std::string_view generation : {"v5e", "v5p", "v6e", "v7x", "v4"}) {
    if (folder.find(generation) != std::string::npos) return "tpu-" + std::string(generation);
  }
  if (folder.find("v22x2") != std::string::npos) return "tpu-v2";
  if (folder.find("v32x2") != std::string::npos) return "tpu-v3";
  return "tpu-v5e";
}

// What no heap grows beyond: programs in such a folder were compiled with
// --xla_multiheap_size_constraint_per_heap=1048576.
inline int64_t HeapLimitOf(const std::string& file) {
  return FolderOf(file).ends_with("-heaps") ? int64_t{1} << 20
                                            : std::numeric_limits<int64_t>::max();
}

}  // namespace stowplan
