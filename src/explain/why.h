// SPDX-License-Identifier: Apache-2.0
// Why a value is alive: what made it, what reads it, what holds it until its end, and what lies
// around it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "explain/picture.h"
#include "live/analysis.h"

namespace stowplan::explain {

struct UseAt {
  std::string_view name;
  OpId op;  // none: not on the time line
  int64_t operand = 0;
  int64_t time = -1;  // -1: not known
};

// What holds the value until its end.
enum class Holder : uint8_t {
  kLastUse,    // the one that reads it last
  kLiveOut,    // it is a part of the result
  kParameter,  // it belongs to the caller
  kLoop,       // it is carried until the loop ends
  kCaller,     // it is returned to, or lent by, the instruction that runs its computation
  kSuccessor,  // before its last use, the next value of the same buffer takes its place
  kNobody,     // nothing reads it: it is alive while it is computed
  kUnknown,    // no file has the uses or the live range
};
inline constexpr size_t kHolders = 8;
// "the one that reads it last"
[[nodiscard]] std::string_view Describe(Holder holder);

// Why a value is visible, or lies, where another one is.
enum class AliasRule : uint8_t {
  kTuple,        // an element of a tuple, or taken out of one
  kBitcast,      // the same bytes in another shape
  kLoop,         // the state of a loop has one place
  kArgument,     // the argument of a called computation
  kResult,       // the result of a called computation, or of a branch
  kInPlace,      // the instruction writes into its operand
  kDonated,      // an output is computed in a donated parameter
  kAsync,        // the start and the done of one operation
  kHandedOn,     // handed on unchanged
  kReusedPlace,  // the planner's choice: it is computed where an operand dies
};
inline constexpr size_t kAliasRules = 10;
// "the state of a loop has one place"
[[nodiscard]] std::string_view Describe(AliasRule rule);

struct Alias {
  // Another value in the same place; none: this value, visible at another position.
  report::ValueId value;
  std::string where;  // "tuple.3{1}"
  AliasRule rule = AliasRule::kHandedOn;
};

struct Why {
  report::ValueId value;
  std::vector<UseAt> uses;  // by time; those without one last
  Holder holder = Holder::kUnknown;
  OpId held_by;                // kLastUse, kLoop, kCaller: the op at the end
  report::ValueId next_value;  // kSuccessor
  std::vector<Alias> aliases;
  std::optional<int64_t> parameter;  // the number of the parameter that it lies in
  bool is_donated = false;

  // Neighbours; none if there are none. In space: the nearest values alive at the same time.
  report::ValueId below;
  report::ValueId above;
  // In time: the value that last occupied some of its bytes before it, and the first that does
  // after it.
  report::ValueId before;
  report::ValueId after;
};

// With an analysis of the picture's module, rules are certain; without one (null), they are
// inferred from the report. Linear in the values.
[[nodiscard]] Why WhyAlive(const Picture& picture, const Analysis* analysis, report::ValueId id);

// The same for all values, in the order of the table, but without neighbours: near linear, as long
// as few values lie in the very same place.
[[nodiscard]] std::vector<Why> WhysAlive(const Picture& picture, const Analysis* analysis);

}  // namespace stowplan::explain
