// SPDX-License-Identifier: Apache-2.0
// The lists of buffers that XLA prints when memory runs out, field by field.
//
//     Buffer 1:                                          1. Size: 2.00G
//       Size: 6.00MiB                                       Operator: op_name="jit(f)/add"
//       Operator: op_name="jit(f)/add" source_line=9        Shape: f32[32,4096]{1,0:T(8,128)}
//       XLA Label: fusion                                   Unpadded size: 2.00G
//       Shape: f32[4096,128,3]                              XLA label: fusion.12 = fusion(...)
//       ==========================                          Allocation type: HLO temp
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oom/oom.h"

namespace stowplan::oom {

// What a label says: "%fusion.12 = f32[8]{0} fusion(...)", "fusion.12 = fusion(...)", "fusion".
struct Label {
  std::string instruction;
  std::string opcode;
};
Label ReadLabel(std::string_view text);

class BufferReader {
 public:
  // A list begins: "Peak buffers:", "Largest program allocations in hbm:".
  void Begin();
  [[nodiscard]] bool is_open() const { return is_open_; }
  // A line of the list. False if it does not belong to the list, which has then ended.
  bool Read(std::string_view text, std::string_view lower);
  // Returns the list so far and ends it.
  std::vector<Buffer> Take();

 private:
  enum class Field : uint8_t { kNone, kOperator, kLabel, kShape };

  Buffer& Current();
  void Close();
  void Set(Field field, std::string_view value);

  bool is_open_ = false;
  bool has_current_ = false;
  Field last_ = Field::kNone;  // the field that a line without a field name continues
  int wrapped_ = 0;            // such lines of one field
  std::string words_;          // of the field so far
  std::vector<Buffer> buffers_;
};

}  // namespace stowplan::oom
