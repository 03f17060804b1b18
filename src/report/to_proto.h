// SPDX-License-Identifier: Apache-2.0
// A report as the BufferAssignmentProto that tools around XLA read.
#pragma once

#include <string>

#include "report/assignment_message.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"

namespace stowplan::report {

// The assignment of `report` for `module`, which it is about: instructions get the module's ids.
// Needs a report with an assignment. There are neither aliases nor heap traces: a report does not
// have them.
Result<BufferAssignmentMessage> BuildBufferAssignment(const Report& report,
                                                      const hlo::Module& module);

// The same, serialized.
Result<std::string> WriteBufferAssignmentProto(const Report& report, const hlo::Module& module);

}  // namespace stowplan::report
