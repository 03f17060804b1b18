// SPDX-License-Identifier: Apache-2.0
// Any input that holds a module: text or proto, packed or not.
#pragma once

#include <memory>
#include <string>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

// The format is found by content.
Result<hlo::Module> ParseModule(std::shared_ptr<const Source> source);

// Reads the file at `path` ("-": standard input).
Result<hlo::Module> ReadModule(const std::string& path);

}  // namespace stowplan
