// SPDX-License-Identifier: Apache-2.0
// What lies in memory.
#include "mutate/run.h"

namespace stowplan::mutate {

void Interpreter::Store(const Node& node) {
  EachStretch(node.place, SizeOf(node.shape),
              [&](Stretch& stretch, Hash offset) { stretch = {Mix(node.hash, offset), time_}; });
}

void Interpreter::Load(const Node& node, InstrId reader, int64_t since) {
  EachStretch(node.place, SizeOf(node.shape), [&](const Stretch& stretch, Hash offset) {
    if (stretch.hash == Mix(node.hash, offset)) return;
    if (stretch.time >= 0 && stretch.time <= since) return;
    Wrong(NameOf(reader) + " reads wrong bytes in allocation " +
          std::to_string(node.place.allocation));
  });
}

void Interpreter::LoadAll(const Node& node, InstrId reader, int64_t since) {
  Load(node, reader, since);
  for (const Node& part : node.parts) LoadAll(part, reader, since);
}

}  // namespace stowplan::mutate
