// SPDX-License-Identifier: Apache-2.0
// Ways to run a program that is not compiled yet, for a compiler to try.
//
// `Search` (search.h) looks for the least memory in one model. Here the model is rough: the
// compiler will choose another order and compute other things inside of each other. So there are
// fewer and plainer plans: one price for the whole program, or one for its first part and another
// for the rest, with and without the values that are handed on where the program is narrow. They
// are found in a fraction of the time, and some that the model does not like are kept, too.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fit/search.h"
#include "fit/task.h"

namespace stowplan::fit {

struct PlanOptions {
  double most_cost = 0;  // extra; no plan costs more
  std::function<bool()> should_stop;
};

struct Plan {
  Point point;
  uint32_t set = 0;  // which values were kept: 0 none, then more and more
  double price = 0;  // of a byte
  bool is_mixed = false;
  bool is_on_front = false;  // no plan is cheaper and needs less, in this model
};
// By rising cost; the first is the given sequence.
std::vector<Plan> FindPlans(const Task& task, const PlanOptions& options);

}  // namespace stowplan::fit
