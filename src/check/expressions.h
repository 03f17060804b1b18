// SPDX-License-Identifier: Apache-2.0
// Names of what programs compute: the same operation on the same operands has the same name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace stowplan::check {

// The name of an expression.
using Name = uint32_t;

class Expressions {
 public:
  uint32_t TextOf(std::string text);

  // `numbers` are part of the operation.
  Name Add(uint32_t text, std::vector<Name> operands, std::vector<int64_t> numbers = {});

  // A scalar that is known.
  Name AddNumber(uint32_t text, int64_t number);
  [[nodiscard]] std::optional<int64_t> NumberOf(Name name) const;

  // The same bytes as another type; of the type `from`.
  Name AddBitcast(uint32_t text, Name operand, uint32_t from);

  // An array with a box of it written, and a box of an array. What was written is found again
  // unless something that may overlap it was written later.
  struct Box {
    std::vector<int64_t> starts;
    std::vector<int64_t> sizes;
  };
  Name AddUpdate(Name array, Name update, const Box& box);
  Name AddSlice(uint32_t text, Name array, const Box& box);

 private:
  struct Row {
    uint32_t text = 0;
    std::vector<Name> operands;
    std::vector<int64_t> numbers;
    friend bool operator==(const Row&, const Row&) = default;
  };
  struct Hash {
    size_t operator()(const Row& row) const;
  };
  // Updates of boxes of one size, one after another. On a grid, boxes are the same or apart.
  struct Chain {
    Name base = 0;  // before the first
    Name tip = 0;   // after the last
    std::vector<int64_t> sizes;
    std::map<std::vector<int64_t>, std::vector<std::pair<uint32_t, Name>>> written;  // by starts
  };
  struct Link {
    uint32_t chain = 0;
    uint32_t depth = 0;  // how many updates of the chain are in it
  };

  std::unordered_map<std::string, uint32_t> texts_;
  std::unordered_map<Row, Name, Hash> names_;
  std::vector<const Row*> rows_;  // by name
  std::unordered_map<Name, int64_t> numbers_;
  std::unordered_map<Name, std::pair<Name, uint32_t>> bitcasts_;  // what of, and its type
  std::unordered_map<Name, Link> links_;                          // of updates on a grid
  std::vector<Chain> chains_;
};

}  // namespace stowplan::check
