// SPDX-License-Identifier: Apache-2.0
// One time line for the whole program: computations are placed where they are called.
//
//     while body and condition stand before their while       t   instruction
//                                                              0   p
//                                                              1     i.cond       condition
//                                                              2     less
//                                                              3     i.body       body
//                                                              4     next
//                                                              5   while
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/orders.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

inline constexpr int64_t kNoTime = -1;

struct Schedule {
  struct Span {
    int64_t start = kNoTime;  // kNoTime: not on the time line
    int64_t end = kNoTime;    // one past the last instruction
  };
  std::vector<hlo::InstrId> sequence;  // by time
  std::vector<int64_t> times;          // by instruction; kNoTime inside embedded computations
  std::vector<Span> spans;             // by computation
  // By computation: the async-start and async-done between which it runs concurrently with the rest
  // of the program; none otherwise.
  struct Async {
    hlo::InstrId start;
    hlo::InstrId done;
  };
  std::vector<Async> asyncs;

  [[nodiscard]] int64_t end() const { return static_cast<int64_t>(sequence.size()); }
  [[nodiscard]] int64_t time(hlo::InstrId id) const { return times[id.index]; }
};

// Fails when a computation on the time line has no schedule.
Result<Schedule> Flatten(const hlo::Module& module, const Orders& orders);

}  // namespace stowplan
