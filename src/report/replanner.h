// SPDX-License-Identifier: Apache-2.0
// The state of an assignment while it is made again from a report.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "assign/assignment.h"
#include "assign/heap.h"
#include "report/derive.h"
#include "report/replan.h"
#include "report/replan_computations.h"
#include "report/shapes.h"

namespace stowplan::report {

using OldId = AllocationId;
using NewId = stowplan::AllocationId;

class Replanner {
 public:
  // How often TPU compilers plan: once; or, where that takes more than the memory they may use, a
  // second time for space 0, after what they keep of the other spaces.
  enum class Attempt : uint8_t {
    kOnce,
    kKept,   // the second plan was not smaller, so all is kept
    kAgain,  // it was: largest first, by best fit
  };

  Replanner(Report report, const Rules& rules, Attempt attempt)
      : rules_(rules),
        attempt_(attempt),
        sweeps_(rules.order == AssignOrder::kEarliestFirst && attempt != Attempt::kAgain) {
    result_.report = std::move(report);
    is_guest_ = FindGuests(result_.report);
  }

  Result<Replan> Run() &&;

 private:
  Report& report() { return result_.report; }
  [[nodiscard]] const Report& report() const { return result_.report; }

  [[nodiscard]] std::string Write() const;

  void Differs(const std::string& message);
  [[nodiscard]] std::string FileName() const;
  [[nodiscard]] Diagnostics Refuse(std::string message) const;
  static std::string ShortNameOf(const Value& value);
  static std::string NameOf(const Value& value) { return "value " + ShortNameOf(value); }
  [[nodiscard]] bool IsPreset(const Allocation& allocation) const;
  // Whether the value is memory of the SparseCore, in its own memories or in HBM.
  [[nodiscard]] bool IsContext(const Value& value) const;
  void FindContexts();

  // Live ranges lie within the sequence, and whatever is packed has one.
  std::optional<Diagnostics> CheckRanges();

  // A value takes what its shape takes on the target; all values in one place take what the
  // largest does.
  std::optional<Diagnostics> DeriveSizes();

  // Offsets never exceed the sum of everything, aligned; when that fits, no later sum overflows.
  [[nodiscard]] std::optional<Diagnostics> CheckSum() const;

  // Places that are taken from the report lie within their allocations.
  std::optional<Diagnostics> CheckPlaces();

  // Whether all instructions on the time line belong to one computation: no line of the report says
  // what others do.
  [[nodiscard]] bool IsStraight() const;
  [[nodiscard]] bool HasAsyncComputations() const;
  [[nodiscard]] bool HasCalls() const;

  [[nodiscard]] bool HasAsyncOperations() const;
  std::optional<Diagnostics> DeriveRanges();
  struct LiveTime {
    int64_t start = 0;
    int64_t end = 0;
  };
  // By value, for programs of one computation: nothing for values that no instruction makes.
  [[nodiscard]] std::vector<std::optional<LiveTime>> RangesByUses() const;

  // The instruction that returns the program's result: the last position of that value.
  [[nodiscard]] std::string_view FindRoot(
      const std::unordered_map<std::string_view, int64_t>& times) const;

  [[nodiscard]] bool IsTuple(const Value& value) const { return value.shape.starts_with('('); }

  enum class Phase : uint8_t { kPreset, kGlobal, kHeap, kThreadLocal };
  // Among equals: the entry first, then other computations in the reverse order of their numbers.
  struct Rank {
    int64_t computation = 0;
    int64_t number = 0;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };
  // The position of an allocation in the order of creation.
  struct OrderKey {
    Phase phase = Phase::kPreset;
    int64_t time_or_color = 0;  // of heaps the color
    int64_t minus_size = 0;     // the largest first
    bool is_not_live_out = false;
    int64_t number = 0;  // of a value, or the color of a block that was placed before
    Rank rank;
    friend auto operator<=>(const OrderKey&, const OrderKey&) = default;
    // Whether a rule of the compiler puts this one first: by anything but the rank.
    [[nodiscard]] bool IsBefore(const OrderKey& other) const {
      OrderKey same = *this;
      same.rank = other.rank;
      return same < other;
    }
  };
  // Allocations as they were before temporaries were combined, in the order of their creation.
  struct Made {
    stowplan::Allocation allocation;
    OldId old;                                        // none for what temporaries were in
    std::vector<std::pair<ValueId, int64_t>> values;  // and offsets
    OrderKey key;
  };

