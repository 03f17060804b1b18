// SPDX-License-Identifier: Apache-2.0
// Reads a module from any input: text or proto, compressed or not.
#pragma once

#include <memory>
#include <string>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

// The content decides the format.
Result<hlo::Module> ParseModule(std::shared_ptr<const Source> source);

// Reads the file at `path` ("-": standard input).
Result<hlo::Module> ReadModule(const std::string& path);

}  // namespace stowplan
