// SPDX-License-Identifier: Apache-2.0
// Shapes in HLO text.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "stowplan/hlo/shape.h"
#include "text/cursor.h"

namespace stowplan::text {

// A module repeats the same few shapes, so their texts are cached: only new texts are parsed.
class ShapeParser {
 public:
  explicit ShapeParser(hlo::ShapeTable& shapes) : shapes_(shapes), slots_(256) {}

  // Whether a shape can begin at the cursor (which stands at a name or parenthesis).
  static bool LooksLikeShape(const Cursor& cursor);
  // Parses a shape; none, and an error, when there is none.
  hlo::ShapeId Parse(Cursor& cursor);
  // The same, but braces after a blank are not its layout: `f32[2] {1, 2}`.
  hlo::ShapeId ParseBeforeLiteral(Cursor& cursor);

  // Whether tuples of more than five elements had /*index=5*/ comments, or lacked them.
  [[nodiscard]] bool saw_index_comment() const { return saw_index_comment_; }
  [[nodiscard]] bool saw_no_index_comment() const { return saw_no_index_comment_; }

 private:
  struct Slot {
    const char* text = nullptr;
    uint32_t size = 0;
    uint32_t hash = 0;
    hlo::ShapeId id;
  };
  hlo::ShapeId ParseNew(Cursor& cursor);
  // Array, token, opaque; `allow_physical` is false inside P(...).
  hlo::ShapeId ParseLeaf(Cursor& cursor, bool allow_physical);
  bool ParseDims(Cursor& cursor);
  bool ParseLayout(Cursor& cursor, hlo::Layout& layout, bool allow_physical);
  bool ParseLayoutPart(Cursor& cursor, hlo::Layout& layout, bool allow_physical);
  void Remember(std::string_view text, uint32_t hash, hlo::ShapeId id);

  hlo::ShapeTable& shapes_;
  std::vector<Slot> slots_;
  size_t count_ = 0;
  std::vector<int64_t> dims_;
  // std::vector<bool> has no span.
  std::vector<uint8_t> dynamic_;
  bool needs_attached_layout_ = false;
  bool saw_index_comment_ = false;
  bool saw_no_index_comment_ = false;
};

// A shape that is all of `text`; nothing when it is not one.
std::optional<hlo::ShapeId> ParseShapeText(std::string_view text, hlo::ShapeTable& shapes);

}  // namespace stowplan::text
