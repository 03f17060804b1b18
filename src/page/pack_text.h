// SPDX-License-Identifier: Apache-2.0
// What `stowplan pack` says of an answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pack/csv.h"
#include "stowplan/pack.h"

namespace stowplan::page {

// Whether there is a plan within the capacities.
bool HasFit(const pack::Answer& answer);

// Some lines for people: the height, the status and what that follows from.
std::string PackText(const pack::Table& table, const pack::Answer& answer,
                     std::optional<int64_t> capacity);

// All there is to say.
std::string PackJson(const pack::Table& table, const pack::Answer& answer,
                     std::optional<int64_t> capacity);

}  // namespace stowplan::page
