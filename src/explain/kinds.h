// SPDX-License-Identifier: Apache-2.0
// What values are for.
#pragma once

#include "explain/picture.h"

namespace stowplan::explain {

// Fills the kinds of all values. Needs AddLabels.
void AddKinds(Picture& picture);

}  // namespace stowplan::explain
