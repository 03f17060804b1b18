// SPDX-License-Identifier: Apache-2.0
// Shapes: arrays with dimensions and a layout, tuples of shapes, tokens.
//
// Each distinct shape of a module is one row of its ShapeTable, so two shapes are equal iff their
// ids are. Dimensions, tuple elements and layouts are in shared pools; the table returns spans into
// them.
//
//     (f32[2,<=3]{1,0:T(8,128)}, s32[])
//      └ shape 0: F32, dims 2 3, the second dynamic, layout 0
//                                └ shape 1: S32, no dims, no layout
//     the tuple itself is shape 2
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "stowplan/base/id.h"
#include "stowplan/hlo/element_type.h"

namespace stowplan::hlo {

using ShapeId = Id<struct ShapeTag>;
using LayoutId = Id<struct LayoutTag>;

// A dimension whose size is unknown and has no bound ("?").
inline constexpr int64_t kUnboundedDimension = INT64_MIN;
// A tile dimension that is merged with the next more minor one ("*").
inline constexpr int64_t kCombineDimension = INT64_MIN;

// How an array lies in memory. Fields at their defaults are not printed.
struct Layout {
  std::vector<int64_t> minor_to_major;
  std::string dim_level_types;  // D(...): letters as printed ("D,C+"); empty when all dense
  std::vector<std::vector<int64_t>> tiles;           // T(...)(...)
  int64_t tail_padding = 1;                          // L(n): elements are padded to a multiple of n
  ElementType index_type = ElementType::kInvalid;    // #(type)
  ElementType pointer_type = ElementType::kInvalid;  // *(type)
  int64_t element_bits = 0;                          // E(n); 0: as the type says
  int64_t memory_space = 0;                          // S(n)
  struct Split {
    int64_t dimension = 0;
    std::vector<int64_t> indices;
    friend auto operator<=>(const Split&, const Split&) = default;
  };
  std::vector<Split> splits;         // SC(dim:i,j)
  ShapeId physical_shape;            // P(shape); none when absent
  int64_t dynamic_prefix_bytes = 0;  // M(n): bytes in front that hold the dynamic sizes

  friend bool operator==(const Layout&, const Layout&) = default;
};

struct Shape {
  ElementType type = ElementType::kInvalid;
  bool is_dynamic = false;  // some dimension is a bound, not a size
  // Arrays: dimensions. Tuples: elements. Buffers: the one inner shape.
  Range parts;
  // None for "no layout". A scalar with an empty layout ({}) has none either: the two mean the
  // same.
  LayoutId layout;
};

class ShapeTable {
 public:
  ShapeTable();

  // If an equal shape exists already, Add returns its id. `dynamic` is empty if no dimension is
  // dynamic; otherwise it has one flag for each dimension.
  ShapeId AddArray(ElementType type, std::span<const int64_t> dims, std::span<const bool> dynamic,
                   LayoutId layout);
  ShapeId AddTuple(std::span<const ShapeId> elements);
  ShapeId AddBuffer(ShapeId inner);
  // Token and opaque.
  ShapeId AddOther(ElementType type);
  LayoutId AddLayout(const Layout& layout);

  [[nodiscard]] size_t size() const { return shapes_.size(); }
  [[nodiscard]] const Shape& operator[](ShapeId id) const { return shapes_[id]; }
  [[nodiscard]] const Layout& layout(LayoutId id) const { return layouts_[id]; }
  [[nodiscard]] bool is_tuple(ShapeId id) const { return shapes_[id].type == ElementType::kTuple; }
  [[nodiscard]] std::span<const int64_t> dims(ShapeId id) const;
  [[nodiscard]] bool is_dynamic(ShapeId id, size_t dim) const;
  // Elements of a tuple; the inner shape of a buffer; nothing for arrays.
  [[nodiscard]] std::span<const ShapeId> elements(ShapeId id) const;
  // Tuples nest at most this deep; readers report deeper ones.
  static constexpr int kMaxDepth = 2000;
  // How deep tuples nest below this shape: 0 for arrays.
  [[nodiscard]] int depth(ShapeId id) const { return depths_[id.index]; }
  // How many arrays and other leaves a shape has when expanded; at most 2^62.
  [[nodiscard]] int64_t leaf_count(ShapeId id) const { return leaf_counts_[id.index]; }

 private:
  ShapeId Intern(const Shape& shape, std::span<const int64_t> dims, std::span<const bool> dynamic,
                 std::span<const ShapeId> elements, int depth);
  void Grow();

  Table<ShapeId, Shape> shapes_;
  Table<LayoutId, Layout> layouts_;
  std::unordered_multimap<uint64_t, LayoutId> layout_rows_;  // by hash
  std::vector<int> depths_;
  std::vector<int64_t> leaf_counts_;
  std::vector<int64_t> dims_;
  std::vector<uint8_t> dynamic_;  // parallel to dims_
  std::vector<ShapeId> elements_;
  std::vector<uint32_t> slots_;   // open addressing: row + 1
  std::vector<uint64_t> hashes_;  // parallel to shapes_
};

// Whether two shapes, of one table or of two, are equal. With `layouts` false, layouts are ignored.
bool Equal(const ShapeTable& a, ShapeId x, const ShapeTable& b, ShapeId y, bool layouts = true);

// Appends the text of a shape; if asked for, a comment `/*index=5*/` precedes every fifth element.
struct ShapeStyle {
  bool layouts = true;
  bool index_comments = true;
};
void AppendShape(const ShapeTable& shapes, ShapeId id, ShapeStyle style, std::string& out);
std::string ToString(const ShapeTable& shapes, ShapeId id, ShapeStyle style = {});

}  // namespace stowplan::hlo
