// SPDX-License-Identifier: Apache-2.0
// A module in numbers: how much of everything there is, and where the bytes are.
//
// Bytes are counted for each array that an instruction makes, as if none shared memory with
// another: the sum is what flows through the program, not what it needs at once. Instructions that
// only pass arrays on (tuples, get-tuple-element, while, ...) make none, and neither do
// instructions inside fusions, whose values live in registers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"
#include "stowplan/target/target.h"

namespace stowplan {

struct StatsOptions {
  Target target;
  size_t largest = 10;  // how many of the largest shapes are listed
};

struct Stats {
  struct OpcodeCount {
    std::string opcode;
    int64_t count = 0;
    friend bool operator==(const OpcodeCount&, const OpcodeCount&) = default;
  };
  struct TypeBytes {
    hlo::ElementType type = hlo::ElementType::kInvalid;
    int64_t arrays = 0;
    int64_t bytes = 0;
    friend bool operator==(const TypeBytes&, const TypeBytes&) = default;
  };
  struct ShapeBytes {
    hlo::ShapeId shape;
    int64_t bytes = 0;   // of one array
    int64_t arrays = 0;  // how many have this shape
    hlo::InstrId first;  // an instruction that makes one
    friend bool operator==(const ShapeBytes&, const ShapeBytes&) = default;
  };

  int64_t computations = 0;
  int64_t fused_computations = 0;  // among them, those that are the bodies of fusions
  int64_t instructions = 0;
  int64_t parameters = 0;  // of the entry computation
  int64_t parameter_bytes = 0;
  int64_t result_bytes = 0;
  int64_t aliased_outputs = 0;       // that reuse a parameter's memory
  std::vector<OpcodeCount> opcodes;  // by descending count, then by name
  std::vector<TypeBytes> types;      // by descending bytes, then by name
  std::vector<ShapeBytes> largest;   // by descending bytes, then in the order of the program
  int64_t total_bytes = 0;           // of all arrays
  int64_t unbounded_arrays = 0;      // whose size is not known; not counted above

  friend bool operator==(const Stats&, const Stats&) = default;
};

// Fails when a size does not fit in 64 bits, at the instruction with that shape. Requires a module
// with valid ids, as readers produce. Linear time except for sorting.
[[nodiscard]] Result<Stats> ComputeStats(const hlo::Module& module, const StatsOptions& options);

}  // namespace stowplan
