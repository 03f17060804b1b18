// SPDX-License-Identifier: Apache-2.0
#include "check/elements.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/checked_math.h"
#include "stowplan/hlo/element_type.h"

namespace stowplan::check {
namespace {

using hlo::AttributeKey;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;
using hlo::ShapeId;
using hlo::ShapeTable;

std::span<const int64_t> Order(const ShapeTable& shapes, ShapeId id) {
  const hlo::LayoutId layout = shapes[id].layout;
  if (layout.is_none()) return {};
  return shapes.layout(layout).minor_to_major;
}

// The box, if it lies inside of its array, which has elements: then each product of dimensions
// fits.
std::optional<Box> Checked(const ShapeTable& shapes, Box box) {
  const std::span<const int64_t> dims = shapes.dims(box.array);
  if (CountElements(shapes, box.array) <= 0 || box.starts.size() != dims.size() ||
      Order(shapes, box.array).size() != dims.size())
    return std::nullopt;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (box.starts[d] < 0 || box.sizes[d] < 0 || box.starts[d] > dims[d] - box.sizes[d])
      return std::nullopt;
  }
  return box;
}

// Elements [begin, end) of an array as they lie in memory.
struct Run {
  int64_t begin = 0;
  int64_t end = 0;
  friend bool operator==(const Run&, const Run&) = default;
};
// None when the elements are not one run.
std::optional<Run> RunOf(const ShapeTable& shapes, const Box& box) {
  const std::span<const int64_t> dims = shapes.dims(box.array);
  Run run;
  int64_t count = 1;
  int64_t stride = 1;
  for (const int64_t d : Order(shapes, box.array)) {
    const auto k = static_cast<size_t>(d);
    // Behind a dimension of which only a part is meant, there may be no more than one of each.
    if (count != stride && box.sizes[k] != 1) return std::nullopt;
    run.begin += box.starts[k] * stride;
    count *= box.sizes[k];
    stride *= dims[k];
  }
  run.end = run.begin + count;
  return run;
}

// Whether the elements lie in their own array in the order in which they lie in the whole one.
bool KeepsElementOrder(const ShapeTable& shapes, const Box& box) {
  std::vector<int64_t> from_inside;
  for (const int64_t d : Order(shapes, box.array)) {
    if (box.sizes[static_cast<size_t>(d)] != 1) from_inside.push_back(d);
  }
  return from_inside == StridedDimensions(shapes, box.part);
}

}  // namespace

int64_t CountElements(const ShapeTable& shapes, ShapeId id) {
  return CheckedProduct(shapes.dims(id)).value_or(-1);
}

bool HasOneElement(const ShapeTable& shapes, ShapeId id) {
  return hlo::IsArray(shapes[id].type) && CountElements(shapes, id) == 1;
}

std::vector<int64_t> StridedDimensions(const ShapeTable& shapes, ShapeId id) {
  std::vector<int64_t> from_inside;
  const std::span<const int64_t> dims = shapes.dims(id);
  for (const int64_t d : Order(shapes, id)) {
    if (dims[static_cast<size_t>(d)] != 1) from_inside.push_back(d);
  }
  return from_inside;
}

bool LieAlike(const ShapeTable& shapes, ShapeId a, ShapeId b) {
  if (a == b) return true;
  return std::ranges::equal(shapes.dims(a), shapes.dims(b)) &&
         StridedDimensions(shapes, a) == StridedDimensions(shapes, b);
}

std::optional<Box> BoxOfSlice(const Module& module, InstrId slice) {
  const hlo::Attribute* attribute = module.FindAttribute(slice, AttributeKey::kSlice);
  if (attribute == nullptr) return std::nullopt;
  Box box{.array = module.instructions[module.operands_of(slice)[0]].shape,
          .part = module.instructions[slice].shape,
          .starts = {},
          .sizes = {}};
  const std::span<const int64_t> rows = Module::Rows(module.ints, attribute->rows());
  for (size_t r = 0; r + 2 < rows.size(); r += 3) {
    const std::optional<int64_t> size = CheckedSubtract(rows[r + 1], rows[r]);
    if (!size || (rows[r + 2] != 1 && *size > 1)) return std::nullopt;
    box.starts.push_back(rows[r]);
    box.sizes.push_back(*size);
  }
  return Checked(module.shapes, std::move(box));
}

std::optional<Box> BoxOfUpdate(const Module& module, InstrId update) {
  if (module.instructions[update].opcode != Opcode::kDynamicUpdateSlice) return std::nullopt;
  const std::span<const InstrId> operands = module.operands_of(update);
  const ShapeId array = module.instructions[operands[0]].shape;
  const ShapeId part = module.instructions[operands[1]].shape;
  const std::span<const int64_t> dims = module.shapes.dims(array);
  const std::span<const int64_t> sizes = module.shapes.dims(part);
  if (operands.size() - 2 != dims.size() || sizes.size() != dims.size()) return std::nullopt;
  Box box{.array = array, .part = part, .starts = {}, .sizes = {sizes.begin(), sizes.end()}};
  for (size_t d = 0; d < dims.size(); ++d) {
    const std::string_view literal = LiteralOf(module, operands[d + 2]);
    int64_t start = 0;
    const auto [end, error] =
        std::from_chars(literal.data(), literal.data() + literal.size(), start);
    if (literal.empty() || error != std::errc() || end != literal.data() + literal.size())
      return std::nullopt;
    // A slice that would end outside is moved inside.
    if (dims[d] < 0 || sizes[d] < 0) return std::nullopt;
    box.starts.push_back(std::max<int64_t>(0, std::min(start, dims[d] - sizes[d])));
  }
  return Checked(module.shapes, std::move(box));
}

bool AreApart(const ShapeTable& shapes, const Box& a, const Box& b) {
  if (LieAlike(shapes, a.array, b.array)) {
    for (size_t d = 0; d < a.starts.size(); ++d) {
      if (a.starts[d] >= b.starts[d] + b.sizes[d] || b.starts[d] >= a.starts[d] + a.sizes[d])
        return true;
    }
    return false;
  }
  if (CountElements(shapes, a.array) != CountElements(shapes, b.array)) return false;
  const std::optional<Run> first = RunOf(shapes, a);
  const std::optional<Run> second = RunOf(shapes, b);
  return first && second && (first->begin >= second->end || second->begin >= first->end);
}

bool AreEqual(const ShapeTable& shapes, const Box& a, const Box& b) {
  if (LieAlike(shapes, a.array, b.array) && a.starts == b.starts && a.sizes == b.sizes)
    return LieAlike(shapes, a.part, b.part);
  if (CountElements(shapes, a.array) != CountElements(shapes, b.array) ||
      !KeepsElementOrder(shapes, a) || !KeepsElementOrder(shapes, b))
    return false;
  const std::optional<Run> first = RunOf(shapes, a);
  return first && first == RunOf(shapes, b);
}

std::string_view LiteralOf(const Module& module, InstrId id) {
  if (module.instructions[id].opcode != Opcode::kConstant) return {};
  const hlo::Attribute* attribute = module.FindAttribute(id, AttributeKey::kLiteral);
  return attribute == nullptr ? std::string_view() : module.view(attribute->text());
}

}  // namespace stowplan::check
