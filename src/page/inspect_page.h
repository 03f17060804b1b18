// SPDX-License-Identifier: Apache-2.0
// What is inside a serialized executable.
#pragma once

#include <string>

#include "executable/executable.h"

namespace stowplan::page {

std::string InspectPage(const executable::Executable& executable);
std::string InspectJson(const executable::Executable& executable);

}  // namespace stowplan::page
