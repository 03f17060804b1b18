// SPDX-License-Identifier: Apache-2.0
// The packer: your own buffers in, offsets out. It knows nothing of HLO; this header is all of it.
//
//     offset ▲
//          6 │     ┌───────┐         Each buffer has a size and is alive in [start, end).
//            │     │   b   │         a and b are both alive at time 2, so one lies above the other;
//          3 │ ┌───┴───┬───┴───┐     c starts as a ends and may take its place.
//            │ │   a   │   c   │
//          0 └─┴───────┴───────┴──▶ time
//              0   2   4   6   8
//
//     #include "stowplan/pack.h"
//
//     stowplan::pack::Problem problem;
//     problem.buffers.push_back({.size = 3, .start = 0, .end = 4});  // buffer 0
//     problem.buffers.push_back({.size = 3, .start = 2, .end = 6});  // buffer 1
//     problem.buffers.push_back({.size = 3, .start = 4, .end = 8, .alignment = 2});
//     problem.pins.push_back({.buffer = 0, .offset = 0});
//     const auto answer = stowplan::pack::Solve(problem);
//     if (!answer) return std::cerr << stowplan::Render(answer.error()), 1;
//     std::cout << answer->plan.height << " bytes, " << Name(answer->status) << '\n';
//     for (const int64_t offset : answer->plan.offsets) std::cout << offset << '\n';
//
// Most problems have only buffers. Rarer properties are kept in tables beside them, by buffer
// number: gaps, pins, hints, groups (aliases), pairs that stay apart, pools.
//
// No function here throws, and none trusts its input: a problem that makes no sense is an error
// that names the buffer and says what is wrong with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stowplan/base/diagnostic.h"

namespace stowplan::pack {

// What to call the buffers in messages. The strings are stored one after the other, so that a
// million names take a few bytes each.
class Names {
 public:
  Names() = default;
  Names(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) Add(name);
  }
  // All strings together must be smaller than 4 GiB.
  void Add(std::string_view name) {
    text_ += name;
    ends_.push_back(static_cast<uint32_t>(text_.size()));
  }
  // Memory that is reserved but never used costs nothing, because it is never touched.
  void Reserve(size_t count, size_t bytes) {
    ends_.reserve(count);
    text_.reserve(bytes);
  }

  [[nodiscard]] bool empty() const { return ends_.empty(); }
  [[nodiscard]] size_t size() const { return ends_.size(); }
  // Valid until the next Add.
  [[nodiscard]] std::string_view operator[](size_t k) const {
    const size_t begin = k == 0 ? 0 : ends_[k - 1];
    return std::string_view(text_).substr(begin, ends_[k] - begin);
  }

 private:
  std::string text_;
  std::vector<uint32_t> ends_;
};

// The problem.

struct Buffer {
  int64_t size = 0;   // 0 or more
  int64_t start = 0;  // alive in [start, end), which is not empty
  int64_t end = 0;
  int64_t alignment = 1;  // its offset is a multiple of this; need not be a power of two
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
  std::string name;      // no two are the same
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
  // Sorted by buffer, then by time; those of one buffer do not overlap and lie within its life.
  std::vector<Gap> gaps;
  std::vector<Spot> pins;   // sorted by buffer: where it must lie
  std::vector<Spot> hints;  // sorted by buffer: a plan to start from, or parts of one
  // Aliases: the buffers of a group have one offset (and one pool), and may share bytes while both
  // are alive. Each buffer is in one group at most.
  std::vector<std::vector<uint32_t>> groups;
  // Pairs that share no byte, whenever they are alive.
  std::vector<std::pair<uint32_t, uint32_t>> apart;
  // Empty: one memory, as large as needed.
  std::vector<Pool> pools;
  // Sorted by buffer. A buffer without a row may be in any pool, and prefers the first.
  std::vector<PoolChoice> choices;
  friend bool operator==(const Problem&, const Problem&) = default;
};

// Whether the problem makes sense: the first mistakes, up to kMaxErrors, each with the buffer it is
// in; none in a sound problem. `names` are all or none: without any, buffers are called by their
// numbers. Solve and CheckPlan look by themselves.
Diagnostics CheckProblem(const Problem& problem, const Names& names = {});

// The answer.

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

enum class Status : uint8_t {
  kOptimal,     // no plan is lower
  kFeasible,    // lower ones may exist, down to the bound
  kInfeasible,  // proved: no plan fits the capacity
  kUndecided,   // neither a plan within the capacity nor a proof
};
std::string_view Name(Status status);

struct Answer {
  Status status = Status::kUndecided;
  // The lowest found. With kInfeasible and kUndecided it is above the capacity, and with pools
  // empty.
  Plan plan;
  LoadBound load;
  int64_t bound = 0;  // no plan is lower than this: the load, or more if that was proved
  // If the bound is above the load: buffers that by themselves need as much, in order.
  std::vector<uint32_t> witness;
};

// Solving.

struct SolveOptions {
  std::optional<int64_t> capacity;  // stop at the first plan that fits; 0 or more
  uint64_t seed = 1;
  int threads = 1;           // 1 to 1024; without should_stop, the plan is the same for any number
  std::string_view solver;   // one of SolverNames() alone; empty: all, as they are needed
  int64_t effort = 1 << 18;  // nodes of the exact search, all together
  // Called from time to time; true ends the search with the best plan so far. Without it, the
  // answer depends only on the problem and the other options.
  std::function<bool()> should_stop;
  // Called with each better plan.
  std::function<void(const Plan& plan, int64_t bound)> on_plan;
};

std::vector<std::string_view> SolverNames();

// Fails with CheckProblem's mistakes, or if an option makes no sense. That nothing fits is no
// error: see Answer::status.
Result<Answer> Solve(const Problem& problem, const SolveOptions& options = {},
                     const Names& names = {});

// Checking. Shares nothing with the solvers.

// The first complaints about a plan, from anywhere; none when
// - no two buffers that are alive at once share a byte that both need, unless they are in one
//   group,
// - offsets are aligned, and those of pinned buffers are their pins,
// - a group has one offset, and pairs that must be apart share no byte, at any time,
// - each buffer is in a pool that it may be in, and within its capacity,
// - the height is right: the highest end of a buffer, in the last pool where there are pools.
// A problem that makes no sense has no plan: then the complaints are its mistakes.
std::vector<std::string> CheckPlan(const Problem& problem, const Plan& plan,
                                   const Names& names = {});

}  // namespace stowplan::pack
