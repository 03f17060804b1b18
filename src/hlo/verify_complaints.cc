// SPDX-License-Identifier: Apache-2.0
#include "hlo/verify_complaints.h"

#include <algorithm>
#include <utility>

#include "base/line_counter.h"
#include "base/stable_sort.h"

namespace stowplan::hlo {
namespace {

constexpr size_t kMaxQuoted = 80;

std::string Cut(std::string_view text) {
  if (text.size() <= kMaxQuoted) return std::string(text);
  return std::string(text.substr(0, kMaxQuoted)) + "...";
}

}  // namespace

std::string Quote(std::string_view name) { return "`" + Cut(name) + "`"; }

std::string IndexText(std::span<const int64_t> index) {
  std::string out = "{";
  for (const int64_t i : index) out += (out.size() == 1 ? "" : ",") + std::to_string(i);
  return out + "}";
}

std::optional<Text> Complaints::PlaceOf(Text name) const {
  if (!module_.source || name.size == 0 || name.offset >= module_.source->size())
    return std::nullopt;
  return name;
}

void Complaints::At(InstrId id, const std::string& message) {
  const Instruction& instruction = module_.instructions[id];
  // What a reader made up has no place of its own; the computation it lies in is the nearest.
  std::optional<Text> place = PlaceOf(instruction.name);
  std::string path;
  if (instruction.parent.index < module_.computations.size()) {
    const Computation& parent = module_.computations[instruction.parent];
    if (!place) place = PlaceOf(parent.name);
    path = "computations[" + std::to_string(instruction.parent.index) + "].instructions[" +
           std::to_string(id.index - parent.first.index) + "]";
  }
  rows_.push_back({place, std::move(path), Quote(module_.name(id)) + ": " + message});
}

void Complaints::At(CompId id, const std::string& message) {
  rows_.push_back({PlaceOf(module_.computations[id].name),
                   "computations[" + std::to_string(id.index) + "]",
                   "computation " + Quote(module_.name(id)) + ": " + message});
}

void Complaints::AtHeader(std::string message) {
  rows_.push_back({PlaceOf(module_.header.name), "hlo_module", std::move(message)});
}

Diagnostics Complaints::Finish() && {
  StableSort(rows_, {}, [](const Row& row) { return row.place ? row.place->offset : 0; });
  Diagnostics out;
  out.reserve(rows_.size());
  LineCounter lines(module_.source ? module_.source->bytes() : std::string_view());
  for (Row& row : rows_) {
    Diagnostic& diagnostic = out.emplace_back();
    if (module_.source) diagnostic.file = module_.source->name();
    diagnostic.message = std::move(row.message);
    if (module_.format == Format::kText && row.place) {
      lines.Locate(row.place->offset, row.place->size, diagnostic);
    } else {
      diagnostic.path = std::move(row.path);
      if (row.place) diagnostic.offset = row.place->offset;
    }
  }
  return out;
}

Verifier::Verifier(const Module& m, Complaints& c) : module(m), complaints(c) {
  // Parts of a shape have smaller ids than the shape, so that one pass in the order of ids finds
  // all classes. Doing it once for each shape, not for each pair that is compared, keeps
  // verification linear.
  const ShapeTable& shapes = m.shapes;
  ShapeTable stripped;
  std::vector<ShapeId> parts;
  class_.reserve(shapes.size());
  has_unbounded_.reserve(shapes.size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    const ShapeId id(i);
    const Shape& shape = shapes[id];
    bool has_unbounded =
        std::ranges::find(shapes.dims(id), kUnboundedDimension) != shapes.dims(id).end();
    parts.clear();
    for (const ShapeId part : shapes.elements(id)) {
      parts.emplace_back(class_[part.index]);
      has_unbounded = has_unbounded || has_unbounded_[part.index];
    }
    ShapeId same;
    if (shape.type == ElementType::kTuple) {
      same = stripped.AddTuple(parts);
    } else if (shape.type == ElementType::kBuffer) {
      same = stripped.AddBuffer(parts[0]);
    } else if (IsArray(shape.type)) {
      same = stripped.AddArray(shape.type, shapes.dims(id), {}, LayoutId());
    } else {
      same = stripped.AddOther(shape.type);
    }
    class_.push_back(same.index);
    has_unbounded_.push_back(has_unbounded);
  }
}

bool Verifier::IsCompatible(ShapeId a, ShapeId b) const {
  return class_[a.index] == class_[b.index] || has_unbounded_[a.index] || has_unbounded_[b.index];
}

bool Verifier::IsScalar(ShapeId id, ElementType type) const {
  return module.shapes[id].type == type && module.shapes.dims(id).empty();
}

std::optional<ShapeId> Verifier::FindPart(ShapeId id, std::span<const int64_t> index) const {
  for (const int64_t i : index) {
    if (!module.shapes.is_tuple(id)) return std::nullopt;
    const std::span<const ShapeId> elements = module.shapes.elements(id);
    if (i < 0 || i >= std::ssize(elements)) return std::nullopt;
    id = elements[static_cast<size_t>(i)];
  }
  return id;
}

std::string Verifier::Describe(ShapeId id) const {
  constexpr size_t kMaxRank = 16;
  if (module.shapes.is_tuple(id)) {
    const size_t count = module.shapes.elements(id).size();
    return "a tuple of " + std::to_string(count) + (count == 1 ? " element" : " elements");
  }
  if (module.shapes[id].type == ElementType::kBuffer) return "a buffer";
  const size_t rank = module.shapes.dims(id).size();
  if (rank > kMaxRank) return "an array of " + std::to_string(rank) + " dimensions";
  return ToString(module.shapes, id, {.layouts = false});
}

std::string Verifier::DescribeDifference(ShapeId a, ShapeId b) const {
  std::string index;
  while (module.shapes.is_tuple(a) && module.shapes.is_tuple(b)) {
    const std::span<const ShapeId> x = module.shapes.elements(a);
    const std::span<const ShapeId> y = module.shapes.elements(b);
    if (x.size() != y.size()) break;
    size_t i = 0;
    while (i < x.size() && IsCompatible(x[i], y[i])) ++i;
    if (i == x.size()) break;
    index += (index.empty() ? "" : ",") + std::to_string(i);
    a = x[i];
    b = y[i];
  }
  return Describe(a) + " and " + Describe(b) + (index.empty() ? "" : " at {" + index + "}");
}

}  // namespace stowplan::hlo
