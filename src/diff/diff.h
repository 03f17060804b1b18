// SPDX-License-Identifier: Apache-2.0
// What changed between two plans: the change of the true peak, and of the footprint, in terms that
// add up exactly.
//
// For each memory space, and for all of them together:
//
// 1. The moment. The larger of the two peaks is looked at. The other program has the same moment:
//    when it runs the same instruction (or, if it does not, as far from the ones before and
//    after as here; if these disagree, when its live bytes differ least). What the other
//    program's peak exceeds that moment by is `peak moved`.
//
//        A   ~~~~/\~~~~ peak          B   ~~~~~~~~~/\ peak, the larger
//            ~~~~~~~~~~/\ the same moment          ──
//        B's peak - A's peak = (B's peak - A at the same moment) + (A at that moment - A's peak)
//
// 2. The values. At a moment every live byte belongs to one value, the youngest on it
//    (explain/moment.h). A value has `size` bytes, of them `plain` without padding, and owns
//
//        own = plain + padding - shared
//
//    where `shared` are the bytes that a younger value on the same place owns. Values of both
//    programs are paired (diff/match.h). The difference of the two moments is the sum over pairs
//    and over values without a partner:
//
//        new, gone             has no partner: +own in B, -own in A
//        copies                the same, when it is made by a copy
//        grown, shrunk         live in both: plain(B) - plain(A)
//        padding               live in both: padding(B) - padding(A)
//        sharing lost, won     live in both: shared(A) - shared(B)
//        lives longer, shorter there is a partner, but live at this moment in one of them only: own
//        sharing lost, won     the same for a parameter that is donated in one of them only: an
//                              output took its place
//        memory space          the same, since the partner lies in another memory space
//
// 3. The rest. What the footprint takes beyond the peak (explain/footprint.h), each of both at its
//    own peak: dead, fragmentation, alignment, without live range, thread-local.
//
// If both have the same values, peaks and totals, only the order differs, which is not a change.
//
// The terms of 1 and 2 add up to the change of the peak; together with those of 3, they add up to
// the change of the footprint. Swapping the programs changes the sign of every term: new becomes
// minus gone, and so on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "diff/match.h"
#include "explain/footprint.h"
#include "explain/picture.h"
#include "report/peak.h"
#include "stowplan/base/diagnostic.h"

namespace stowplan::diff {

enum class Term : uint8_t {
  kNew,
  kGone,
  kCopies,
  kGrown,
  kShrunk,
  kPadding,
  kLonger,
  kShorter,
  kSharingLost,
  kSharingWon,
  kSpace,
  kPeakMoved,  // the last of the peak's
  kDead,
  kFragmentation,
  kAlignment,
  kUntimed,
  kThreadLocal,
};
inline constexpr size_t kTerms = 17;
inline constexpr size_t kPeakTerms = 12;
// "sharing lost"
[[nodiscard]] std::string_view Name(Term term);
// The corresponding term when the programs are swapped.
[[nodiscard]] Term Opposite(Term term);

using Terms = std::array<int64_t, kTerms>;  // by Term

// A part of the difference of the two moments.
struct Change {
  Term term = Term::kNew;
  int64_t bytes = 0;  // never 0
  report::ValueId a;  // none: only in B
  report::ValueId b;  // none: only in A
  friend bool operator==(const Change&, const Change&) = default;
};

struct SpaceDiff {
  std::optional<int64_t> space;  // a color; absent: all memory spaces together
  report::Peak a;
  report::Peak b;
  bool is_at_b = false;  // the moment is B's peak; otherwise A's
  // The moments that are compared: one is a peak, the other the same moment of the other program.
  int64_t time_a = 0;
  int64_t time_b = 0;
  explain::Footprint footprint_a;
  explain::Footprint footprint_b;
  Terms terms{};
  // All terms of the values, by pairs: in B's order of the table, then those that are gone.
  std::vector<Change> changes;

  [[nodiscard]] int64_t peak_change() const { return b.bytes - a.bytes; }
  [[nodiscard]] int64_t footprint_change() const { return footprint_b.bytes - footprint_a.bytes; }
};

// Whole allocations, by what they are for.
enum class Use : uint8_t {
  kParameter,
  kDonated,
  kConstant,
  kOutput,
  kTemporary,
  kThreadLocal,
};
inline constexpr size_t kUses = 6;
[[nodiscard]] std::string_view Name(Use use);
struct Total {
  int64_t space = 0;
  Use use = Use::kParameter;
  int64_t a = 0;
  int64_t b = 0;
  friend bool operator==(const Total&, const Total&) = default;
};

// Bytes live at each program's own peak, by kind; padding is separate.
struct KindTotal {
  std::string_view name;
  int64_t a = 0;
  int64_t b = 0;
};

// Values that have no partner or a different size, wherever they are.
struct Counts {
  int64_t pairs = 0;
  int64_t only_a = 0;
  int64_t only_b = 0;
  int64_t resized = 0;
  int64_t other_space = 0;
};

struct Diff {
  bool has_peak = false;  // both have live ranges; if not, `spaces` have only footprints
  Match match;
  // All together first, then by color; each space that either program has.
  std::vector<SpaceDiff> spaces;
  std::vector<Total> totals;  // by color and use; those that are 0 on both sides are left out
  std::vector<KindTotal> kinds;
  Counts counts;

  // Whether peaks, footprints and totals are the same, and every value has a partner of its size.
  [[nodiscard]] bool is_empty() const;
};

// Fails when the sizes of all values together do not fit in 62 bits. The result does not need the
// pictures. n log n in the values.
[[nodiscard]] Result<Diff> DiffOf(const explain::Picture& a, const explain::Picture& b);

}  // namespace stowplan::diff
