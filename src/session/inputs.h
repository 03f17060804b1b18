// SPDX-License-Identifier: Apache-2.0
// The files behind stowplan::Inputs, and how they are read: once each.
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
  // What is in it, once somebody has read it. Copies of the file share it.
  std::shared_ptr<std::shared_ptr<const Source>> read =
      std::make_shared<std::shared_ptr<const Source>>();
  // The user asked for this very file: mistakes in it are shown in full. Others are left out when
  // they are bad.
  bool is_named = false;
  // Bytes that no file holds: nothing lies beside them.
  bool is_in_memory = false;

  // Null: not read yet.
  [[nodiscard]] const std::shared_ptr<const Source>& source() const { return *read; }
};

struct InputFiles {
  // By report::DumpFileKind.
  std::array<std::optional<InputFile>, report::kPairedKinds> files;
  // Of a module without a plan: the path of the leftover that says so.
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

// The bytes of a file, read now or before.
Result<std::shared_ptr<const Source>> Read(const InputFile& file);
// Lets go of what was read from files, which can be read again if need be.
void Forget(const InputModule& module);

// Adds what lies beside the only file of a module and has the same stem, when the user named it.
void AddNeighbours(InputFiles& files);
// A file under another name that holds a module was taken for a report: now it is the module.
void FindModuleText(InputFiles& files);

}  // namespace stowplan
