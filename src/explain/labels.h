// SPDX-License-Identifier: Apache-2.0
// The ops of a picture, their names in JAX and their places in the source.
#pragma once

#include <string_view>

#include "explain/picture.h"

namespace stowplan::explain {

// Fills in frames and which of them are the user's own, ops, the ops and names of values, and the
// paths of parameters. Requires report and module.
void AddLabels(const PictureOptions& options, Picture& picture);

// The opcode in `%x = f32[2]{0} add(...)`; kUnknown if there is no known one.
[[nodiscard]] hlo::Opcode OpcodeOfText(std::string_view instruction_text);
// The opcode that an instruction's name begins with: "all-reduce.28". Compilers choose names
// freely, so this is a guess.
[[nodiscard]] hlo::Opcode OpcodeOfName(std::string_view name);

}  // namespace stowplan::explain
