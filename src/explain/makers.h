// SPDX-License-Identifier: Apache-2.0
// Which instruction a value is named after: the one that computed it, not those that hand it on.
//
//     forward  body:  p = softmax(...)                 <- names the whole stack
//                     stack = dynamic-update-slice(stack, p, i)
//     backward body:  p = dynamic-slice(stack, i)      <- so is this slice
//
// A scan keeps what the backward pass needs in stacks. The compiler's words for a stack are those
// of the loop, which is no help: one line of the program then owns most of the memory. So names are
// looked up through tuples, loops, branches, calls and fusions, through slices that a loop writes
// into a stack and does not read, and through slices that it reads from an array which it does not
// change.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan::explain {

struct Maker {
  const hlo::Metadata* words = nullptr;  // null: nothing is known
  // If the value is a stack: how many slices it has; else 0.
  int64_t slices = 0;
};

class Makers {
 public:
  explicit Makers(const hlo::Module& module);

  // Of a part of what an instruction makes.
  [[nodiscard]] Maker Of(hlo::InstrId id, std::span<const int64_t> index) const;
  // An instruction's own words, else those of what it makes; null: nothing is known.
  [[nodiscard]] const hlo::Metadata* WordsOf(hlo::InstrId id) const;

 private:
  struct Part {
    hlo::InstrId id;
    std::vector<int64_t> index;
  };
  // What the body of a loop does with one element of its state.
  struct Element {
    uint32_t reads = 0;
    bool is_unchanged = false;
  };

  void FindElements(hlo::InstrId loop);
  [[nodiscard]] const Element* ElementOf(hlo::InstrId parameter, int64_t number) const;
  // Where a part comes from that the instruction only hands on; nothing: it computes the part.
  [[nodiscard]] std::optional<Part> Behind(const Part& part, Maker& maker) const;
  [[nodiscard]] std::optional<Part> BehindParameter(const Part& part) const;
  [[nodiscard]] std::optional<Part> BehindFusion(const Part& part, Maker& maker) const;
  [[nodiscard]] std::optional<Part> BehindBranches(const Part& part) const;
  [[nodiscard]] std::optional<Part> BehindSlice(hlo::InstrId id, Maker& maker) const;
  // The same for what has no words of its own, and makes something of its operand.
  [[nodiscard]] std::optional<Part> Operand(const Part& part) const;
  [[nodiscard]] bool IsStacked(hlo::InstrId update) const;
  [[nodiscard]] bool IsUnstacked(hlo::InstrId slice) const;
  [[nodiscard]] bool IsReadTwice(hlo::InstrId id) const;
  // The element of a loop's state that an operand in its body is, maybe in another form, or with
  // other slices written; null if it is none. With `is_only_reader`, nothing else may read what is
  // on the way.
  [[nodiscard]] const Element* StateBehind(hlo::InstrId id, bool is_only_reader) const;
  [[nodiscard]] bool IsSameInOtherForm(hlo::InstrId id) const;
  // How many slices of b's shape fill a, along one dimension; 0: b is no such slice.
  [[nodiscard]] int64_t SlicesIn(hlo::InstrId a, hlo::InstrId b) const;

  const hlo::Module& module_;
  std::vector<hlo::InstrId> callers_;           // by computation: the first
  std::vector<uint32_t> readers_;               // by instruction: how often it is an operand
  std::vector<std::vector<Element>> elements_;  // by computation: of loops' bodies
};

}  // namespace stowplan::explain
