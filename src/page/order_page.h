// SPDX-License-Identifier: Apache-2.0
// What the order of a program's instructions costs, and what a better one saves.
#pragma once

#include <string>

#include "stowplan/plan.h"

namespace stowplan::page {

// "optimal", or how far above the best order it is at most.
std::string OrderProof(const OrderFacts& order);

// One sentence: what the module's order costs, or that no order is better.
std::string OrderSentence(const OrderFacts& order);

// The same about what is in use at once, if nothing was planned.
std::string GlanceSentence(const OrderFacts& order);

// `planned` has OrderFacts.
std::string OrderPage(const PlannedModule& planned);
std::string OrderJson(const PlannedModule& planned);

}  // namespace stowplan::page
