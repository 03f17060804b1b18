// SPDX-License-Identifier: Apache-2.0
// The program, executed on a symbolic memory.
//
// Correct means: for every run of the program (branches taken either way, loops run any number of
// times), for every instruction of the run and every part of its operands that it reads, the bytes
// at the place where the plan puts this part hold what the program's meaning says is there.
//
// The meaning. A part of an instruction's result is new (the instruction makes it) or handed on
// (the part of an operand: get-tuple-element, tuple, bitcast, copy-done, ...). New parts have a
// content of their own, but for copies, whose content is that of their operand, for tables of
// pointers, whose content is the places of their elements, and for constants, whose content is
// their literal. A loop's state has one content an iteration ("some state"), unless it never
// changes (congruence.h); what branches return has one, unless all return the same.
//
// The memory. Each byte of each allocation holds one byte of one content, or is lost. At the start
// parameters and constants are there. An instruction reads all parts of its operands, then writes
// its new parts. A loop is entered with all bytes lost that its condition or body may write, and
// with its state in its place; the state must be in its place at the entry and after the body.
// After a conditional all bytes are lost that a branch may have written, but for the result, which
// must be in its place at the end of every branch. An asynchronous operation reads and writes at
// its start; what it read and wrote must be as it was at its done. At the end, the result, the
// constants and all parameters that are not donated must be in their places.
//
// Not covered: what an instruction does inside (its own scratch memory, whether its code is right),
// what runs on other cores and streams but for the asynchronous operations that the program names,
// how values get into fast memory other than by the program's own copies, the bytes behind an
// array's padding, programs that never end.
#pragma once

#include <cstdint>

#include "base/checked_math.h"
#include "check/check.h"
#include "check/meaning.h"
#include "check/memory.h"
#include "check/places.h"
#include "check/trees.h"
#include "stowplan/base/diagnostic.h"

namespace stowplan::check {

struct Plan {
  const hlo::Module& module;
  const report::Report& report;
  const Trees& trees;
  const Places& places;
  const std::vector<int64_t>& sizes;                     // by row
  const std::vector<std::vector<hlo::InstrId>>& orders;  // by computation

  [[nodiscard]] int64_t SizeAt(uint32_t row) const { return sizes[row]; }
  // The bytes of the part `row`, if it lies there.
  [[nodiscard]] Bytes BytesAt(PlaceId id, uint32_t row) const {
    const Place& place = places.rows[id];
    return {place.allocation, place.offset, SaturatingAdd(place.offset, SizeAt(row))};
  }
  // A constant that is in memory before the program starts.
  [[nodiscard]] bool IsLoaded(hlo::InstrId id) const;
};

class Trace;

// Adds to the verdict and, if there is one, to the trace.
Result<void> Execute(const Plan& plan, Verdict& verdict, Trace* trace);

}  // namespace stowplan::check
