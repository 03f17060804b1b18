// SPDX-License-Identifier: Apache-2.0
// A second opinion on plans: runs a program on a concrete memory, beside a run without one.
//
// Every value is a hash of the instruction that made it and of what that instruction read; in
// memory lie the hashes of its bytes. A run is wrong when a read finds other bytes than those of
// the run without memory. Loops run a given number of times, branches are taken in turn. Memory is
// kept by stretches that no place of the plan cuts, so that gigabytes fit.
//
// Slow, simple, and written apart from src/check: nothing is shared but the module, the report and
// the sizes of shapes.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"
#include "stowplan/target/target.h"

namespace stowplan::mutate {

// Where a plan puts things; what a mutation changes.
struct Place {
  int allocation = -1;
  int64_t offset = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};
struct Key {
  uint32_t instruction = 0;
  std::vector<int64_t> index;
  friend auto operator<=>(const Key&, const Key&) = default;
};

// An instruction whose result part lies on an operand part: instruction, operand, part of it, part
// of the result, distance in bytes.
using Sharing = std::tuple<uint32_t, size_t, size_t, size_t, int64_t>;

enum class Opinion {
  kHarmless,
  kHarmful,
  kUnsure,  // an instruction writes over an operand, and it is not known whether it can
};

struct Judgement {
  Opinion opinion = Opinion::kHarmless;
  std::string reason;
  std::set<Sharing> sharing;  // that was met
};

// How many runs: of loops and branches there are more ways than can be tried.
enum class Effort { kUsual, kMuch };

// `accepted`: sharing that is known to be right, since XLA's own plan has it.
Judgement Judge(const hlo::Module& module, const report::Report& report, const Target& target,
                const std::set<Sharing>& accepted, Effort effort = Effort::kUsual);

}  // namespace stowplan::mutate
