// SPDX-License-Identifier: Apache-2.0
// The writers, and text that they share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "export/export.h"

namespace stowplan::exporting {

// Each but the last two needs a moment.
Result<std::string> WritePprof(const Subject& subject);
std::string WritePerfetto(const Subject& subject);
std::string WriteSpeedscope(const Subject& subject);
Result<std::string> WriteCollapsed(const Subject& subject);
std::string WriteCsv(const Subject& subject);
std::string WriteJson(const Subject& subject);

// "HBM"; "memory space 7" if it has no name.
std::string SpaceWord(const explain::Picture& picture, int64_t space);
// "jit_step: peak of HBM, t=12": the title of a file.
std::string Title(const Subject& subject);
// The instruction that runs at the moment; empty: not known.
std::string_view InstructionAt(const explain::Picture& picture, int64_t time);
// The path of the parameter that a value lies in; empty: it lies in none.
std::string_view ParameterPath(const explain::Picture& picture, report::ValueId id);
// By report::ValueId: what each owns at the moment; -1: it is not live.
std::vector<int64_t> OwnedBytes(const Subject& subject);

}  // namespace stowplan::exporting
