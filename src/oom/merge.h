// SPDX-License-Identifier: Apache-2.0
// One event is reported many times: by the allocator, by the executable, by Python. This merges the
// reports.
#pragma once

#include "oom/oom.h"

namespace stowplan::oom {

// Adds what was found to the log: to the incident that it is part of, or as a new one.
void AddIncident(Incident incident, Log& log);
void AddRemat(const Remat& remat, Log& log);

}  // namespace stowplan::oom
