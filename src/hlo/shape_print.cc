// SPDX-License-Identifier: Apache-2.0
// The text of shapes and layouts.
#include "hlo/number.h"
#include "stowplan/hlo/shape.h"

namespace stowplan::hlo {
namespace {

void AppendType(char mark, ElementType type, std::string& out) {
  if (type == ElementType::kInvalid) return;
  out += mark;
  out += '(';
  out += Name(type);
  out += ')';
}

void AppendTiles(const Layout& layout, std::string& out) {
  if (layout.tiles.empty()) return;
  out += 'T';
  for (const std::vector<int64_t>& tile : layout.tiles) {
    out += '(';
    for (size_t i = 0; i < tile.size(); ++i) {
      if (i != 0) out += ',';
      if (tile[i] == kCombineDimension) {
        out += '*';
      } else {
        AppendNumber(tile[i], out);
      }
    }
    out += ')';
  }
}

void AppendCount(std::string_view mark, int64_t n, int64_t unsaid, std::string& out) {
  if (n == unsaid) return;
  out += mark;
  out += '(';
  AppendNumber(n, out);
  out += ')';
}

void AppendLayout(const ShapeTable& shapes, const Layout& layout, std::string& out) {
  out += '{';
  AppendNumbers(layout.minor_to_major, ",", out);
  const size_t mark = out.size();
  out += ':';
  if (!layout.dim_level_types.empty()) out.append("D(").append(layout.dim_level_types).append(")");
  AppendTiles(layout, out);
  AppendCount("L", layout.tail_padding, 1, out);
  AppendType('#', layout.index_type, out);
  AppendType('*', layout.pointer_type, out);
  AppendCount("E", layout.element_bits, 0, out);
  AppendCount("S", layout.memory_space, 0, out);
  if (!layout.splits.empty()) out += "SC";
  for (const Layout::Split& split : layout.splits) {
    out += '(';
    AppendNumber(split.dimension, out);
    out += ':';
    AppendNumbers(split.indices, ",", out);
    out += ')';
  }
  if (!layout.physical_shape.is_none()) {
    // A physical shape has no physical shape of its own: the readers see to that.
    out += "P(";
    AppendShape(shapes, layout.physical_shape, {}, out);
    out += ')';
  }
  AppendCount("M", layout.dynamic_prefix_bytes, 0, out);
  if (out.size() == mark + 1) out.pop_back();
  out += '}';
}

void AppendArray(const ShapeTable& shapes, ShapeId id, ShapeStyle style, std::string& out) {
  const Shape& shape = shapes[id];
  out += Name(shape.type);
  out += '[';
  const std::span<const int64_t> dims = shapes.dims(id);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i != 0) out += ',';
    if (dims[i] == kUnboundedDimension) {
      out += '?';
    } else {
      if (shapes.is_dynamic(id, i)) out += "<=";
      AppendNumber(dims[i], out);
    }
  }
  out += ']';
  if (style.layouts && !shape.layout.is_none())
    AppendLayout(shapes, shapes.layout(shape.layout), out);
}

}  // namespace

void AppendShape(const ShapeTable& shapes, ShapeId root, ShapeStyle style, std::string& out) {
  struct Open {
    ShapeId id;
    size_t next;  // the element to print next
  };
  std::vector<Open> stack;
  ShapeId id = root;
  while (true) {
    const ElementType type = shapes[id].type;
    if (type == ElementType::kTuple || type == ElementType::kBuffer) {
      out += type == ElementType::kBuffer ? "b(" : "(";
      stack.push_back({id, 0});
    } else {
      AppendArray(shapes, id, style, out);
    }
    while (!stack.empty() && stack.back().next == shapes.elements(stack.back().id).size()) {
      out += ')';
      stack.pop_back();
    }
    if (stack.empty()) return;
    Open& open = stack.back();
    if (open.next != 0) {
      out += ", ";
      if (style.index_comments && open.next % 5 == 0) {
        out += "/*index=";
        AppendNumber(static_cast<int64_t>(open.next), out);
        out += "*/";
      }
    }
    id = shapes.elements(open.id)[open.next++];
  }
}

std::string ToString(const ShapeTable& shapes, ShapeId id, ShapeStyle style) {
  std::string out;
  AppendShape(shapes, id, style, out);
  return out;
}

}  // namespace stowplan::hlo
