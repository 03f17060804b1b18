// SPDX-License-Identifier: Apache-2.0
// What XLA's memory reports say about one module, from whichever of its files exist.
//
// A report has sections (assignment, value list, live ranges, usage), each from a file or a part of
// one. What no file says is absent, never zero. All sections share one table of values. A value is
// identified by the instruction and the index where it is defined, and by XLA's number if a file
// has it.
//
//     allocation 1: size 16777216, maybe-live-out:                                 Allocation
//      value: <34 fusion.10 @0> (size=14680064,offset=0): f32[8,128,3584]{2,1,0}   Value, its place
//     <34 fusion.10 @0>                                                            the value list
//      positions:                                                                  where it is seen
//       fusion.10
//      uses:                                                                       who reads it
//       tanh.3, operand 0
//         fusion.10{}:9-11                                                         its live range
//       Live ranges at 11 (peak):                                                  Peak
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/id.h"
#include "stowplan/base/source.h"
#include "stowplan/report/dialect.h"

namespace stowplan::report {

using ValueId = Id<struct ReportValueTag>;
using AllocationId = Id<struct ReportAllocationTag>;

// A place in a shape tree, as printed: `{1,0}`. `is_shown` is false if the file prints none,
// because the instruction is not a tuple.
struct Index {
  Range numbers;  // Report::ints
  bool is_shown = false;
};

// Where a value is: `name {0}`.
struct Position {
  std::string_view instruction;
  Index index;
};
// A reader of a value: `name, operand 2 {0}`.
struct Use {
  std::string_view instruction;
  int64_t operand = 0;
  Index index;
};

struct Value {
  int64_t number = -1;  // XLA's id; -1 when no file says it
  std::string_view instruction;
  Index index;
  bool is_phi = false;
  int64_t color = -1;  // -1: not said

  // The assignment: where it lies.
  AllocationId allocation;  // none when no file says it
  int64_t size = 0;
  int64_t offset = 0;
  std::string_view shape;  // with layout

  // The value list.
  bool is_listed = false;
  Range positions;                    // Report::positions; the first is the definition
  bool has_uses = false;              // false: the file does not have them
  Range uses;                         // Report::uses
  std::string_view instruction_text;  // `%x = f32[2]{0} add(...)`; empty when the dialect has none

  // The live range, both ends inclusive, as XLA prints them.
  bool has_range = false;
  int64_t start = 0;
  int64_t end = 0;
};

struct Allocation {
  int64_t number = 0;  // XLA's index
  int64_t size = 0;
  int64_t color = 0;
  std::optional<uint64_t> address;
  std::optional<int64_t> page;
  std::optional<int64_t> parameter;
  std::string_view parameter_shape;  // without layout
  Index parameter_index;
  std::optional<std::string_view> output_shape;  // without layout
  bool is_constant = false;
  bool is_thread_local = false;
  bool is_maybe_live_out = false;
  std::vector<ValueId> values;        // as listed
  std::vector<ValueId> other_colors;  // `reused by buffers of a different color`

  // XLA calls an allocation of no other kind a preallocated temp.
  [[nodiscard]] bool is_temp() const {
    return !parameter && !is_constant && !is_thread_local && !is_maybe_live_out;
  }
};

struct PeakRow {
  std::string_view instruction;
  Index index;
  int64_t bytes = 0;
};
// A line of the stack tree. Totals, percentages and remainders follow from the bytes that end at
// each node.
struct TreeNode {
  int depth = 0;  // 0: an entry computation
  std::string_view name;
  int64_t current = 0;
};

struct LiveRanges {
  int64_t end = 0;  // "max"
  std::vector<std::string_view> sequence;
  std::vector<ValueId> values;       // as listed
  std::optional<int64_t> peak_time;  // absent when XLA could not say
  std::vector<PeakRow> peak;
  bool has_tree = false;
  std::vector<TreeNode> tree;
  bool is_unbounded = false;    // "could not be determined due to unbounded dynamic shape"
  bool is_unavailable = false;  // "HloLiveRange not available"
};

// The usage report: for each allocation what lies at each offset. Everything but the order of ties
// follows from the assignment.
struct UsageShape {
  int64_t count = 1;
  std::string_view shape;  // without layout
};
struct UsageRow {
  int64_t offset = 0;
  int64_t value_count = 0;
  std::string_view size;           // human-readable: `14.1KiB`
  std::vector<UsageShape> shapes;  // as listed
};
struct UsageTable {
  int64_t allocation = -1;     // XLA's number; -1: the file does not say it (kSpaces)
  int64_t color = -1;          // -1: the file does not say it
  std::string_view head;       // `allocation 3: size 16.4KiB, constant:`; empty in kSpaces
  std::vector<UsageRow> rows;  // none for an allocation of one value, except in kSpaces
  int64_t hidden_rows = 0;     // small rows that the file leaves out
};
struct Usage {
  UsageReport kind = UsageReport::kSpaces;
  std::vector<UsageTable> tables;  // as listed
  std::string_view text;           // the file, to compare with what is computed
};

struct Report {
  std::string name;  // the module's, when known
  ReportDialect dialect;
  bool has_assignment = false;
  bool has_value_list = false;
  std::vector<ValueId> value_list;  // as listed
  std::optional<int64_t>
      said_total;  // of a value list; follows from the allocations if they are known
  Table<AllocationId, Allocation> allocations;
  Table<ValueId, Value> values;
  std::optional<LiveRanges> live_ranges;
  std::optional<Usage> usage;

  // Pools.
  std::vector<int64_t> ints;
  std::vector<Position> positions;
  std::vector<Use> uses;

  // What the texts are slices of.
  std::vector<std::shared_ptr<const Source>> sources;
  std::vector<std::shared_ptr<std::string>> made_texts;  // copies share them

  [[nodiscard]] std::span<const int64_t> numbers(const Index& index) const {
    return std::span<const int64_t>(ints).subspan(index.numbers.begin, index.numbers.count);
  }
  [[nodiscard]] std::span<const Position> positions_of(const Value& value) const {
    return std::span<const Position>(positions).subspan(value.positions.begin,
                                                        value.positions.count);
  }
  [[nodiscard]] std::span<const Use> uses_of(const Value& value) const {
    return std::span<const Use>(uses).subspan(value.uses.begin, value.uses.count);
  }
};

}  // namespace stowplan::report
