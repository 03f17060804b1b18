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
// an optional .gz at the end. Files with the same stem belong together. Reports under other names
// are recognized by how they begin.
//
// This works on a list of names; the caller reads the directory.
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
  kOther,    // part of a dump, but about something else
  kForeign,  // not part of a dump
};
inline constexpr size_t kPairedKinds = 7;  // the first ones

struct DumpFile {
  std::string path;   // relative to the directory, with `/`
  uint64_t size = 0;  // packed or not
  std::string head;   // the first bytes, if the name does not show the kind
};

struct DumpFileName {
  DumpFileKind kind = DumpFileKind::kForeign;
  std::string stem;
  // "module_0003.jit_step"; without one in the name, its folder, which may be "".
  std::string module;
  std::string stage;  // "cpu_after_optimizations"; empty for reports under other names
};

// By the name alone; kForeign if it shows nothing.
[[nodiscard]] DumpFileName ParseDumpFileName(std::string_view path);
// By the head of the file too, for names that show nothing.
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

// Something without a report, and the reason.
struct DumpLeftover {
  std::string path;
  std::string reason;
  bool is_module = false;  // a module that has no plan; otherwise a file
  friend bool operator==(const DumpLeftover&, const DumpLeftover&) = default;
};

struct DumpDirectory {
  // By name. Each has an assignment, or a proto that may hold one.
  std::vector<DumpModule> modules;
  // Other modules that have the program of the last stage, as text; they are among the leftovers
  // too.
  std::vector<DumpModule> programs;
  std::vector<DumpLeftover> leftovers;  // by path
  int64_t other_files = 0;              // of the dump, not needed here
};

[[nodiscard]] DumpDirectory FindModules(std::span<const DumpFile> files);

}  // namespace stowplan::report
