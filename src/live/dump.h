// SPDX-License-Identifier: Apache-2.0
// The stages' results as text, to show what happens.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "live/analysis.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

// "orders", "calls", "schedule", "values", "aliases", "live-ranges": in the order of the data.
std::span<const std::string_view> AnalysisStages();

// `stage` is one of them.
std::string DumpStage(const hlo::Module& module, const Analysis& analysis, std::string_view stage);

}  // namespace stowplan
