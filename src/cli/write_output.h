// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/console.h"
#include "stowplan/base/diagnostic.h"

namespace stowplan::cli {

// Writes what was made, if it was, to a file. Returns the exit code, `code` if all is well.
inline int WriteOutput(const std::string& path, Result<std::string> bytes_or_error, int code,
                       Console& console) {
  const std::optional<std::string> bytes = console.Take(std::move(bytes_or_error));
  if (!bytes) return kBadUse;
  const std::unique_ptr<Output> output = console.Open(path);
  if (output == nullptr) return kBadUse;
  output->Write(*bytes);
  return console.Finish(*output, code);
}

}  // namespace stowplan::cli
