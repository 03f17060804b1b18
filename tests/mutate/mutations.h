// SPDX-License-Identifier: Apache-2.0
// Small changes to a plan or to its program, each of which can be taken back.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"

namespace stowplan::mutate {

// The same numbers everywhere, for one seed.
class Chance {
 public:
  explicit Chance(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}
  // Below `count`, which is not 0.
  size_t Pick(size_t count) {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return static_cast<size_t>((state_ >> 11U) % count);
  }

 private:
  uint64_t state_;
};

enum class Kind {
  kMove,          // one value, to another offset
  kMoveTogether,  // all values of one place
  kShrink,        // an allocation
  kSwap,          // the places of two values
  kShorten,       // a live range
  kDropAlias,     // a donation
  kAddAlias,
  kReorder,    // two neighbours in a schedule
  kNoCopy,     // a copy becomes a bitcast
  kColor,      // of an allocation
  kConstants,  // one constant over another
};
inline constexpr Kind kKinds[] = {Kind::kMove,     Kind::kMoveTogether, Kind::kShrink,
                                  Kind::kSwap,     Kind::kShorten,      Kind::kDropAlias,
                                  Kind::kAddAlias, Kind::kReorder,      Kind::kNoCopy,
                                  Kind::kColor,    Kind::kConstants};
std::string_view Name(Kind kind);

// Changes both in place. Nothing when there is nothing to change; otherwise what takes it back.
// `words` is what was changed.
std::optional<std::function<void()>> Mutate(Kind kind, Chance& chance, hlo::Module& module,
                                            report::Report& report, std::string& words);

}  // namespace stowplan::mutate
