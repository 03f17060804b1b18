// SPDX-License-Identifier: Apache-2.0
// Prints a module as HLO text.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "stowplan/hlo/module.h"

namespace stowplan::hlo {

// Called with pieces of the output, in order; returning false stops printing.
using Sink = std::function<bool(std::string_view)>;

// The text of the module in `dialect`, byte for byte as XLA would write it. Needs only the module.
void PrintModule(const Module& module, const Dialect& dialect, const Sink& sink);
std::string ToString(const Module& module, const Dialect& dialect);
std::string ToString(const Module& module);  // in the module's own dialect

// One instruction without indentation, ROOT or newline.
void AppendInstruction(const Module& module, InstrId id, const Dialect& dialect, std::string& out);

// The order in which XLA prints computations: callees before callers, depth first from the roots of
// the call graph.
std::vector<CompId> PrintOrder(const Module& module);

}  // namespace stowplan::hlo
