// SPDX-License-Identifier: Apache-2.0
#include "diff/diff.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/checked_math.h"
#include "base/radix_sort.h"
#include "diff/moments.h"
#include "explain/moment.h"
#include "explain/partition.h"

namespace stowplan::diff {

using explain::Moment;
using explain::Picture;
using explain::Share;
using report::ValueId;

namespace {

// Kinds do not count: they say how much is known of a value, and all that is allocated has its use.
bool HasSameValues(const Diff& diff) {
  const Counts& counts = diff.counts;
  return counts.only_a == 0 && counts.only_b == 0 && counts.resized == 0 &&
         counts.other_space == 0 &&
         std::ranges::all_of(diff.totals, [](const Total& total) { return total.a == total.b; });
}

bool HasSameTotals(const SpaceDiff& space) {
  return space.a.bytes == space.b.bytes && space.footprint_a == space.footprint_b;
}

}  // namespace

bool Diff::is_empty() const {
  return HasSameValues(*this) && std::ranges::all_of(spaces, HasSameTotals);
}

namespace {

// The sums of terms go over all values, overlapping or not.
Result<bool> CheckSizes(const Picture& picture) {
  int64_t sum = 0;
  for (const report::Value& value : picture.report->values.rows()) {
    if (value.allocation.is_none()) continue;
    const std::optional<int64_t> next = CheckedAdd(sum, value.size);
    if (!next || *next > INT64_MAX / 2) {
      const report::Report& report = *picture.report;
      return Fail(report.sources.empty() ? report.name : report.sources[0]->name(),
                  "the sizes of its values do not fit in 62 bits together");
    }
    sum = *next;
  }
  return true;
}

// Which of two programs comes first, by all that a diff looks at: no matter which one is called A.
std::strong_ordering OrderOf(const Picture& a, const Picture& b) {
  const std::span<const report::Value> mine = a.report->values.rows();
  const std::span<const report::Value> theirs = b.report->values.rows();
  if (const auto order = mine.size() <=> theirs.size(); order != 0) return order;
  const auto key = [](const report::Value& value, const explain::ValueFact& fact) {
    return std::tuple(value.start, value.end, value.size, value.offset, value.allocation.index,
                      value.shape, fact.op_name);
  };
  for (size_t i = 0; i < mine.size(); ++i) {
    const auto order = key(mine[i], a.values[i]) <=> key(theirs[i], b.values[i]);
    if (order != 0) return order;
  }
  return std::strong_ordering::equal;
}

class Differ {
 public:
  Differ(const Picture& a, const Picture& b) : a_(a), b_(b) {}

  Diff Run() {
    diff_.match = MatchValues(a_, b_);
    diff_.has_peak = a_.peak && b_.peak;
    if (diff_.has_peak) {
      b_times_ = SameTimes(a_, b_, diff_.match.b_of_a);
      a_times_ = SameTimes(b_, a_, diff_.match.a_of_b);
      is_a_first_ = OrderOf(a_, b_) <= 0;
    }
    std::set<int64_t> colors;
    for (const Picture* picture : {&a_, &b_}) {
      for (const report::Allocation& allocation : picture->report->allocations.rows())
        colors.insert(allocation.color);
    }
    AddSpace(std::nullopt);
    if (colors.size() == 1) {  // all together are this one
      SpaceDiff only = diff_.spaces[0];
      only.space = *colors.begin();
      diff_.spaces.push_back(std::move(only));
    } else {
      for (const int64_t color : colors) AddSpace(color);
    }
    AddTotals();
    Count();
    if (diff_.is_empty()) {
      for (SpaceDiff& space : diff_.spaces) {
        space.changes.clear();
        space.terms.fill(0);
      }
    }
    return std::move(diff_);
  }

 private:
  static report::Peak PeakOf(const report::TruePeak& peaks, std::optional<int64_t> space) {
    if (!space) return peaks.all;
    const auto found =
        std::ranges::lower_bound(peaks.spaces, *space, {}, &report::SpacePeak::color);
    return found == peaks.spaces.end() || found->color != *space ? report::Peak{} : found->peak;
  }

  static int64_t AllocatedBytes(const Picture& picture, std::optional<int64_t> space) {
    int64_t bytes = 0;
    const auto add = [&](const explain::Space& one) {
      for (const report::AllocationId id : one.allocations)
        bytes += picture.report->allocations[id].size;
    };
    if (!space) {
      std::ranges::for_each(picture.spaces, add);
    } else if (const explain::Space* found = picture.FindSpace(*space); found != nullptr) {
      add(*found);
    }
    return bytes;
  }

