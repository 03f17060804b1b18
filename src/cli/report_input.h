// SPDX-License-Identifier: Apache-2.0
// From the words of the command line to modules: files, sets of files, dump directories. They are
// read by cli/report_load.h.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "report/dump_directory.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"

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
  // Of a program: the path of the leftover that says that it has no plan.
  std::string leftover = {};

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

}  // namespace stowplan::cli
