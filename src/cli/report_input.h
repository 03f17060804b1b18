// SPDX-License-Identifier: Apache-2.0
// From the words of the command line to reports: files, sets of files, dump directories.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/dump_directory.h"
#include "stowplan/report/report.h"

namespace stowplan::cli {

struct InputFile {
  std::string path;
  std::shared_ptr<const Source> source;  // when it has been read already
  // The user asked for this very file: mistakes in it are shown in full. Others are left out when
  // they are bad.
  bool is_named = false;
  // Bytes that no file holds: nothing lies beside them.
  bool is_in_memory = false;
};

// The files of one module, not read yet.
struct InputModule {
  std::string name;
  std::string stage;  // may be empty
  // By report::DumpFileKind.
  std::array<std::optional<InputFile>, report::kPairedKinds> files;

  [[nodiscard]] std::optional<InputFile>& file(report::DumpFileKind kind) {
    return files[static_cast<size_t>(kind)];
  }
};

struct Inputs {
  std::vector<InputModule> modules;
  std::vector<InputModule> programs;  // of directories: modules without a plan
  std::vector<report::DumpLeftover> leftovers;
  int64_t other_files = 0;
  bool has_directory = false;
};

// Fails when a word is no file and no directory.
Result<Inputs> FindInputs(const std::vector<std::string>& words);

// The module in these bytes, whatever they are.
Result<InputModule> InputOf(std::shared_ptr<const Source> source);

// Adds what lies beside the only file of a module and has the same stem, when the user named it.
void AddNeighbours(InputModule& module);

struct LoadedModule {
  std::string name;
  report::Report report;
  std::optional<hlo::Module> program;
  // Report files that were read, in the order in which they were given or found.
  std::vector<std::shared_ptr<const Source>> sources;
  // One for each file that could not be read and was left out.
  Diagnostics problems;
};

enum class Program { kLeaveOut, kRead };

Result<LoadedModule> Load(InputModule module, Program program);

// What the files say otherwise than it is computed, and what makes one of them doubtful.
Diagnostics FindingsOf(const report::Report& report,
                       std::span<const std::shared_ptr<const Source>> sources);

}  // namespace stowplan::cli
