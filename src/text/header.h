// SPDX-License-Identifier: Apache-2.0
// The line `HloModule ...` and the stack tables behind it.
#pragma once

#include "text/reader.h"

namespace stowplan::text {

// Behind the word HloModule. False after an error.
bool ParseHeader(Reader& reader);
// FileNames ... StackFrames, where they stand.
bool ParseStackFrames(Reader& reader);

}  // namespace stowplan::text