  Rank RankOf(Phase phase, const Value& value);

  void AddMade(Phase phase, Made made, bool is_live_out);

  std::optional<Diagnostics> RebuildAllocations();

  // Whether it was kept from a first plan, so that it comes before what was planned again.
  [[nodiscard]] bool IsKept(int64_t color) const {
    return attempt_ != Attempt::kOnce && color != 0;
  }
  // Orders what no rule orders as the report has it.
  void TakeOrderOfEquals();
  // As an assignment whose temporaries are not combined yet; in the order of `made_`.
  [[nodiscard]] Assignment ToAssignment() const;

  // Tables of tuples have separate allocations until temporaries are combined; the rest is in the
  // heap of its memory space.
  void SplitTemporaries(OldId id, std::map<int64_t, std::vector<ValueId>>& heaps);

  // What happens when a value begins in a place in which another ends.
  enum class Handover : uint8_t {
    kInPlace,    // both are one buffer
    kTakenOver,  // the one gave its place away before the other began
    kUnknown,
  };
  [[nodiscard]] Handover HandoverOf(const Value& from, const Value& to) const;
  // By row of `order`, which is by time.
  struct Sharers {
    // The first row of those that it shares a place with. Values at one place took it over from
    // each other if each begins when the one before it ends, or belong to the same element of what
    // a loop or a branch hands on; otherwise they are there by coincidence.
    std::vector<uint32_t> first;
    std::vector<uint8_t> takes_over;
    int64_t unknown = 0;  // handovers of which the report does not tell what they are
  };
  [[nodiscard]] Sharers FindSharers(const std::vector<ValueId>& order, Handover unknown) const;
  // Calls unite(row, row) for those that belong to the same element.
  void UniteElements(const std::vector<ValueId>& order,
                     const std::function<void(uint32_t, uint32_t)>& unite) const;
  // Values that share a place become one group.
  HeapInput GroupsOf(const std::vector<ValueId>& values, Handover unknown, int64_t& unknowns);
  // Whether the report has all groups where the plan has them, but for where the heap begins.
  [[nodiscard]] bool IsAsInReport(const HeapInput& input, const HeapPlan& plan) const;

  void Pack(int64_t color, const std::vector<ValueId>& values);

  // Numbers the allocations as XLA does, and puts them into the report.
  std::optional<Diagnostics> Rewrite();

  // Keeps what is not derived about the report's temporaries, and reports whose size differs.
  void CompareSizes(Table<AllocationId, Allocation>& allocations);

  // Checks that no two values occupy the same bytes while both are alive. What one value leaves at
  // a time, another may take at that time.
  std::optional<Diagnostics> CheckOverlaps();

  void FindOverlaps(const Allocation& allocation, Diagnostics& found) const;

  void CompareFigures();

  // What the report does not say, where something differs from it.
  void NameMissing();

  const Rules& rules_;
  Attempt attempt_;
  bool sweeps_;  // space 0
  Replan result_;
  ShapeTexts shapes_;
  std::vector<int64_t> sizes_;           // by value
  std::vector<uint8_t> is_guest_;        // by value
  std::set<std::string_view> contexts_;  // instructions that hand work to the SparseCore
  std::vector<Made> made_;
  bool is_straight_ = true;
  std::optional<Computations> computations_;
  int64_t unknown_handovers_ = 0;  // in heaps that do not come out as they were
  bool is_order_taken_ = false;
};

}  // namespace stowplan::report
