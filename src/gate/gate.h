// SPDX-License-Identifier: Apache-2.0
// Rules for figures of memory: budgets, growth against a base, and a lock file.
//
//     budget    bytes <= budget
//     growth    bytes <= base + max(growth, tolerance), each of them bytes or a part of the base
//     lock      the same, with the base from a file that is changed on purpose
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stowplan::gate {

// Bytes that a module takes in one memory space; absent: in all of them together.
struct Figure {
  std::string module;
  std::optional<int64_t> space;
  int64_t bytes = 0;
  friend bool operator==(const Figure&, const Figure&) = default;
};

// An amount: bytes, or a part of something.
struct Amount {
  int64_t bytes = 0;
  int64_t millionths = 0;  // 10000 is one percent
  // The larger of both, of `base`; as much as there is room for.
  [[nodiscard]] int64_t Of(int64_t base) const;
};
// "1%", "0.25%"; nothing if it is not a percentage from 0 to 1000000.
[[nodiscard]] std::optional<Amount> ParsePercent(std::string_view text);

struct Budget {
  enum class Of : uint8_t { kEach, kOne, kAll };
  Of of = Of::kEach;  // each memory space on its own, one of them, all together
  int64_t space = 0;  // kOne
  int64_t bytes = 0;
};

enum class Rule : uint8_t { kBudget, kGrowth, kLock };
[[nodiscard]] std::string_view Name(Rule rule);

enum class Outcome : uint8_t {
  kPassed,
  kBreach,   // too much
  kMissing,  // not in the lock file: also a breach
  kNew,      // has no base
  kLess,     // so much less than the lock that the lock is out of date
  kGone,     // only in the base or in the lock
};
[[nodiscard]] std::string_view Name(Outcome outcome);
[[nodiscard]] bool IsBreach(Outcome outcome);

struct Verdict {
  Rule rule = Rule::kBudget;
  Outcome outcome = Outcome::kPassed;
  std::string module;
  std::optional<int64_t> space;
  int64_t bytes = 0;
  std::optional<int64_t> base;  // kGrowth, kLock
  int64_t limit = 0;
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

struct Growth {
  Amount most;
  Amount tolerance;
};

[[nodiscard]] std::vector<Verdict> CheckBudgets(const std::vector<Figure>& figures,
                                                const std::vector<Budget>& budgets);

// Figures of all memory spaces together are left out. In the order of `figures`, then those that
// are gone.
[[nodiscard]] std::vector<Verdict> CheckGrowth(const std::vector<Figure>& base,
                                               const std::vector<Figure>& figures,
                                               const Growth& growth, Rule rule);

}  // namespace stowplan::gate
