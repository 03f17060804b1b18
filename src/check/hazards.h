// SPDX-License-Identifier: Apache-2.0
// Whether an instruction writes a byte of its result over a byte of an operand that it reads later.
//
// All back ends do this much: a loop goes over elements, in some order and several at a time; all
// that is read for a turn of the loop is read before anything of that turn is written. So the
// question is whether a byte that one turn writes is read by another one. Both are linear in the
// turns' numbers (index_map.h), so it is a question of integers (linear.h).
//
// What a turn is:
//   - Of an output: one of its elements. Where a dynamic-update-slice updates the operand that lies
//     there, only the elements of the slice are written, and each is a turn.
//   - Outputs whose elements correspond (the same dimensions, the same elements in the same order,
//     or the same tiles in the same places) are written by one loop. So is the slice of a
//     dynamic-update-slice with such an update; and a reduction of such an array reads each element
//     in that element's turn. Outputs beside a transposition are not (heroes.h).
//   - Whatever else is read, is read at any time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "check/heroes.h"
#include "check/reads.h"
#include "stowplan/hlo/module.h"

namespace stowplan::check {

enum class Hazard : uint8_t {
  kNone,     // proved
  kClash,    // two turns are known: one reads what the other writes
  kUnknown,  // neither is known
};

class Hazards {
 public:
  // `may_call`: whether a library's call may write this part of its result over that operand.
  using MayCall =
      std::function<bool(hlo::InstrId call, size_t operand, const std::vector<int64_t>& part)>;
  Hazards(const hlo::Module& module, hlo::InstrId user, MayCall may_call)
      : module_(module), user_(user), may_call_(std::move(may_call)), reads_(module, user) {}

  // The part `output` of the result over the part `input` of an operand, which begins `distance`
  // bytes behind it.
  [[nodiscard]] Hazard Find(size_t operand, const std::vector<int64_t>& input,
                            const std::vector<int64_t>& output, int64_t distance);

 private:
  // Turns: an expression for each dimension of an array, over variables of their own.
  struct Space {
    hlo::ShapeId like;
    std::vector<Expr> index;
  };
  // What is written, in which turns.
  struct Written {
    Space space;
    Access access;
  };
  struct Target {
    bool is_loop = true;   // or a call, a sort, ... whose order is its own
    bool is_kept = false;  // nothing is changed
    std::vector<Written> whole;
    std::vector<Written> slice;  // where only a slice is updated: one, else none
  };
  // What is read, in which turns.
  struct Section {
    bool has_turns = false;
    Space space;
    std::vector<ElementRead> reads;
    bool is_complete = true;
  };
  struct Aim {
    size_t operand = 0;
    const std::vector<int64_t>& input;
    int64_t distance = 0;
    // Where padding of the result would lie on the operand: all elements that there is room for.
    int64_t padded = 0;
  };

  [[nodiscard]] Target TargetOf(const std::vector<int64_t>& output, const Aim& aim);
  [[nodiscard]] bool IsAim(const Bodies::Source& source, const Aim& aim) const;
  [[nodiscard]] Space NewSpace(hlo::ShapeId like);
  // Of the outputs' own turns.
  [[nodiscard]] Section WholeSection(const Bodies::Source& source);
  [[nodiscard]] std::vector<Section> OwnSections(const Bodies::Source& source,
                                                 const Target& target);
  [[nodiscard]] std::vector<Section> CallSections(const Bodies::Source& call, const Aim& aim);
  // Of the update of a dynamic-update-slice; what else it reads is read at any time.
  void AddUpdateSections(const BodyNode& update, std::vector<Section>& sections);
  // What is read at any time, but for reductions of arrays like `loop`.
  [[nodiscard]] std::vector<Section> FreeSections(const Bodies::Source& source, const Space* loop);
  // Of another output. There may be two loops that it may be written by.
  struct Pairing {
    const std::vector<Written>* written = nullptr;
    std::vector<Section> sections;
  };
  [[nodiscard]] std::vector<Pairing> OtherSections(const std::vector<int64_t>& output,
                                                   const Target& target);
  [[nodiscard]] Pairing OutsideTheLoop(const Bodies::Source& source, const Target& target);
  [[nodiscard]] std::vector<std::vector<int64_t>> Outputs() const;
  // Whether what is read lies where such padding does. Tiles are written whole.
  [[nodiscard]] bool IsUnderPadding(const Written& written, const Access& read, const Aim& aim);

  // Expressions that are equal iff the turns are one; nothing when turns do not correspond.
  using Same = std::vector<std::pair<Expr, Expr>>;
  [[nodiscard]] std::optional<Same> Match(const Space& a, const Space& b) const;
  [[nodiscard]] Hazard Check(const std::vector<Written>& written,
                             const std::vector<Section>& sections, const Aim& aim);
  [[nodiscard]] Hazard CheckOne(const Written& written, const Section& section, const Access& read,
                                const Aim& aim);

  const hlo::Module& module_;
  hlo::InstrId user_;
  MayCall may_call_;
  Reads reads_;
  int64_t effort_ = 0;
};

}  // namespace stowplan::check
