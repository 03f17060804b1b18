// SPDX-License-Identifier: Apache-2.0
// A serialized XLA executable: the module, its plan and the thunks that run, read from bytes and
// written to bytes. Nothing here executes, unpickles or loads anything.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executable/assignment.h"
#include "executable/container.h"
#include "executable/program.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"

namespace stowplan::executable {

struct Executable {
  std::shared_ptr<const Source> source;
  Container container;
  std::string_view module;            // HloModuleProto
  std::string_view assignment_bytes;  // BufferAssignmentProto
  Assignment assignment;
  // Older releases for GPUs store none: they make thunks anew when an executable is loaded.
  bool has_thunks = false;
  Program program;

  // What it says about its origin; empty if it says nothing.
  std::string_view module_name;
  std::string_view runtime;        // "pjrt_ifrt"
  std::optional<int64_t> version;  // of the header
  std::string_view machine;        // of the CPU that kernels were compiled for: "x86_64-...", ...

  [[nodiscard]] Platform platform() const { return container.platform; }
};

// On failure: why the bytes are not an executable, or where they are damaged.
[[nodiscard]] Result<Executable> ReadExecutable(std::shared_ptr<const Source> source);

// If the source is an executable, its module and buffer assignment as an HloProto; any other source
// comes back as it is.
[[nodiscard]] Result<std::shared_ptr<const Source>> ModuleSource(
    std::shared_ptr<const Source> source);

// The module and its buffer assignment as an HloProto, in which form every command reads them.
[[nodiscard]] std::string HloProtoOf(const Executable& executable);

// What to change. What is absent stays as it is.
struct Changes {
  std::optional<std::string> module = {};
  std::optional<Assignment> assignment = {};
  const Program* program = nullptr;
};
// Without changes, an executable comes back byte for byte; one in a Riegeli file, with the same
// records.
[[nodiscard]] Result<std::string> WriteExecutable(const Executable& executable,
                                                  const Changes& changes);

}  // namespace stowplan::executable
