// SPDX-License-Identifier: Apache-2.0
// Values and their places.
#include "mutate/run.h"

namespace stowplan::mutate {

Hash Interpreter::TableHash(const Node& node) {
  Hash h = 17;
  for (const Node& part : node.parts)
    h = Mix(Mix(h, static_cast<Hash>(part.place.allocation)), static_cast<Hash>(part.place.offset));
  return h;
}

Node Interpreter::Fresh(InstrId id, ShapeId shape, std::vector<int64_t>& index, Hash seed) {
  Node node;
  node.shape = shape;
  node.place = Named(id, index).value_or(Place{});
  node.hash = seed;
  for (const int64_t k : index) node.hash = Mix(node.hash, static_cast<Hash>(k) + 1);
  if (module_.shapes.is_tuple(shape)) {
    int64_t k = 0;
    for (const ShapeId element : module_.shapes.elements(shape)) {
      index.push_back(k++);
      node.parts.push_back(Fresh(id, element, index, seed));
      index.pop_back();
    }
    node.hash = TableHash(node);
  }
  return node;
}

Node Interpreter::Fresh(InstrId id, Hash seed) {
  std::vector<int64_t> index;
  return Fresh(id, module_.instructions[id].shape, index, seed);
}

void Interpreter::StoreNew(const Node& node) {
  EachStretch(node.place, SizeOf(node.shape), [&](Stretch& stretch, Hash offset) {
    const bool is_second = time_ > 0 && stretch.time == time_;
    stretch = {is_second ? Mix(static_cast<Hash>(time_), 99) : Mix(node.hash, offset), time_};
  });
}

void Interpreter::StoreAll(const Node& node) {
  StoreNew(node);
  for (const Node& part : node.parts) StoreAll(part);
}

void Interpreter::MoveTo(Node& node, InstrId id, std::vector<int64_t>& index) {
  if (const auto place = Named(id, index)) node.place = *place;
  for (size_t k = 0; k < node.parts.size(); ++k) {
    index.push_back(static_cast<int64_t>(k));
    MoveTo(node.parts[k], id, index);
    index.pop_back();
  }
}

Node Interpreter::SeenAt(Node node, InstrId id) {
  std::vector<int64_t> index;
  MoveTo(node, id, index);
  return node;
}

Node Interpreter::Table(InstrId id, const std::vector<int64_t>& index, ShapeId shape,
                        std::vector<Node> parts) {
  Node node;
  node.shape = shape;
  node.parts = std::move(parts);
  node.place = Named(id, index).value_or(Place{});
  node.hash = TableHash(node);
  return node;
}

const Node* Interpreter::ValueOf(InstrId id, InstrId reader) {
  if (is_there_[id.index] == 0) {
    Wrong(NameOf(reader) + " runs before " + NameOf(id));
    return nullptr;
  }
  return &env_[id.index];
}

void Interpreter::Set(InstrId id, Node node) {
  env_[id.index] = std::move(node);
  is_there_[id.index] = 1;
}

}  // namespace stowplan::mutate
