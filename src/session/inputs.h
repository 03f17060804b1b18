// SPDX-License-Identifier: Apache-2.0
// The files of stowplan::Inputs. Each is read once.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "report/dump_directory.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"
#include "stowplan/session.h"

namespace stowplan {

struct InputFile {
  std::string path;
  // The contents, once they have been read. Copies of this struct share them.
  std::shared_ptr<std::shared_ptr<const Source>> read =
      std::make_shared<std::shared_ptr<const Source>>();
  // The user named this very file, so errors in it are shown in full. Other bad files are left out.
  bool is_named = false;
  // These are bytes in memory, so no files lie beside them.
  bool is_in_memory = false;

  // Null: not read yet.
  [[nodiscard]] const std::shared_ptr<const Source>& source() const { return *read; }
};

struct InputFiles {
  // By report::DumpFileKind.
  std::array<std::optional<InputFile>, report::kPairedKinds> files;
  // For a module without a plan: the path of its leftover.
  std::string leftover = {};

  [[nodiscard]] std::optional<InputFile>& file(report::DumpFileKind kind) {
    return files[static_cast<size_t>(kind)];
  }
  [[nodiscard]] const std::optional<InputFile>& file(report::DumpFileKind kind) const {
    return files[static_cast<size_t>(kind)];
  }
  [[nodiscard]] bool has(report::DumpFileKind kind) const { return file(kind).has_value(); }
  [[nodiscard]] bool has_program() const {
    return has(report::DumpFileKind::kModuleText) || has(report::DumpFileKind::kModuleProto);
  }
};

// The bytes of a file. Reads it unless that was done before.
Result<std::shared_ptr<const Source>> Read(const InputFile& file);
// Releases what was read from files, which can be read again if needed.
void Forget(const InputModule& module);

// If the user named a single file of a module, adds the files beside it that have the same stem.
void AddNeighbours(InputFiles& files);
// If a file that was taken for a report is a module under an unusual name, makes it the module.
void FindModuleText(InputFiles& files);

}  // namespace stowplan
