// SPDX-License-Identifier: Apache-2.0
// An answer with all that it takes to believe it: problem, plan, bound, and what the bound follows
// from, as lines of text. `stowplan-certify` checks it, and shares no code with this library.
//
//     stowplan-certificate 1
//     buffer 0 2 4 1 0 0 a       start, end, size, alignment, offset (-1: no plan), pool, id
//     height 4
//     status optimal
//     bound 4
//     witness load 0             4 bytes are needed at time 0
//     end
//
// docs/pack.md has all lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pack/csv.h"
#include "stowplan/pack.h"

namespace stowplan::pack {

// `capacity` is what the solver was told.
std::string WriteCertificate(const Table& table, const Answer& answer,
                             std::optional<int64_t> capacity);

}  // namespace stowplan::pack
