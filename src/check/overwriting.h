// SPDX-License-Identifier: Apache-2.0
// Whether an instruction may write a part of its result over an operand that it reads.
//
// It may when each byte is read for the last time before it is written. What is known of all back
// ends: loops go over the elements of the result in some order, several at a time, and read for one
// element what that element is made of, all of it before they write. So an operand may be written
// over when element i of it is read for element i of the result only, where i counts in the order
// of memory. Instructions that are made to work in place (dynamic-update-slice, scatter, sort,
// all-reduce, ...) may do so on the operand that they update. docs/check.md has the whole rule.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "check/trees.h"
#include "stowplan/hlo/module.h"

namespace stowplan::check {

class Overwriting {
 public:
  Overwriting(const hlo::Module& module, const Trees& trees) : module_(module), trees_(trees) {}

  // The part `output` of what `user` returns, over the part `input` of its k-th operand; both begin
  // at the same byte.
  [[nodiscard]] bool IsSafe(hlo::InstrId user, size_t k, uint32_t input, uint32_t output);

 private:
  struct Read {
    hlo::InstrId user;
    uint32_t operand = 0;
  };
  // Who reads what in a fusion's body, of all that its result needs.
  struct Body {
    std::vector<std::vector<Read>> reads;  // by instruction, from the body's first on
  };
  const Body& BodyOf(hlo::CompId id);
  // The custom call in a fusion's body of which an output of the fusion is a part; none: something
  // else makes it.
  struct Maker {
    hlo::InstrId call;
    uint32_t part = 0;
  };
  [[nodiscard]] Maker MakerOf(hlo::CompId body, std::vector<int64_t> index) const;
  [[nodiscard]] bool IsDeclared(hlo::InstrId user, size_t k, uint32_t input, uint32_t output) const;
  // The instruction in a fusion's body that makes the output.
  [[nodiscard]] hlo::InstrId TargetOf(hlo::InstrId fusion, uint32_t output) const;
  // Whether no array of what it returns has more than one element.
  [[nodiscard]] bool ReturnsSingleElements(hlo::InstrId fusion) const;
  [[nodiscard]] bool IsFusionSafe(hlo::InstrId fusion, size_t k, uint32_t input, uint32_t output);

  const hlo::Module& module_;
  const Trees& trees_;
  std::map<hlo::CompId, Body> bodies_;
};

}  // namespace stowplan::check
