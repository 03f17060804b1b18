// SPDX-License-Identifier: Apache-2.0
// Where the elements of an array lie in memory, and which of them a slice has.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan::check {

// Negative when there are more than can be counted.
int64_t CountElements(const hlo::ShapeTable& shapes, hlo::ShapeId id);
bool HasOneElement(const hlo::ShapeTable& shapes, hlo::ShapeId id);

// Dimensions from the innermost outwards, those of size 1 apart: equal ones count elements alike.
std::vector<int64_t> StridedDimensions(const hlo::ShapeTable& shapes, hlo::ShapeId id);
// Two arrays of the same dimensions in which the same element is as far from the first.
bool LieAlike(const hlo::ShapeTable& shapes, hlo::ShapeId a, hlo::ShapeId b);

// Some elements of an array: from `starts` on, as many as `sizes` says, of each dimension.
struct Box {
  hlo::ShapeId array;
  hlo::ShapeId part;  // their own array
  std::vector<int64_t> starts;
  std::vector<int64_t> sizes;
};
// What a slice reads.
std::optional<Box> BoxOfSlice(const hlo::Module& module, hlo::InstrId slice);
// What a dynamic-update-slice writes, where constants say it.
std::optional<Box> BoxOfUpdate(const hlo::Module& module, hlo::InstrId update);

// Both arrays have the same bytes, and may have other dimensions.
// Whether no element is of both.
bool AreApart(const hlo::ShapeTable& shapes, const Box& a, const Box& b);
// Whether the k-th element of one is the k-th of the other.
bool AreEqual(const hlo::ShapeTable& shapes, const Box& a, const Box& b);

// Of a constant; empty when it is none.
std::string_view LiteralOf(const hlo::Module& module, hlo::InstrId id);

}  // namespace stowplan::check
