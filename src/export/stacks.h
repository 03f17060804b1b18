// SPDX-License-Identifier: Apache-2.0
// Values as stacks of frames, for tools that only know stacks.
//
//     source    train.py:90 main > train.py:42 step > layers.py:7 dense
//     op_name   jit(step) > jvp() > dot_general
//     both      (parameters) > params > ['w']            parameters have the parts of their path
//               (no source) > jit(step) > broadcast      what has no source, its op_name
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "export/export.h"

namespace stowplan::exporting {

struct StackFrame {
  std::string name;  // never empty: "train.py:42 step", "jvp()", "(parameters)"
  // Of a line of source; else empty and 0.
  std::string_view function;
  std::string_view file;
  int32_t line = 0;
};

class StackFinder {
 public:
  explicit StackFinder(const Subject& subject);

  // Rows of frames(), outermost first; never empty. Valid until the next call.
  [[nodiscard]] std::span<const uint32_t> Of(report::ValueId id);
  // What names the value itself, as an innermost frame for formats that have no tags: "fusion.3
  // f32[8,128]{1,0}".
  [[nodiscard]] std::string LeafText(report::ValueId id) const;

  // All frames that were needed so far.
  [[nodiscard]] const std::vector<StackFrame>& frames() const { return frames_; }
  // Adds a frame that is not a source line; the same name gives the same row.
  uint32_t Named(std::string_view name);

 private:
  void AddSource(explain::FrameId innermost);
  void AddParts(std::span<const std::string_view> parts);
  uint32_t RowOf(explain::FrameId id);
  // Replaces frames beyond a limit by one frame that counts them. Returns how many are kept.
  size_t Cut(size_t count);

  const explain::Picture& picture_;
  Stacks stacks_;
  std::vector<StackFrame> frames_;
  std::unordered_map<std::string, uint32_t> rows_;
  std::vector<uint32_t> row_of_frame_;  // by FrameId
  std::vector<uint32_t> depths_;        // by FrameId: itself and all above it
  std::vector<uint32_t> stack_;
};

}  // namespace stowplan::exporting
