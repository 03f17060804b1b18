// SPDX-License-Identifier: Apache-2.0
// What values are for.
#pragma once

#include "explain/picture.h"

namespace stowplan::explain {

// Fills in the kinds of all values. Requires AddLabels.
void AddKinds(Picture& picture);

}  // namespace stowplan::explain
