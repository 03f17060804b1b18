// SPDX-License-Identifier: Apache-2.0
// Which parts of loops' states are always equal, and which never change.
//
// A value is a row of Trees where it is made, or a phi: a part of a loop's state, or of what
// branches return. All other rows hand on one of these. At first all phis of a loop that begin
// equal are taken to stay equal, and not to change at all. Each pass over the program's loops and
// branches takes back what does not follow from what is still assumed, until everything does: the
// greatest fixed point. So elements that change places with each other, that are copied back and
// forth, or that pass through branches by different ways are known to be equal if they are.
//
//     loop state (a, b), both at first x; body: (if c then b else a, a)     a and b are always x
//
// This only says what to expect. The executor proves it: it compares the contents at the end of
// each body with those at its head. See Executor::EndIteration.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "check/meaning.h"
#include "check/trees.h"
#include "stowplan/hlo/module.h"

namespace stowplan::check {

// Of a loop, by part of its state. Tables do not change, as far as this goes.
struct LoopParts {
  std::vector<uint8_t> changes;   // not always what it was at first
  std::vector<uint32_t> classes;  // the same number: if they begin equal, they are always equal
};

class Congruence {
 public:
  Congruence(const hlo::Module& module, const Trees& trees) : module_(module), trees_(trees) {}

  // The whole module is solved when the first loop is asked for, in near linear time.
  const LoopParts& Of(hlo::InstrId loop);
  // False when the module needs too many passes: then nothing is assumed that it hides.
  [[nodiscard]] bool is_exact() const { return is_exact_; }

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX;
  // Work for each phi, on average; programs of XLA need about five.
  static constexpr int64_t kLooksPerPhi = 64;

  // Who runs a computation. One that runs for several reasons has values of its own for each.
  struct Caller {
    hlo::InstrId instruction;
    uint32_t index = 0;  // in called_by
    uint32_t count = 0;
  };
  struct Event {
    enum class Kind : uint8_t { kHead, kBack, kJoin };
    Kind kind;
    hlo::InstrId instruction;
  };

  void Solve();
  void FindCallers();
  // The module's loops and branches in an order of execution.
  void FindEvents();
  void Flatten(hlo::CompId root);
  [[nodiscard]] bool RunsOnlyFor(hlo::CompId id, hlo::InstrId caller) const {
    return callers_[id.index].count == 1 && callers_[id.index].instruction == caller;
  }

  // --- Where rows come from ---

  // The row that `row` hands on: one where a value is made, or a phi. Without recursion, since
  // calls and tuples may nest as deep as they like.
  uint32_t OriginOf(uint32_t row);
  // The same if the origins of all rows that it needs are known; the others go to `needed_`.
  std::optional<uint32_t> TryOriginOf(uint32_t row);
  std::optional<uint32_t> Known(uint32_t row);
  std::optional<uint32_t> OriginOfParameter(uint32_t row, hlo::InstrId id, uint32_t part);
  std::optional<uint32_t> OriginOfWhile(uint32_t row, hlo::InstrId id, uint32_t part);
  // What a computation that others run, too, returns as `part`: an argument, or `row`.
  std::optional<uint32_t> Through(uint32_t row, uint32_t part, hlo::CompId callee,
                                  std::span<const hlo::InstrId> arguments);
  std::optional<uint32_t> OriginOfCall(uint32_t row, uint32_t part, hlo::InstrId caller,
                                       std::span<const hlo::InstrId> arguments);
  uint32_t OriginOfConstant(uint32_t row, hlo::InstrId id);
  [[nodiscard]] uint32_t RootRow(hlo::CompId id) const {
    return trees_.top(module_.computations[id].root);
  }
  const std::vector<Source>& SourcesOf(hlo::InstrId id);

  // --- What phis are worth ---

  struct Loop {
    hlo::InstrId instruction;
    LoopParts parts;
    // By phi: the part, and the origins of what it is at first and after the body.
    struct Phi {
      uint32_t part = 0;
      uint32_t first = 0;
      uint32_t back = 0;
    };
    std::vector<Phi> phis;
    std::vector<uint32_t> initial;  // by phi: the value at first, in this pass
    uint32_t top = 0;               // the row of the body's parameter
    uint32_t class_count = 1;
  };
  struct Join {
    uint32_t top = 0;
    std::vector<uint32_t> parts;
    std::vector<uint32_t> inputs;   // of each part, by branch
    std::vector<uint8_t> is_apart;  // of each part: no input says what it is worth elsewhere
    size_t branches = 0;
  };
  Loop MakeLoop(hlo::InstrId id);
  Join MakeJoin(hlo::InstrId id);
  // Of a loop whose body is not its own.
  void FindByOrigins(hlo::InstrId id, LoopParts& parts);
  void SetHead(Loop& loop);
  // Whether something was taken back.
  bool CloseLoop(Loop& loop);
  bool Refine(Loop& loop);
  void Merge(const Join& join);
  void GiveUp();

  const hlo::Module& module_;
  const Trees& trees_;
  bool is_solved_ = false;
  bool is_exact_ = true;
  std::vector<Caller> callers_;      // by computation
  std::vector<hlo::CompId> owners_;  // by instruction
  std::vector<Event> events_;
  std::map<hlo::InstrId, Loop> loops_;
  std::map<hlo::InstrId, Join> joins_;
  std::map<hlo::InstrId, std::vector<Source>> sources_;
  std::map<std::pair<hlo::ShapeId, std::string_view>, uint32_t> constants_;
  std::vector<uint32_t> origins_;  // by row, or kUnknown
  std::vector<uint32_t> needed_;   // rows whose origins are looked for
  std::vector<uint32_t> values_;   // by row of an origin: a row that is worth the same
  int64_t looks_ = 0;              // that are left
};

}  // namespace stowplan::check
