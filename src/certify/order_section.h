// SPDX-License-Identifier: Apache-2.0
// A computation of an order certificate: a problem on plain numbers, an order of its nodes, and a
// bound with its proof.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace stowplan::certify {

struct Life {
  int64_t size, begin;  // -1: in use from the start
  bool lasts, is_capped;
  std::vector<size_t> touches;  // ascending, with `begin`
};

struct Overwrite {
  size_t node, output, operand;
};

struct Flow {
  size_t from;
  int64_t to;  // -1: the end
  int64_t bytes;
};

struct Section {
  std::string word, name;
  std::vector<int64_t> inner, least;               // by node
  std::set<std::pair<size_t, size_t>> edges;       // (earlier, later)
  std::vector<std::vector<size_t>> before, after;  // by node
  std::vector<Life> lives;
  std::vector<Overwrite> overwrites;
  std::vector<size_t> order;
  std::optional<int64_t> given, limit, load, bound, witness;
  bool is_searched = false;
  std::vector<Flow> flows, spared, backs;
};

// While nodes run one after the other.
struct Load {
  int64_t bytes = 0;
  int64_t capped = 0;  // in the small memory
};
// The largest of each. Denies an order that is not possible.
Load PeakOf(const Section& section, const std::vector<size_t>& order);

// Denies a bound that does not follow; says how it does.
std::string CheckOrderBound(const Section& section, int64_t nodes);

}  // namespace stowplan::certify
