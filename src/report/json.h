// SPDX-License-Identifier: Apache-2.0
// A report as JSON, for other programs. docs/report-schema.md says what is in it;
// docs/report.schema.json is the same for machines.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "stowplan/report/report.h"

namespace stowplan::report {

// Fields may be added under one version; none changes its meaning or goes away.
inline constexpr std::string_view kJsonSchema = "stowplan.report/1";

// What the report does not know is left out. `add_fields` may add fields behind those of the
// report: what others have computed from it.
std::string WriteJson(const Report& report,
                      const std::function<void(JsonWriter&)>& add_fields = {});

}  // namespace stowplan::report
