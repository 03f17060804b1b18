// SPDX-License-Identifier: Apache-2.0
// Fusions around a transposition, which GPUs execute in tiles: a block reads a tile (I, J), writes
// what is made of it element by element there, and what is transposed into tile (J, I). So outputs
// of these two kinds are not written by one loop, even where their elements correspond: another
// block, which may run earlier or later, does the other output's work in the same place.
#pragma once

#include <cstdint>
#include <vector>

#include "check/bodies.h"
#include "stowplan/hlo/module.h"

namespace stowplan::check {

// Where an output is written: empty at the place that is read, else the transposition's dimensions.
// Outputs with different answers are written at different times.
using Hero = std::vector<int64_t>;

// `outputs`: all of the instruction. A reduction among them means that all are written by its loop.
std::vector<Hero> FindHeroes(const hlo::Module& module, hlo::InstrId user, Bodies& bodies,
                             const std::vector<std::vector<int64_t>>& outputs);

}  // namespace stowplan::check
