// SPDX-License-Identifier: Apache-2.0
// A report as the BufferAssignmentProto that tools around XLA read.
#pragma once

#include <string>

#include "report/assignment_message.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"

namespace stowplan::report {

// The assignment in `report`, which must be about `module`: instructions get the module's ids.
// Requires a report with an assignment. There are neither aliases nor heap traces, because a report
// has none.
Result<BufferAssignmentMessage> BuildBufferAssignment(const Report& report,
                                                      const hlo::Module& module);

// The same, serialized.
Result<std::string> WriteBufferAssignmentProto(const Report& report, const hlo::Module& module);

}  // namespace stowplan::report
