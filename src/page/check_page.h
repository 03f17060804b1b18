// SPDX-License-Identifier: Apache-2.0
// The verdict on a plan, as text and as JSON.
#pragma once

#include <cstddef>
#include <string>

#include "base/json_writer.h"
#include "stowplan/plan.h"

namespace stowplan::page {

// "jit_f: sound (12 instructions, 20 reads)", and the first `limit` findings.
std::string CheckText(const PlannedModule& planned, size_t limit);
// The field `verdict`, and `reason` if the plan is unchecked.
void WriteVerdict(const Verdict& verdict, JsonWriter& json);
// One object of the array `modules` of stowplan.check/2.
void AppendCheckJson(const PlannedModule& planned, size_t limit, JsonWriter& json);

}  // namespace stowplan::page
