// SPDX-License-Identifier: Apache-2.0
// Exact search: does a plan of a given height exist?
//
// The state is a lower bound of each item's offset; there are no heights and no holes. Items are
// put down from below: one that lies lowest where it is alive, and under which nothing else fits,
// either lies exactly at its bound, and then all that is alive with it must lie above it; or it
// rests on something not yet put down, and its bound jumps to the lowest top it could rest on.
//
// Each bound remembers the decisions that it follows from. Where the items alive at one moment can
// no longer be stacked under the ceiling, the decisions behind their bounds are the conflict, and
// decisions that are not in it are jumped over.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "pack/solve/core.h"
#include "pack/solve/graph.h"

namespace stowplan::pack {

// In which section to go on.
enum class SectionRule : uint8_t {
  kLowest,       // of those with the lowest floor, the one with the fewest items on it
  kLowestTight,  // of those, little slack counts too
  kFewest,       // the one with the fewest items on its floor, wherever that is
};
// Which item on its floor to put down first.
enum class ChoiceRule : uint8_t {
  kLargest,
  kLargestArea,
  kFlushLongest,  // one that ends where walls stand; of these the longest
  kFlushArea,     // of these the one of the largest area
};

struct SearchConfig {
  SectionRule section = SectionRule::kLowest;
  ChoiceRule choice = ChoiceRule::kLargest;
  double noise = 0;  // how much chance there is in the choices
  uint64_t seed = 0;
};

// Solve times are heavy-tailed: a configuration finds a plan soon or hardly ever. So all have a
// small try each, then a larger one with some chance in it, and so on.
SearchConfig ConfigureSearch(size_t k, int round, uint64_t seed);

enum class SearchResult : uint8_t { kFound, kProved, kGaveUp };

// Prepared once for a core, asked for several heights.
class Search {
 public:
  Search(const Core& core, const Graph& graph);
  ~Search();
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  // kProved: there is no plan. Looks at `nodes` at most.
  SearchResult Run(int64_t capacity, const SearchConfig& config, int64_t& nodes,
                   const std::function<bool()>& should_stop);
  // After kFound: by item.
  [[nodiscard]] std::span<const int64_t> offsets() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace stowplan::pack
