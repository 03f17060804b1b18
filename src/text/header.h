// SPDX-License-Identifier: Apache-2.0
// The line `HloModule ...` and the stack tables after it.
#pragma once

#include "text/reader.h"

namespace stowplan::text {

// Called after the word HloModule. False after an error.
bool ParseHeader(Reader& reader);
// FileNames ... StackFrames, wherever they are.
bool ParseStackFrames(Reader& reader);

}  // namespace stowplan::text
