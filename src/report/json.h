// SPDX-License-Identifier: Apache-2.0
// A report as JSON, for other programs. docs/report-schema.md describes it; docs/report.schema.json
// is the JSON Schema.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "stowplan/report/report.h"

namespace stowplan::report {

// Within a version, fields may be added; none is removed or changes its meaning.
inline constexpr std::string_view kJsonSchema = "stowplan.report/1";

// What the report does not know is left out. `add_fields` may append fields to those of the report:
// figures computed from it elsewhere.
std::string WriteJson(const Report& report,
                      const std::function<void(JsonWriter&)>& add_fields = {});

}  // namespace stowplan::report
