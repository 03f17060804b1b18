// SPDX-License-Identifier: Apache-2.0
// A partition's tree, which is built from paths and sorted at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "explain/partition.h"

namespace stowplan::explain {

class TreeMaker {
 public:
  TreeMaker(const Moment& moment, By by);

  void Reserve(size_t rows) { rows_.reserve(rows + 1); }
  // Begins a path at the root, or where another one ended.
  void Begin(uint32_t row = 0) { at_ = row; }
  [[nodiscard]] uint32_t at() const { return at_; }
  // Each step returns the row that the path has reached.
  Row& Down(std::string_view name);
  // Always a new row, whatever the names of the others.
  Row& DownNew(std::string name);
  Row& DownOther(std::string_view name) {
    Row& row = Down(name);
    row.is_other = true;
    return row;
  }
  // The bytes of `count` values, where the path ends.
  void Add(int64_t bytes, int64_t count = 1) {
    if (bytes == 0) return;
    rows_[at_].own += bytes;
    rows_[at_].values += count;
  }

  Partition Make() &&;

 private:
  uint32_t& ChildSlot(std::string_view name);
  void Grow();
  void Order();

  Partition partition_;
  std::vector<Row> rows_;
  std::vector<uint32_t> last_child_;  // by row: the one that Down went to last; 0: none
  std::vector<uint32_t> slots_;       // rows by parent and name: open addressing; 0: free
  size_t named_ = 0;                  // rows in `slots_`
  uint32_t at_ = 0;
};

}  // namespace stowplan::explain
