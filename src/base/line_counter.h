// SPDX-License-Identifier: Apache-2.0
// Lines and columns of many places in one text, at the cost of one pass if the places ascend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "stowplan/base/diagnostic.h"

namespace stowplan {

class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text) {}

  // Fills line, column, offset, excerpt and caret for the place [offset, offset + length).
  void Locate(size_t offset, size_t length, Diagnostic& diagnostic);

 private:
  void MoveTo(size_t offset);

  std::string_view text_;
  size_t position_ = 0;    // all newlines before it are counted
  size_t line_begin_ = 0;  // of the line that holds position_
  uint32_t line_ = 1;
};

}  // namespace stowplan
