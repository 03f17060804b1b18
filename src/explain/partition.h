// SPDX-License-Identifier: Apache-2.0
// What fills a moment: its bytes, split by one of several criteria.
//
// Every answer is a tree whose rows' own bytes add up exactly to those of the moment; a flat table
// is a tree of one level. Bytes that a criterion does not apply to get a row with a name in
// parentheses: "(no source)", "(parameters)", "(padding)".
//
//     jit(step)                  total 96, own 0
//     ├─ transpose(jvp())        total 64, own 64
//     └─ jvp()                   total 32, own 32
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/moment.h"
#include "explain/picture.h"

namespace stowplan::explain {

enum class By : uint8_t {
  kValue,      // one row for each value
  kSource,     // file:line of the user's own code
  kStack,      // all frames, outermost first
  kOpName,     // the parts of op_name
  kParameter,  // the parts of the parameter's path
  kKind,       // Kind, and padding separately
  kFootprint,  // kinds of what is live, then everything that is not: partitions the footprint
};
inline constexpr size_t kBys = 7;
[[nodiscard]] std::string_view Name(By by);  // "op_name"
[[nodiscard]] std::optional<By> FindBy(std::string_view name);
// Whether the answer is a tree of more than one level.
[[nodiscard]] bool IsTree(By by);

struct Row {
  std::string name;       // of this level: "jvp()", "['w']", "train.py:42 step"
  uint32_t parent = 0;    // row 0 is the root, and its own parent
  uint32_t depth = 0;     // 0: the root
  int64_t own = 0;        // bytes of this row alone
  int64_t total = 0;      // including all rows below it
  int64_t values = 0;     // how many own a byte of `total`
  bool is_other = false;  // named in parentheses: the criterion does not apply
  report::ValueId value;  // kValue: which
  FrameId frame;          // kSource, kStack: which
  FrameId library;  // kSource: where most of it is, if that is another line; none: nowhere else
  friend bool operator==(const Row&, const Row&) = default;
};

struct Partition {
  By by = By::kValue;
  int64_t time = 0;
  std::optional<int64_t> space;
  // In pre-order; children by descending total, then by name, those in parentheses after their
  // equals. Row 0 is the whole. Rows without bytes are left out.
  std::vector<Row> rows;

  [[nodiscard]] int64_t total() const { return rows.empty() ? 0 : rows[0].total; }
};

// Has the requirements of MomentAt.
[[nodiscard]] Partition PartitionOf(const Picture& picture, const Moment& moment, By by);

// Rows with no bytes of their own and one child are joined with it: a/b/c. The separator of the
// names: "/" for op_name, nothing for a parameter's path, " > " for stacks.
[[nodiscard]] Partition Folded(const Partition& partition);
[[nodiscard]] std::string_view Joint(By by);

// The rows that a table of `limit` rows shows: the largest totals, each with all rows above it, in
// pre-order; 0: all. `rest` is the sum of the own bytes of what is not shown.
struct TopRows {
  std::vector<uint32_t> rows;
  int64_t rest = 0;
  int64_t hidden = 0;  // how many rows are not shown
};
[[nodiscard]] TopRows Largest(const Partition& partition, size_t limit);

// "(parameters)": the row of a value that the criterion does not apply to; empty if it applies.
[[nodiscard]] std::string_view RowOfOthers(const Picture& picture, report::ValueId id, By by);
// "train.py:42 step", as rows of stacks are named.
[[nodiscard]] std::string FrameText(const Picture& picture, FrameId frame);

// The parts of a path, as rows have them: "jit(f)", "while", "mul" of jit(f)/while/mul; "params",
// "['w']", "[0]" of params['w'][0]. If XLA merged op_names with `;`, the first counts.
[[nodiscard]] std::vector<std::string_view> OpNameParts(std::string_view op_name);
[[nodiscard]] std::vector<std::string_view> ParameterParts(std::string_view path);

}  // namespace stowplan::explain