  void AddSpace(std::optional<int64_t> space) {
    SpaceDiff& out = diff_.spaces.emplace_back();
    out.space = space;
    if (!diff_.has_peak) {
      out.footprint_a.bytes = AllocatedBytes(a_, space);
      out.footprint_b.bytes = AllocatedBytes(b_, space);
      return;
    }
    out.a = PeakOf(*a_.peak, space);
    out.b = PeakOf(*b_.peak, space);
    Moment mine = explain::MomentAt(a_, out.a.time, space);
    Moment theirs = explain::MomentAt(b_, out.b.time, space);
    if (!space) AddKinds(mine, theirs);
    Choose(out, mine, theirs);
    out.time_a = mine.time;
    out.time_b = theirs.time;
    Compare(mine, theirs, out);
    out.terms[static_cast<size_t>(Term::kPeakMoved)] =
        (out.b.bytes - theirs.bytes) - (out.a.bytes - mine.bytes);
    AddFootprint(out);
  }

  // Both are peaks; one of them becomes the same moment as the other. The larger peak stays; of
  // equal ones that which is closer to the other program's at the same moment; else anything that
  // does not depend on which program is A.
  void Choose(SpaceDiff& out, Moment& mine, Moment& theirs) const {
    const auto same_in_a = [&] { return SameMoment(theirs, a_, a_times_, diff_.match.a_of_b); };
    const auto same_in_b = [&] { return SameMoment(mine, b_, b_times_, diff_.match.b_of_a); };
    if (out.a.bytes != out.b.bytes) {
      out.is_at_b = out.b.bytes > out.a.bytes;
      if (out.is_at_b) {
        mine = same_in_a();
      } else {
        theirs = same_in_b();
      }
      return;
    }
    Moment in_a = same_in_a();
    Moment in_b = same_in_b();
    out.is_at_b = in_a.bytes != in_b.bytes ? in_a.bytes > in_b.bytes : !is_a_first_;
    if (out.is_at_b) {
      mine = std::move(in_a);
    } else {
      theirs = std::move(in_b);
    }
  }

  void Compare(const Moment& mine, const Moment& theirs, SpaceDiff& out) {
    // In the order of the tables. There may be many memory spaces, so nothing here is as long as
    // the program.
    const auto by_value = [](std::vector<Share> shares) {
      RadixSort(shares, [](const Share& share) { return uint64_t{share.value.index}; });
      return shares;
    };
    const std::vector<Share> a_shares = by_value(mine.shares);
    std::vector<bool> is_paired(a_shares.size());
    const auto find = [&](ValueId value) {
      const auto found = std::ranges::lower_bound(a_shares, value, {}, &Share::value);
      const bool is_there = found != a_shares.end() && found->value == value;
      return is_there ? static_cast<size_t>(found - a_shares.begin()) : a_shares.size();
    };
    for (const Share& share : by_value(theirs.shares)) {
      const ValueId partner = diff_.match.a_of_b[share.value.index];
      const size_t row = partner.is_none() ? a_shares.size() : find(partner);
      if (row != a_shares.size() && !is_paired[row]) {
        AddBoth(a_shares[row], share, out);
        is_paired[row] = true;
        continue;
      }
      Term term =
          TermOf(a_, partner, IsCopy(b_, share.value), Term::kNew, Term::kLonger, out.space);
      if (term == Term::kLonger && IsDonationChanged(partner, share.value))
        term = Term::kSharingLost;
      Add(term, share.bytes, partner, share.value, out);
    }
    for (size_t i = 0; i < a_shares.size(); ++i) {
      if (is_paired[i]) continue;
      const ValueId value = a_shares[i].value;
      const ValueId partner = diff_.match.b_of_a[value.index];
      Term term = TermOf(b_, partner, IsCopy(a_, value), Term::kGone, Term::kShorter, out.space);
      if (term == Term::kShorter && IsDonationChanged(value, partner)) term = Term::kSharingWon;
      Add(term, -a_shares[i].bytes, value, partner, out);
    }
  }

  // Of a value that is live on one side only; `partner` is of the other one.
  static Term TermOf(const Picture& other, ValueId partner, bool is_copy, Term alone, Term timed,
                     std::optional<int64_t> space) {
    if (partner.is_none()) return is_copy ? Term::kCopies : alone;
    const report::Value& value = other.report->values[partner];
    if (space && other.report->allocations[value.allocation].color != *space) return Term::kSpace;
    return timed;
  }

  [[nodiscard]] bool IsDonationChanged(ValueId a, ValueId b) const {
    const explain::Kind was = a_.fact(a).kind;
    const explain::Kind is = b_.fact(b).kind;
    return (was == explain::Kind::kDonated && is == explain::Kind::kParameter) ||
           (was == explain::Kind::kParameter && is == explain::Kind::kDonated);
  }

