// SPDX-License-Identifier: Apache-2.0
// The plan: where values lie, and where that cuts the memory.
#include <algorithm>

#include "mutate/run.h"
#include "stowplan/hlo/element_type.h"
#include "target/size.h"

namespace stowplan::mutate {

int64_t Interpreter::SizeOf(ShapeId shape) {
  const auto [row, is_new] = sizes_.try_emplace(shape.index, 0);
  if (is_new)
    row->second = std::max<int64_t>(0, ByteSize(module_.shapes, shape, target_).value_or(0));
  return row->second;
}

int64_t Interpreter::SpaceOf(ShapeId shape) const {
  const hlo::LayoutId layout = module_.shapes[shape].layout;
  return layout.is_none() ? 0 : module_.shapes.layout(layout).memory_space;
}

std::optional<ShapeId> Interpreter::PartOf(ShapeId shape, const std::vector<int64_t>& index) const {
  for (const int64_t k : index) {
    if (!module_.shapes.is_tuple(shape)) return std::nullopt;
    const std::span<const ShapeId> elements = module_.shapes.elements(shape);
    if (static_cast<size_t>(k) >= elements.size()) return std::nullopt;
    shape = elements[static_cast<size_t>(k)];
  }
  return shape;
}

void Interpreter::ReadPlaces() {
  for (size_t v = 0; v < report_.values.size(); ++v) {
    const report::ValueId id(v);
    const report::Value& value = report_.values[id];
    if (value.allocation.is_none()) continue;
    const auto name = names_.find(value.instruction);
    if (name == names_.end()) continue;
    const std::span<const int64_t> numbers = report_.numbers(value.index);
    Key key = {name->second, {numbers.begin(), numbers.end()}};
    const auto shape = PartOf(module_.instructions[InstrId(size_t{name->second})].shape, key.index);
    if (!shape) continue;
    const report::Allocation& allocation = report_.allocations[value.allocation];
    const bool is_table = module_.shapes.is_tuple(*shape);
    if (is_table && value.size == 0) continue;
    const int64_t size = SizeOf(*shape);
    if (size > 0 && (value.offset < 0 || value.offset + size > allocation.size))
      Wrong(std::string(value.instruction) + " lies outside");
    if (hlo::IsArray(module_.shapes[*shape].type) && SpaceOf(*shape) != allocation.color &&
        std::ranges::find(allocation.other_colors, id) == allocation.other_colors.end())
      Wrong(std::string(value.instruction) + " lies in another space");
    places_[std::move(key)] = {static_cast<int>(value.allocation.index), value.offset};
  }
}

void Interpreter::CutMemory() {
  std::vector<std::set<int64_t>> cuts(report_.allocations.size());
  for (const auto& [key, place] : places_) {
    const auto shape =
        PartOf(module_.instructions[InstrId(size_t{key.instruction})].shape, key.index);
    cuts[static_cast<size_t>(place.allocation)].insert(place.offset);
    cuts[static_cast<size_t>(place.allocation)].insert(place.offset + SizeOf(*shape));
  }
  cuts_.clear();
  for (const std::set<int64_t>& set : cuts) cuts_.emplace_back(set.begin(), set.end());
}

std::optional<Place> Interpreter::Named(InstrId id, const std::vector<int64_t>& index) const {
  const auto place = places_.find({id.index, index});
  if (place == places_.end()) return std::nullopt;
  return place->second;
}

}  // namespace stowplan::mutate
