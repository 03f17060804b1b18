// SPDX-License-Identifier: Apache-2.0
// Whether an instruction may write a part of its result over an operand that it reads.
//
// It may when each byte is read for the last time before it is written. Instructions that are made
// to work in place (dynamic-update-slice, scatter, sort, all-reduce, ...) may do so on the operand
// that they update. For all others, fusions above all, hazards.h decides. docs/check.md has the
// whole rule.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "check/hazards.h"
#include "check/trees.h"
#include "stowplan/hlo/module.h"

namespace stowplan::check {

class Overwriting {
 public:
  Overwriting(const hlo::Module& module, const Trees& trees) : module_(module), trees_(trees) {}

  // The part `output` of what `user` returns, over the part `input` of its k-th operand, which
  // begins `distance` bytes behind it.
  [[nodiscard]] Hazard Find(hlo::InstrId user, size_t k, uint32_t input, uint32_t output,
                            int64_t distance);

 private:
  // What an instruction is made for.
  enum class Purpose : uint8_t {
    kNone,       // nothing of the kind: it is a matter of its elements
    kInPlace,    // to write over this operand
    kElsewhere,  // to write over another one
  };
  [[nodiscard]] Purpose PurposeOf(hlo::InstrId user, size_t k, uint32_t input,
                                  uint32_t output) const;
  [[nodiscard]] bool IsElementOverElement(hlo::InstrId user, hlo::ShapeId from,
                                          hlo::ShapeId to) const;
  [[nodiscard]] bool IsDeclared(hlo::InstrId user, size_t k, uint32_t input, uint32_t output) const;

  const hlo::Module& module_;
  const Trees& trees_;
  hlo::InstrId last_;
  std::unique_ptr<Hazards> hazards_;  // of the last instruction
};

}  // namespace stowplan::check
