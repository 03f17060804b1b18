// SPDX-License-Identifier: Apache-2.0
// A line of the user's program.
#pragma once

#include <string>

#include "stowplan/hlo/module.h"

namespace stowplan::hlo {

// "train.py:17": the innermost line of the stack frame, else the line of the metadata itself. Empty
// if neither is known.
std::string SourceLine(const Module& module, const Metadata& metadata);

}  // namespace stowplan::hlo
