// SPDX-License-Identifier: Apache-2.0
// Parameters of the program that become parts of its result: input_output_alias of the header.
#pragma once

#include <vector>

#include "stowplan/hlo/module.h"
#include "values/positions.h"

namespace stowplan {

struct Donation {
  PositionId input;   // of an entry parameter
  PositionId output;  // of the entry computation's root
};

// In the header's order. Entries that name no part are left out; hlo::Verify complains about them.
std::vector<Donation> FindDonations(const hlo::Module& module, const Positions& positions);

}  // namespace stowplan
