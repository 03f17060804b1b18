// SPDX-License-Identifier: Apache-2.0
// Shapes back to bytes: those that a proto has are copied from it, others are made from these.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "stowplan/hlo/shape.h"

namespace stowplan::proto {

class ShapeBytes {
 public:
  explicit ShapeBytes(const hlo::ShapeTable& shapes) : shapes_(shapes) {}

  // The shape was read from these bytes, which must stay.
  void Learn(hlo::ShapeId id, std::string_view bytes);
  // Nothing for a shape that is made of what no known shape has.
  [[nodiscard]] std::optional<std::string> Find(hlo::ShapeId id) const;

 private:
  [[nodiscard]] std::optional<std::string> MakeArray(hlo::ShapeId id) const;

  const hlo::ShapeTable& shapes_;
  std::map<hlo::ShapeId, std::string_view> known_;
};

}  // namespace stowplan::proto
