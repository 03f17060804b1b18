// SPDX-License-Identifier: Apache-2.0
// Random modules, written as XLA would write them: the same seed gives the same text.
#pragma once

#include <cstdint>
#include <string>

namespace stowplan {

struct GeneratorOptions {
  int depth = 2;          // how deep computations call each other
  int instructions = 12;  // about so many in each computation
};

// The long form of a scheduled or unscheduled module of nested while, conditional, call, fusion and
// async operations over arrays, tuples and tokens. It is well-formed, and prints back as it is.
std::string RandomModule(uint32_t seed, const GeneratorOptions& options = {});

}  // namespace stowplan
