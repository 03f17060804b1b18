// SPDX-License-Identifier: Apache-2.0
// An executable's program after a change: another order, or instructions that run twice.
//
// The module and the thunks change together. A thunk of a copied instruction is a copy of that
// instruction's thunk; which value each of its slots holds follows from which part of its operands
// or results the original's slot was.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "executable/executable.h"
#include "live/analysis.h"
#include "stowplan/hlo/module.h"
#include "stowplan/plan.h"

namespace stowplan::repack {

// A slot lies `distance` bytes behind the begin of a part of what an instruction returns, or of
// what one of its operands does.
struct SlotSource {
  static constexpr uint32_t kResult = 0xffffffffU;
  hlo::InstrId instruction;
  uint32_t operand = kResult;
  uint32_t part = 0;  // offset in the shape's tree
  int64_t distance = 0;
};
// By slot of the executable. A slot may have several, which lie in the same place.
using SlotSources = std::vector<std::vector<SlotSource>>;

// `planned` is the executable's own plan, made by XLA's rules. Fails with a sentence if nothing is
// known to lie in a slot of a heap.
[[nodiscard]] std::expected<SlotSources, std::string> FindSources(
    const executable::Executable& executable, const PlannedModule& planned);

// These computations and those that they call.
[[nodiscard]] std::vector<hlo::CompId> WithCallees(const hlo::Module& module,
                                                   std::vector<hlo::CompId> found);

// Computations that were compiled into kernels of their callers: these run in the order that they
// had then.
[[nodiscard]] std::vector<hlo::CompId> FindCompiled(const executable::Executable& executable,
                                                    const hlo::Module& module);

struct Changed {
  std::shared_ptr<const hlo::Module> module;
  std::shared_ptr<const Analysis> analysis;
  std::vector<hlo::InstrId> origins;   // by row of the module: the row of the executable's module
  std::vector<uint8_t> is_copy;        // by row of the module
  executable::Program program;         // with the places of the original
  std::vector<uint32_t> slot_origins;  // by slot: the slot of the executable
  std::vector<hlo::InstrId> thunk_instructions;  // by thunk; none: not known
  int64_t copied_thunks = 0;
  int64_t moved_thunks = 0;
};

// The program as it is. `module` and `analysis` are those of the executable's module, in its own
// or another order.
[[nodiscard]] Changed Unchanged(const executable::Executable& executable,
                                std::shared_ptr<const hlo::Module> module,
                                std::shared_ptr<const Analysis> analysis);

// Thunks run in the order of the module's instructions, and copies of instructions get thunks.
// `original` is the executable's module. Fails with a sentence if an instruction has copies and a
// thunk that cannot be copied.
[[nodiscard]] std::expected<Changed, std::string> Change(const executable::Executable& executable,
                                                         const hlo::Module& original,
                                                         std::shared_ptr<const hlo::Module> module,
                                                         std::shared_ptr<const Analysis> analysis,
                                                         std::vector<hlo::InstrId> origins);

}  // namespace stowplan::repack