  void AddBoth(const Share& a, const Share& b, SpaceDiff& out) {
    const int64_t a_size = a_.report->values[a.value].size;
    const int64_t b_size = b_.report->values[b.value].size;
    const int64_t padding = b_.fact(b.value).padding - a_.fact(a.value).padding;
    const int64_t plain = b_size - a_size - padding;
    const int64_t sharing = (a_size - a.bytes) - (b_size - b.bytes);
    Add(plain > 0 ? Term::kGrown : Term::kShrunk, plain, a.value, b.value, out);
    Add(Term::kPadding, padding, a.value, b.value, out);
    Add(sharing > 0 ? Term::kSharingLost : Term::kSharingWon, sharing, a.value, b.value, out);
  }

  static void Add(Term term, int64_t bytes, ValueId a, ValueId b, SpaceDiff& out) {
    if (bytes == 0) return;
    out.changes.push_back({.term = term, .bytes = bytes, .a = a, .b = b});
    out.terms[static_cast<size_t>(term)] += bytes;
  }

  void AddFootprint(SpaceDiff& out) const {
    out.footprint_a = explain::FootprintAt(a_, out.a.time, out.space);
    out.footprint_b = explain::FootprintAt(b_, out.b.time, out.space);
    const auto set = [&](Term term, int64_t explain::Footprint::* part) {
      out.terms[static_cast<size_t>(term)] = out.footprint_b.*part - out.footprint_a.*part;
    };
    set(Term::kDead, &explain::Footprint::dead);
    set(Term::kFragmentation, &explain::Footprint::fragmentation);
    set(Term::kAlignment, &explain::Footprint::alignment);
    set(Term::kUntimed, &explain::Footprint::untimed);
    set(Term::kThreadLocal, &explain::Footprint::thread_local_bytes);
  }

  static Use UseOf(const report::Allocation& allocation) {
    if (allocation.is_thread_local) return Use::kThreadLocal;
    if (allocation.parameter) return allocation.is_maybe_live_out ? Use::kDonated : Use::kParameter;
    if (allocation.is_constant) return Use::kConstant;
    return allocation.is_maybe_live_out ? Use::kOutput : Use::kTemporary;
  }

  void AddTotals() {
    std::map<std::pair<int64_t, Use>, std::pair<int64_t, int64_t>> sums;
    for (const report::Allocation& allocation : a_.report->allocations.rows())
      sums[{allocation.color, UseOf(allocation)}].first += allocation.size;
    for (const report::Allocation& allocation : b_.report->allocations.rows())
      sums[{allocation.color, UseOf(allocation)}].second += allocation.size;
    for (const auto& [key, sum] : sums) {
      if (sum.first == 0 && sum.second == 0) continue;
      diff_.totals.push_back(
          {.space = key.first, .use = key.second, .a = sum.first, .b = sum.second});
    }
  }

  void AddKinds(const Moment& mine, const Moment& theirs) {
    std::array<KindTotal, explain::kKinds + 1> rows;
    for (size_t k = 0; k < explain::kKinds; ++k)
      rows[k].name = explain::Name(static_cast<explain::Kind>(k));
    rows.back().name = "padding";
    const auto add = [&](const Picture& picture, const Moment& moment, int64_t KindTotal::* side) {
      for (const Share& share : moment.shares) {
        rows[static_cast<size_t>(picture.fact(share.value).kind)].*side +=
            share.bytes - share.padding;
        rows.back().*side += share.padding;
      }
    };
    add(a_, mine, &KindTotal::a);
    add(b_, theirs, &KindTotal::b);
    for (const KindTotal& row : rows) {
      if (row.a != 0 || row.b != 0) diff_.kinds.push_back(row);
    }
  }

  void Count() {
    for (size_t i = 0; i < a_.values.size(); ++i) {
      const report::Value& value = a_.report->values[ValueId(i)];
      if (!IsMatched(*a_.report, value)) continue;
      const ValueId partner = diff_.match.b_of_a[i];
      if (partner.is_none()) {
        ++diff_.counts.only_a;
        continue;
      }
      const report::Value& other = b_.report->values[partner];
      ++diff_.counts.pairs;
      if (value.size != other.size) ++diff_.counts.resized;
      if (a_.report->allocations[value.allocation].color !=
          b_.report->allocations[other.allocation].color)
        ++diff_.counts.other_space;
    }
    for (size_t i = 0; i < b_.values.size(); ++i) {
      if (IsMatched(*b_.report, b_.report->values[ValueId(i)]) && diff_.match.a_of_b[i].is_none())
        ++diff_.counts.only_b;
    }
  }

  const Picture& a_;
  const Picture& b_;
  Diff diff_;
  std::vector<SameTime> b_times_;  // by time of A
  std::vector<SameTime> a_times_;  // by time of B
  bool is_a_first_ = true;
};

}  // namespace

Result<Diff> DiffOf(const Picture& a, const Picture& b) {
  for (const Picture* picture : {&a, &b}) {
    STOWPLAN_TRY([[maybe_unused]] const bool ok, CheckSizes(*picture));
  }
  return Differ(a, b).Run();
}

}  // namespace stowplan::diff
