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
using ExprName = uint32_t;

class Expressions {
 public:
  uint32_t TextOf(std::string text);

  // `numbers` are part of the operation.
  ExprName Add(uint32_t text, std::vector<ExprName> operands, std::vector<int64_t> numbers = {});

  // A scalar that is known.
  ExprName AddNumber(uint32_t text, int64_t number);
  [[nodiscard]] std::optional<int64_t> NumberOf(ExprName name) const;

  // The same bytes as another type; of the type `from`.
  ExprName AddBitcast(uint32_t text, ExprName operand, uint32_t from);

  // An array with a box of it written, and a box of an array. What was written is found again
  // unless something that may overlap it was written later.
  struct Box {
    std::vector<int64_t> starts;
    std::vector<int64_t> sizes;
  };
  ExprName AddUpdate(ExprName array, ExprName update, const Box& box);
  ExprName AddSlice(uint32_t text, ExprName array, const Box& box);

 private:
  struct Row {
    uint32_t text = 0;
    std::vector<ExprName> operands;
    std::vector<int64_t> numbers;
    friend bool operator==(const Row&, const Row&) = default;
  };
  struct Hash {
    size_t operator()(const Row& row) const;
  };
  // Updates of boxes of one size, one after another. On a grid, boxes are the same or apart.
  struct Chain {
    ExprName base = 0;  // before the first
    ExprName tip = 0;   // after the last
    std::vector<int64_t> sizes;
    std::map<std::vector<int64_t>, std::vector<std::pair<uint32_t, ExprName>>>
        written;  // by starts
  };
  struct Link {
    uint32_t chain = 0;
    uint32_t depth = 0;  // how many updates of the chain are in it
  };

  std::unordered_map<std::string, uint32_t> texts_;
  std::unordered_map<Row, ExprName, Hash> names_;
  std::vector<const Row*> rows_;  // by name
  std::unordered_map<ExprName, int64_t> numbers_;
  std::unordered_map<ExprName, std::pair<ExprName, uint32_t>> bitcasts_;  // what of, and its type
  std::unordered_map<ExprName, Link> links_;                              // of updates on a grid
  std::vector<Chain> chains_;
};

}  // namespace stowplan::check
