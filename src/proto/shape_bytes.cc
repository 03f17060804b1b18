// SPDX-License-Identifier: Apache-2.0
#include "proto/shape_bytes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "proto/append.h"
#include "proto/fields.h"
#include "proto/wire.h"

namespace stowplan::proto {
namespace {

std::string Numbers(std::span<const int64_t> numbers) {
  std::string out;
  for (const int64_t number : numbers) AppendVarint(static_cast<uint64_t>(number), out);
  return out;
}

// Whether a layout is nothing but an order of dimensions.
bool IsPlain(const hlo::Layout& layout) {
  hlo::Layout plain;
  plain.minor_to_major = layout.minor_to_major;
  return layout == plain;
}

}  // namespace

void ShapeBytes::Learn(hlo::ShapeId id, std::string_view bytes) {
  std::vector<std::pair<hlo::ShapeId, std::string_view>> open = {{id, bytes}};
  while (!open.empty()) {
    const auto [shape, from] = open.back();
    open.pop_back();
    if (!known_.emplace(shape, from).second || !shapes_.is_tuple(shape)) continue;
    const std::span<const hlo::ShapeId> elements = shapes_.elements(shape);
    size_t k = 0;
    for (Message message(from); message.Next();) {
      if (message.key() != BytesKey(ShapeField::kTupleShapes)) {
        message.Skip();
      } else if (const std::string_view element = message.Bytes(); k < elements.size()) {
        open.emplace_back(elements[k++], element);
      }
    }
  }
}

std::optional<std::string> ShapeBytes::Find(hlo::ShapeId id) const {
  if (const auto found = known_.find(id); found != known_.end()) return std::string(found->second);
  if (!shapes_.is_tuple(id)) return MakeArray(id);
  // Tuples of tuples are not made.
  std::string out;
  AppendNumber(ShapeField::kElementType, static_cast<int64_t>(shapes_[id].type), out);
  for (const hlo::ShapeId element : shapes_.elements(id)) {
    const auto found = known_.find(element);
    const std::optional<std::string> bytes =
        found != known_.end() ? std::optional<std::string>(found->second) : MakeArray(element);
    if (!bytes) return std::nullopt;
    AppendBytes(ShapeField::kTupleShapes, *bytes, out);
  }
  return out;
}

// A known array of this type, with other dimensions.
std::optional<std::string> ShapeBytes::MakeArray(hlo::ShapeId id) const {
  const hlo::Shape& shape = shapes_[id];
  if (!hlo::IsArray(shape.type) || shape.is_dynamic || shape.layout.is_none() ||
      !IsPlain(shapes_.layout(shape.layout)))
    return std::nullopt;
  const auto like = std::ranges::find_if(known_, [&](const auto& entry) {
    const hlo::Shape& other = shapes_[entry.first];
    return other.type == shape.type && !other.is_dynamic && !other.layout.is_none() &&
           IsPlain(shapes_.layout(other.layout));
  });
  if (like == known_.end()) return std::nullopt;
  const std::span<const int64_t> dims = shapes_.dims(id);
  const std::vector<int64_t>& order = shapes_.layout(shape.layout).minor_to_major;
  std::string out = Rewrite(like->second, [&](uint32_t key, std::string_view value) {
    std::optional<std::string> other;
    if (IsField(key, ShapeField::kDimensions) || IsField(key, ShapeField::kIsDynamicDimension)) {
      other.emplace();
    } else if (key == BytesKey(ShapeField::kLayout)) {
      std::string layout = Rewrite(value, [](uint32_t inner, std::string_view) {
        return IsField(inner, LayoutField::kMinorToMajor)
                   ? std::optional<std::string>(std::in_place)
                   : std::nullopt;
      });
      AppendBytes(LayoutField::kMinorToMajor, Numbers(order), layout);
      AppendBytes(ShapeField::kLayout, layout, other.emplace());
    }
    return other;
  });
  AppendBytes(ShapeField::kDimensions, Numbers(dims), out);
  AppendBytes(ShapeField::kIsDynamicDimension, std::string(dims.size(), '\0'), out);
  return out;
}

}  // namespace stowplan::proto
