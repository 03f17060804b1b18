// SPDX-License-Identifier: Apache-2.0
// What became of an executable's memory.
#pragma once

#include <string>

#include "repack/repack.h"

namespace stowplan::page {

std::string RepackPage(const repack::Repacked& repacked);
std::string RepackJson(const repack::Repacked& repacked);

}  // namespace stowplan::page
