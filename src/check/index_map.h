// SPDX-License-Identifier: Apache-2.0
// Which element of an array is read, as linear expressions over the elements it is read for.
//
//     out = f32[8,4] fusion(x)                  element (i, j) of `out` is made of
//       x = f32[64]
//       b = f32[8,8] bitcast(x)                   element 8 i + 2 j + s of x
//       d = f32[8,7] dynamic-slice(b, 0, s)       element (i, 2 j + s) of b
//       ROOT out = f32[8,4] slice(d), stride 2    element (i, 2 j) of d
//
// Offsets that the program computes are variables, too (s; the same one wherever it is provably the
// same number). Quotients are variables with constraints: q = floor(e / n) is 0 <= e - n q < n. So
// every map that the instructions make is exact, and none has to be listed element by element.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "check/linear.h"
#include "stowplan/hlo/shape.h"

namespace stowplan::check {

// The variables of a fusion.
class Variables {
 public:
  Var Add(Interval range, bool is_common = false) {
    ranges_.push_back(range);
    is_common_.push_back(is_common ? 1 : 0);
    return static_cast<Var>(ranges_.size() - 1);
  }
  [[nodiscard]] const std::vector<Interval>& ranges() const { return ranges_; }
  [[nodiscard]] Interval range(Var var) const { return ranges_[var]; }
  // The same number for all elements: an offset that the program computes.
  [[nodiscard]] bool is_common(Var var) const { return is_common_[var] != 0; }
  [[nodiscard]] size_t size() const { return ranges_.size(); }

 private:
  std::vector<Interval> ranges_;
  std::vector<uint8_t> is_common_;
};

// An element of an array: the one that lies where `index` lies in an array of the shape `view`. (A
// bitcast changes the array, but not what lies where.)
struct Access {
  hlo::ShapeId view;
  std::vector<Expr> index;
  std::vector<Constraint> constraints;           // it is read when all of these hold ...
  std::vector<std::vector<Constraint>> outside;  // ... and of each of these lists one does not
  bool is_certain = true;                        // or perhaps only some of what is said is read
  // One of many for one element, as a sum has. They may be added up in the place of the result, or
  // what is there may be set to 0 first.
  bool is_one_of_many = false;

  friend bool operator==(const Access&, const Access&) = default;
};

// Arrays with the same dimensions in which the same element lies in the same place.
bool LieAlike(const hlo::ShapeTable& shapes, hlo::ShapeId a, hlo::ShapeId b);
// Bits from one element to the next.
int64_t ElementWidth(const hlo::ShapeTable& shapes, hlo::ShapeId id);
// The dimensions of an array with tiles, the slowest in memory first; nothing for other arrays.
std::optional<std::vector<size_t>> TiledOutsideIn(const hlo::ShapeTable& shapes, hlo::ShapeId id);
// Whether the first dimension is the slowest in memory, and so on, with nothing in between.
bool IsRowMajor(const hlo::ShapeTable& shapes, hlo::ShapeId id);
// Whether no element of `a` lies on padding of `b` where such arrays begin at the same byte: it has
// none, or both have the same.
bool IsPaddingApart(const hlo::ShapeTable& shapes, hlo::ShapeId a, hlo::ShapeId b);
// Elements that there is room for; 0 where there is room for no more than there are.
int64_t CountPadded(const hlo::ShapeTable& shapes, hlo::ShapeId id);
// Negative when there are more than can be counted.
int64_t CountElements(const hlo::ShapeTable& shapes, hlo::ShapeId id);

class IndexMaps {
 public:
  IndexMaps(const hlo::ShapeTable& shapes, Variables& variables)
      : shapes_(shapes), variables_(variables) {}

  // A new variable for each dimension.
  [[nodiscard]] std::vector<Expr> NewIndex(std::span<const int64_t> dims);

  // The element's distance from the first one, in elements with all padding. May add constraints.
  // Nothing when it is not known how such arrays lie.
  [[nodiscard]] std::optional<Expr> PositionOf(Access& access);

  // The same element as one of an array of another shape that has the same bytes. False when that
  // is not known.
  [[nodiscard]] bool View(Access& access, hlo::ShapeId to);
  // The same element as one of an array with the same elements in the same order, by their indices.
  void Reshape(Access& access, std::span<const int64_t> from, std::span<const int64_t> to);

  // floor(value / divisor), for a value from 0 to divisor * count - 1.
  [[nodiscard]] Expr Quotient(Access& access, const Expr& value, int64_t divisor, int64_t count);

 private:
  // The digits of a number below the product of `sizes`, the last of which counts ones.
  [[nodiscard]] std::vector<Expr> Digits(Access& access, Expr number,
                                         std::span<const int64_t> sizes);

  const hlo::ShapeTable& shapes_;
  Variables& variables_;
};

}  // namespace stowplan::check
