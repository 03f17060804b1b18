// SPDX-License-Identifier: Apache-2.0
// How long work takes. One place for all figures about machines.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cost/work.h"
#include "stowplan/target/target.h"

namespace stowplan::cost {

// A kernel takes as long as its traffic or its arithmetic, whichever is slower, plus a launch.
struct Machine {
  std::string_view name;  // as FindMachine takes it
  double bytes_per_second = 1;
  double flops_per_second = 1;  // in products of f32, with the precision that is the default
  double seconds_per_launch = 0;
  double host_bytes_per_second = 1;  // to the host's memory and back, each way
  // Other arithmetic, relative to that: products by kProductBits, and everything else.
  Products product_speeds = {1, 1, 1, 1};
  double element_speed = 1;
};

// Public figures of a common machine of this kind; docs/fit.md has them all.
[[nodiscard]] Machine MachineOf(const Target& target);

// "h100", "v5e", "cpu", ...; nothing if there is no such machine.
[[nodiscard]] std::optional<Machine> FindMachine(std::string_view name);
[[nodiscard]] std::vector<std::string_view> MachineNames();

// A machine that the user describes: one of the above, a target's if `name` is empty, with figures
// that replace its own if they are not 0.
struct MachineChoice {
  std::string_view name;
  double bytes_per_second = 0;
  double flops_per_second = 0;  // in products of f32; all else changes with it
};
// Requires a name that FindMachine knows.
[[nodiscard]] Machine Chosen(const MachineChoice& choice, const Target& target);

[[nodiscard]] double SecondsOf(const Work& work, const Machine& machine);

// A model without figures of any machine: bytes, or flops at a fixed number per byte. Used for
// results that are compared over time.
[[nodiscard]] double PlainCost(const Work& work, const Target& target);

}  // namespace stowplan::cost
