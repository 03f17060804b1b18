// SPDX-License-Identifier: Apache-2.0
// Which copies XLA would leave out: those after which nothing needs the old bytes any more.
//
// XLA first adds copies and then removes them, one after the other, before it schedules: a
// copy may go when the values of its two buffers then still follow each other, whichever order the
// schedule takes. On CPU, that is judged by dependencies alone.
//
//     {p, w'}   p a donated parameter, w' the copy of the output into it
//     {p'}      the copy of the parameter that everybody reads
//     {w}       the output
//
// p' goes when all its readers come before w'; w' goes when all readers of p come before w.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assign/rules.h"
#include "live/analysis.h"
#include "stowplan/hlo/module.h"

namespace stowplan::advise {

// What is known of the order when copies are judged.
enum class KnownOrder : uint8_t {
  kDependencies,  // CPU, GPU: copies come before the schedule
  kSchedule,      // TPU: copies come after it
};

struct Elision {
  std::vector<hlo::InstrId> removed;
  // A copy that stays, and why: `reader` may come after `writer` has begun.
  struct Kept {
    hlo::InstrId copy;
    hlo::InstrId reader;
    hlo::InstrId writer;
  };
  std::vector<Kept> kept;
};

// Tries to remove `copies`, all from the entry computation, in this order, until no more can go.
[[nodiscard]] Elision ElideCopies(const hlo::Module& module, const Analysis& analysis,
                                  const Rules& rules, KnownOrder known,
                                  std::span<const hlo::InstrId> copies);

}  // namespace stowplan::advise
