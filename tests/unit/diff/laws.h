// SPDX-License-Identifier: Apache-2.0
// What holds for every pair of programs.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "diff/cause.h"
#include "diff/diff.h"

namespace stowplan::diff {

inline void CheckSums(const SpaceDiff& space) {
  const auto begin = space.terms.begin();
  const int64_t peak = std::accumulate(begin, begin + kPeakTerms, int64_t{0});
  EXPECT_EQ(peak, space.peak_change());
  EXPECT_EQ(std::accumulate(begin, space.terms.end(), int64_t{0}), space.footprint_change());
  Terms sums{};
  for (const Change& change : space.changes) {
    EXPECT_NE(change.bytes, 0);
    sums[static_cast<size_t>(change.term)] += change.bytes;
  }
  for (size_t i = 0; i < kPeakTerms - 1; ++i) EXPECT_EQ(sums[i], space.terms[i]);
}

inline void CheckOpposite(const SpaceDiff& one, const SpaceDiff& other) {
  EXPECT_EQ(one.a, other.b);
  EXPECT_EQ(one.b, other.a);
  EXPECT_EQ(one.time_a, other.time_b);
  EXPECT_EQ(one.time_b, other.time_a);
  for (size_t i = 0; i < kTerms; ++i) {
    const auto opposite = static_cast<size_t>(Opposite(static_cast<Term>(i)));
    EXPECT_EQ(one.terms[i], -other.terms[opposite]) << Name(static_cast<Term>(i));
  }
  const auto key = [](const Change& change) {
    return std::tuple(change.a.index, change.b.index, change.term, change.bytes);
  };
  std::vector<Change> turned;
  for (const Change& change : other.changes) {
    turned.push_back(
        {.term = Opposite(change.term), .bytes = -change.bytes, .a = change.b, .b = change.a});
  }
  std::vector<Change> straight = one.changes;
  std::ranges::sort(straight, {}, key);
  std::ranges::sort(turned, {}, key);
  EXPECT_EQ(straight, turned);
}

inline void CheckCauses(const SpaceDiff& space, const SpaceDiff& turned, const Diff& diff,
                        const Diff& back, const explain::Picture& a, const explain::Picture& b) {
  for (size_t g = 0; g < kGroups; ++g) {
    const auto group = static_cast<Group>(g);
    int64_t sum = 0;
    std::vector<int64_t> bytes;
    for (const Cause& cause : CausesOf(space, diff.match, a, b, group)) {
      sum += cause.bytes;
      bytes.push_back(cause.bytes);
      EXPECT_EQ(std::accumulate(cause.terms.begin(), cause.terms.end(), int64_t{0}), cause.bytes);
      int64_t parts = 0;
      for (const CausePart& part : cause.parts) parts += part.bytes;
      if (!cause.is_moved) {
        EXPECT_EQ(parts, cause.bytes);
      }
    }
    EXPECT_EQ(sum, space.peak_change());
    std::vector<int64_t> other;
    for (const Cause& cause : CausesOf(turned, back.match, b, a, group))
      other.push_back(-cause.bytes);
    std::ranges::sort(bytes);
    std::ranges::sort(other);
    if (group != Group::kTerm) {  // new and gone are two, but copies one
      EXPECT_EQ(bytes, other) << Name(group);
    }
  }
}

inline void CheckLaws(const explain::Picture& a, const explain::Picture& b) {
  const Result<Diff> diff = DiffOf(a, b);
  const Result<Diff> back = DiffOf(b, a);
  ASSERT_TRUE(diff && back);
  EXPECT_EQ(diff->match.b_of_a, back->match.a_of_b);
  EXPECT_EQ(diff->match.a_of_b, back->match.b_of_a);
  EXPECT_EQ(diff->is_empty(), back->is_empty());
  ASSERT_EQ(diff->spaces.size(), back->spaces.size());
  for (size_t i = 0; i < diff->spaces.size(); ++i) {
    if (diff->has_peak) CheckSums(diff->spaces[i]);
    CheckOpposite(diff->spaces[i], back->spaces[i]);
    CheckCauses(diff->spaces[i], back->spaces[i], *diff, *back, a, b);
  }
  ASSERT_EQ(diff->totals.size(), back->totals.size());
  for (size_t i = 0; i < diff->totals.size(); ++i) {
    EXPECT_EQ(diff->totals[i].a, back->totals[i].b);
    EXPECT_EQ(diff->totals[i].b, back->totals[i].a);
  }
  int64_t peak_a = 0;
  int64_t peak_b = 0;
  for (const KindTotal& kind : diff->kinds) {
    peak_a += kind.a;
    peak_b += kind.b;
  }
  EXPECT_EQ(peak_a, diff->spaces[0].a.bytes);
  EXPECT_EQ(peak_b, diff->spaces[0].b.bytes);
}

}  // namespace stowplan::diff
