// SPDX-License-Identifier: Apache-2.0
#include "report/shapes.h"

#include "hlo/size.h"
#include "text/shape_parser.h"

namespace stowplan::report {

std::optional<hlo::ShapeId> ShapeTexts::Parse(std::string_view shape) {
  const auto [row, is_new] = parsed_.try_emplace(shape);
  if (is_new) row->second = text::ParseShapeText(shape, table_);
  return row->second;
}

std::optional<hlo::ShapeId> ShapeTexts::OfInstruction(std::string_view instruction) {
  const size_t equals = instruction.find(" = ");
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view rest = instruction.substr(equals + 3);
  // The shape ends at the blank outside its brackets.
  int depth = 0;
  for (size_t i = 0; i < rest.size(); ++i) {
    switch (rest[i]) {
      case '(':
      case '[':
      case '{':
        ++depth;
        break;
      case ')':
      case ']':
      case '}':
        --depth;
        break;
      case ' ':
        if (depth == 0) return Parse(rest.substr(0, i));
        break;
      default:
        break;
    }
  }
  return std::nullopt;
}

std::optional<hlo::ShapeId> ShapeTexts::Part(hlo::ShapeId shape,
                                             std::span<const int64_t> index) const {
  for (const int64_t n : index) {
    const std::span<const hlo::ShapeId> elements = table_.elements(shape);
    if (n < 0 || n >= static_cast<int64_t>(elements.size())) return std::nullopt;
    shape = elements[static_cast<size_t>(n)];
  }
  return shape;
}

std::optional<int64_t> ShapeTexts::PlainBytes(hlo::ShapeId shape) const {
  const hlo::ByteCount bytes = hlo::PlainByteSize(table_, shape);
  return bytes ? std::optional<int64_t>(*bytes) : std::nullopt;
}

}  // namespace stowplan::report
