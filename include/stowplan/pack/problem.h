// SPDX-License-Identifier: Apache-2.0
// Storage allocation on plain numbers: buffers with sizes and times, and offsets to choose.
//
//     offset ▲
//          3 │ ┌───────┐           b must lie above or below a, since both are alive at time 2;
//          2 │ │   b   │ ┌─────┐   c may take b's place
//          1 │ └─────┬─┴─┤  c  │
//          0 │   ┌ a ┴───┴─────┘
//            └───────────────────▶ time
//
// Most problems have only buffers. Rarer properties are kept separately, by buffer number.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace stowplan::pack {

struct Buffer {
  int64_t size = 0;
  int64_t start = 0;  // alive in [start, end)
  int64_t end = 0;
  int64_t alignment = 1;  // its offset is a multiple of this
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

// Within [start, end) the buffer needs only its bytes [low, high); none when these are equal. A
// buffer that is alive at separate times has such gaps between them.
struct Gap {
  uint32_t buffer = 0;
  int64_t start = 0;
  int64_t end = 0;
  int64_t low = 0;
  int64_t high = 0;
  friend bool operator==(const Gap&, const Gap&) = default;
};

// A buffer and an offset: where it must lie, or where it might.
struct Spot {
  uint32_t buffer = 0;
  int64_t offset = 0;
  friend bool operator==(const Spot&, const Spot&) = default;
};

// A separate memory, with offsets from 0 on. What does not fit spills to the next pool.
struct Pool {
  std::string name;
  int64_t capacity = 0;  // in bytes
  friend bool operator==(const Pool&, const Pool&) = default;
};

// The pools that a buffer may be in, the preferred one first.
struct PoolChoice {
  uint32_t buffer = 0;
  std::vector<uint32_t> pools;
  friend bool operator==(const PoolChoice&, const PoolChoice&) = default;
};

struct Problem {
  std::vector<Buffer> buffers;
  std::vector<Gap> gaps;    // by buffer and time; disjoint and within the buffer's lifetime
  std::vector<Spot> pins;   // by buffer
  std::vector<Spot> hints;  // by buffer: a plan to start from, or parts of one
  // Buffers that share an offset (and a pool) and may be alive together; each is in at most one
  // group.
  std::vector<std::vector<uint32_t>> groups;
  // Pairs that share no byte, whenever they are alive.
  std::vector<std::pair<uint32_t, uint32_t>> apart;
  // Empty: one memory, as large as needed.
  std::vector<Pool> pools;
  std::vector<PoolChoice> choices;  // by buffer; others may be in any pool, the first preferred
  friend bool operator==(const Problem&, const Problem&) = default;
};

struct Plan {
  std::vector<int64_t> offsets;  // by buffer
  std::vector<uint32_t> pools;   // by buffer; empty without pools
  int64_t height = 0;            // the end of the highest buffer; with pools, of the last pool
  friend bool operator==(const Plan&, const Plan&) = default;
};

// A lower bound on every plan: the bytes that are needed at one moment.
struct LoadBound {
  int64_t bytes = 0;
  int64_t time = 0;  // the first moment with that load
  friend bool operator==(const LoadBound&, const LoadBound&) = default;
};

// Needs a sound problem (CheckProblem of check.h).
LoadBound FindLoadBound(const Problem& problem);

// From `time` on, this many bytes are needed.
struct LoadStep {
  int64_t time = 0;
  int64_t bytes = 0;
  friend bool operator==(const LoadStep&, const LoadStep&) = default;
};

// The load over time, all pools together; the last step goes down to 0.
std::vector<LoadStep> FindLoads(const Problem& problem);

}  // namespace stowplan::pack
