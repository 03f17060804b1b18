// SPDX-License-Identifier: Apache-2.0
// Exact search: does a plan of a given height exist?
//
// The state is a lower bound of each buffer's offset; there are no heights and no holes. Buffers
// are put down from below: one that lies lowest where it is alive, and under which nothing else
// fits, either lies exactly at its bound, and then all that is alive with it must lie above it; or
// it rests on something not yet put down, and its bound jumps to the lowest top it could rest on.
//
// Each bound remembers the decisions that it follows from. Where the buffers alive at one moment
// can no longer be stacked under the ceiling, the decisions behind their bounds are the conflict,
// and decisions that are not in it are jumped over.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "stowplan/pack/problem.h"

namespace stowplan::pack {

// Where to go on.
enum class SectionRule : uint8_t { kLeastSlack, kLowestFloor, kFewestChoices };
// Which buffer of it to put down first.
enum class ChoiceRule : uint8_t { kLongest, kLargest, kLargestArea, kTightest };

struct SearchConfig {
  SectionRule section = SectionRule::kLeastSlack;
  ChoiceRule choice = ChoiceRule::kLongest;
  double noise = 0;  // how much chance there is in the choices
  uint64_t seed = 0;
};

enum class SearchResult : uint8_t { kFound, kNone, kGaveUp };

// Prepared once for a problem, asked for several heights. Takes memory as buffers that are alive
// together do: for problems of some thousand buffers.
class Search {
 public:
  explicit Search(const Problem& problem);
  ~Search();
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  // kNone is a proof. Looks at `nodes` at most.
  SearchResult Run(int64_t capacity, const SearchConfig& config, int64_t& nodes,
                   const std::function<bool()>& should_stop);
  // After kFound.
  [[nodiscard]] Plan plan() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stowplan::pack
