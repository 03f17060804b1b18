// SPDX-License-Identifier: Apache-2.0
// Shapes that a report has as text. A report repeats the same few, so each text is parsed once.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "stowplan/hlo/shape.h"

namespace stowplan::report {

class ShapeTexts {
 public:
  // Nothing if the text is not a shape.
  std::optional<hlo::ShapeId> Parse(std::string_view text);
  // The result's shape in `%x = f32[2]{0} add(...)`.
  std::optional<hlo::ShapeId> OfInstruction(std::string_view text);
  // The part of a shape at an index.
  [[nodiscard]] std::optional<hlo::ShapeId> Part(hlo::ShapeId shape,
                                                 std::span<const int64_t> index) const;
  [[nodiscard]] std::optional<int64_t> PlainBytes(hlo::ShapeId shape) const;
  [[nodiscard]] const hlo::ShapeTable& table() const { return table_; }

 private:
  hlo::ShapeTable table_;
  std::unordered_map<std::string_view, std::optional<hlo::ShapeId>> parsed_;
};

}  // namespace stowplan::report
