// SPDX-License-Identifier: Apache-2.0
// Who made what: the ops of a picture, their names in JAX and their places in the source.
#pragma once

#include <span>
#include <string>

#include "explain/picture.h"

namespace stowplan::explain {

// Fills frames, ops, the ops and words of values, and the paths of parameters. Needs report and
// module. `parameter_names`, by number, are for parameters without a path.
void AddLabels(std::span<const std::string> parameter_names, Picture& picture);

// The opcode in `%x = f32[2]{0} add(...)`; kUnknown when there is none that we know.
[[nodiscard]] hlo::Opcode OpcodeOfText(std::string_view instruction_text);
// The opcode that an instruction's name begins with: "all-reduce.28". Compilers choose names
// freely, so this is a guess.
[[nodiscard]] hlo::Opcode OpcodeOfName(std::string_view name);

}  // namespace stowplan::explain
