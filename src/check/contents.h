// SPDX-License-Identifier: Apache-2.0
// Contents of values: new ones, and those that are equal though made apart.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check/memory.h"
#include "check/places.h"
#include "stowplan/hlo/module.h"

namespace stowplan::check {

class Contents {
 public:
  explicit Contents(const hlo::Module& module) : module_(module) {}

  ContentId New() { return ++count_; }

  // A table holds the places of its elements, wherever it was made.
  ContentId OfTable(const std::vector<Place>& elements) {
    std::string key;
    for (const Place& place : elements) {
      const int64_t numbers[] = {place.allocation, place.offset};
      key.append(reinterpret_cast<const char*>(numbers), sizeof(numbers));
    }
    return Shared(tables_, std::move(key));
  }

  // Equal literals are equal bytes. `{...}` stands for what a text left out.
  ContentId OfConstant(hlo::InstrId id) {
    const hlo::Attribute* literal = module_.FindAttribute(id, hlo::AttributeKey::kLiteral);
    const hlo::ShapeId shape = module_.instructions[id].shape;
    if (literal == nullptr || module_.shapes.is_tuple(shape)) return New();
    const std::string_view text = module_.view(literal->text());
    if (text.find("...") != std::string_view::npos) return New();
    return Shared(constants_, std::pair(shape, text));
  }

 private:
  template <class Map, class Key>
  ContentId Shared(Map& map, Key&& key) {
    const auto [known, is_new] = map.try_emplace(std::forward<Key>(key), kLost);
    if (is_new) known->second = New();
    return known->second;
  }

  const hlo::Module& module_;
  ContentId count_ = kLost;
  std::unordered_map<std::string, ContentId> tables_;
  std::map<std::pair<hlo::ShapeId, std::string_view>, ContentId> constants_;
};

}  // namespace stowplan::check
