// SPDX-License-Identifier: Apache-2.0
#include "values/donations.h"

namespace stowplan {

std::vector<Donation> FindDonations(const hlo::Module& module, const Positions& positions) {
  std::vector<Donation> donations;
  const hlo::InstrId root = module.computations[module.entry].root;
  const std::span<const hlo::InstrId> parameters = module.parameters_of(module.entry);
  for (const hlo::InputOutputAlias& alias : module.header.aliases) {
    if (alias.parameter < 0 || alias.parameter >= static_cast<int64_t>(parameters.size())) continue;
    const hlo::InstrId parameter = parameters[static_cast<size_t>(alias.parameter)];
    const uint32_t output =
        positions.Find(module.shapes, module.instructions[root].shape, alias.output_index);
    const uint32_t input =
        positions.Find(module.shapes, module.instructions[parameter].shape, alias.parameter_index);
    if (output == Positions::kNowhere || input == Positions::kNowhere) continue;
    donations.push_back({positions.At(parameter, input), positions.At(root, output)});
  }
  return donations;
}

}  // namespace stowplan
