// SPDX-License-Identifier: Apache-2.0
// What `stowplan pack` prints about an answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pack/csv.h"
#include "stowplan/pack.h"

namespace stowplan::page {

// Whether there is a plan within the capacities.
bool HasFit(const pack::Answer& answer);

// A few lines of text: the height, the status, and the reason for it.
std::string PackText(const pack::Table& table, const pack::Answer& answer,
                     std::optional<int64_t> capacity);

// Everything, as JSON.
std::string PackJson(const pack::Table& table, const pack::Answer& answer,
                     std::optional<int64_t> capacity);

}  // namespace stowplan::page
