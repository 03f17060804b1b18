// SPDX-License-Identifier: Apache-2.0
// An allocation as an instance for packers, in MiniMalloc's CSV.
//
// A row is a block of memory that must stay together; times are half-open. XLA's live ranges are
// not: a value that is computed in the place of its operands begins in the step in which these end.
// Values that meet in a byte at a moment must share their place, and are one row:
//
//     byte 1 |       s1  s1,w   w   w      id,lower,upper,size,gaps,offset
//     byte 0 |  s0   s0  s0,w   w   w      7,0,5,2,0-1@0:1,0
//              -----------------------
//        time    0    1    2    3   4
//
// If a row is smaller than its block for a while, a gap says so: `0-1@0:1` uses only the bytes [0,
// 1) of the block in the times [0, 1), and a gap without @ uses none. So the offsets that XLA chose
// are a valid plan. (A gap has one window: when two pieces of a row are in use, what lies between
// them counts as used, too. XLA's plans leave that free.)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/from_proto.h"
#include "stowplan/report/report.h"

namespace stowplan::report {

struct PackingGap {
  int64_t lower = 0;
  int64_t upper = 0;  // exclusive
  // Bytes of the row that are still in use; empty if none are.
  int64_t window_lower = 0;
  int64_t window_upper = 0;
  friend bool operator==(const PackingGap&, const PackingGap&) = default;
};

struct PackingRow {
  int64_t id = 0;  // number of the value in it that begins first
  int64_t lower = 0;
  int64_t upper = 0;  // exclusive
  int64_t size = 0;
  int64_t offset = 0;  // where XLA put it
  std::vector<PackingGap> gaps = {};
  friend bool operator==(const PackingRow&, const PackingRow&) = default;
};

struct PackingInstance {
  std::vector<PackingRow> rows;  // by time, then by id
  int64_t capacity = 0;          // what XLA's plan takes
  int64_t values_left_out = 0;   // because the report does not say when they live
};

// Values without bytes are left out. `shared` may be empty: reports do not say which values XLA
// keeps in one buffer, but the module's proto does. If such values live at separate times, they are
// one row with a gap. Nearly linear except for sorting, for plans whose values overlap no more than
// XLA's do.
PackingInstance BuildPackingInstance(const Report& report, AllocationId allocation,
                                     std::span<const SharedBuffer> shared = {});

enum class PackingOffsets : uint8_t { kLeaveOut, kWrite };

// `id,lower,upper,size[,gaps][,offset]`, with gaps only when there are some.
std::string WriteMinimalloc(const PackingInstance& instance, PackingOffsets offsets);

}  // namespace stowplan::report
