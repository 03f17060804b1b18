// SPDX-License-Identifier: Apache-2.0
// Which files of a directory belong to which module. XLA (--xla_dump_to) names them
//
//     module_0003.jit_step.cpu_after_optimizations.txt                     the module
//     module_0003.jit_step.cpu_after_optimizations.hlo.pb                  with its assignment
//     module_0003.jit_step.cpu_after_optimizations-buffer-assignment.txt   one of its reports
//     \_____ module _____/ \________ stage ______/
//     \_________________ stem ___________________/
//
// with a time in front if TensorFlow writes them, the GPU's or compiler's version in the stage, and
// .gz behind. Files with the same stem belong together. Reports under other names are known by how
// they begin.
//
// Works on a list of names; who reads the directory is not its business.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stowplan::report {

enum class DumpFileKind : uint8_t {
  kAssignment,
  kValueList,
  kLiveRanges,
  kUsage,
  kUsageProto,
  kModuleText,
  kModuleProto,
  kOther,    // of a dump, but about something else
  kForeign,  // of no dump
};
inline constexpr size_t kPairedKinds = 7;  // the first ones

struct DumpFile {
  std::string path;   // relative to the directory, with `/`
  uint64_t size = 0;  // packed or not
  std::string head;   // the first bytes, when the name does not tell the kind
};

struct DumpFileName {
  DumpFileKind kind = DumpFileKind::kForeign;
  std::string stem;
  // "module_0003.jit_step"; without one in the name, its folder, which may be "".
  std::string module;
  std::string stage;  // "cpu_after_optimizations"; empty for reports under other names
};

// The name alone; kForeign when it tells nothing.
[[nodiscard]] DumpFileName ParseDumpFileName(std::string_view path);
// With the head of the file for names that tell nothing.
[[nodiscard]] DumpFileName ClassifyDumpFile(const DumpFile& file);

struct DumpModule {
  std::string name;   // unique in the directory
  std::string stage;  // may be empty
  // By DumpFileKind: rows of the list of files.
  std::array<std::optional<size_t>, kPairedKinds> files;

  [[nodiscard]] std::optional<size_t> file(DumpFileKind kind) const {
    return files[static_cast<size_t>(kind)];
  }
};

// Something of which there is no report, and why.
struct DumpLeftover {
  std::string path;
  std::string reason;
  bool is_module = false;  // a module that has no plan; else a file
  friend bool operator==(const DumpLeftover&, const DumpLeftover&) = default;
};

struct DumpDirectory {
  // By name. Each has an assignment, or a proto that may hold one.
  std::vector<DumpModule> modules;
  // The others that have the program of the last stage, as text; they are among the leftovers too.
  std::vector<DumpModule> programs;
  std::vector<DumpLeftover> leftovers;  // by path
  int64_t other_files = 0;              // of the dump, not needed here
};

[[nodiscard]] DumpDirectory FindModules(std::span<const DumpFile> files);

}  // namespace stowplan::report
