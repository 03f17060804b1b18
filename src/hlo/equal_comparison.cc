// SPDX-License-Identifier: Apache-2.0
#include "hlo/equal_comparison.h"

#include <algorithm>
#include <memory>

namespace stowplan::hlo {
namespace {

// Adds all shapes of `from` to `to`. Parts have smaller ids than the whole, so they are there when
// it comes.
std::vector<ShapeId> AddShapes(const ShapeTable& from, ShapeTable& to) {
  std::vector<ShapeId> ids;
  ids.reserve(from.size());
  std::vector<ShapeId> parts;
  for (size_t i = 0; i < from.size(); ++i) {
    const Shape& shape = from[ShapeId(i)];
    if (IsArray(shape.type)) {
      LayoutId layout;
      if (!shape.layout.is_none()) {
        Layout copy = from.layout(shape.layout);
        if (!copy.physical_shape.is_none()) copy.physical_shape = ids[copy.physical_shape.index];
        layout = to.AddLayout(copy);
      }
      const std::span<const int64_t> dims = from.dims(ShapeId(i));
      // std::vector<bool> has no span.
      const size_t flag_count = shape.is_dynamic ? dims.size() : 0;
      const auto flags = std::make_unique<bool[]>(flag_count);
      for (size_t d = 0; d < flag_count; ++d) flags[d] = from.is_dynamic(ShapeId(i), d);
      ids.push_back(to.AddArray(shape.type, dims, {flags.get(), flag_count}, layout));
      continue;
    }
    parts.clear();
    for (const ShapeId part : from.elements(ShapeId(i))) parts.push_back(ids[part.index]);
    switch (shape.type) {
      case ElementType::kTuple:
        ids.push_back(to.AddTuple(parts));
        break;
      case ElementType::kBuffer:
        ids.push_back(to.AddBuffer(parts[0]));
        break;
      default:
        ids.push_back(to.AddOther(shape.type));
        break;
    }
  }
  return ids;
}

// What an instruction's value is a part of: get-tuple-elements taken away, their indices kept,
// outermost first.
struct Part {
  InstrId whole;
  std::vector<int64_t> index;
};

Part LookThrough(const Module& module, InstrId id) {
  Part part{id, {}};
  // A module that was never verified may hold anything; its instructions bound the way.
  for (size_t step = 0; step < module.instructions.size(); ++step) {
    if (module.instructions[part.whole].opcode != Opcode::kGetTupleElement) break;
    if (module.operands_of(part.whole).size() != 1) break;
    part.index.push_back(module.NumberOr(part.whole, AttributeKey::kIndex, 0));
    part.whole = module.operands_of(part.whole)[0];
  }
  std::ranges::reverse(part.index);
  return part;
}

}  // namespace

Comparison::Comparison(const Module& x, const Module& y, const EqualOptions& o)
    : a(x), b(y), options(o) {
  comp_twin.resize(a.computations.size());
  instr_twin.resize(a.instructions.size());
  ShapeTable joint;
  shape_a_ = AddShapes(a.shapes, joint);
  shape_b_ = AddShapes(b.shapes, joint);
}

void Comparison::ReportAt(InstrId id_in_a, const std::string& what) {
  const CompId parent = a.instructions[id_in_a].parent;
  Report("`" + std::string(a.name(id_in_a)) + "` in `" + std::string(a.name(parent)) +
         "`: " + what);
}

bool Comparison::Same(InstrId x, InstrId y) const {
  if (instr_twin[x.index] == y) return true;
  if (!options.look_through_tuples) return false;
  const Part p = LookThrough(a, x);
  const Part q = LookThrough(b, y);
  return instr_twin[p.whole.index] == q.whole && p.index == q.index;
}

}  // namespace stowplan::hlo
