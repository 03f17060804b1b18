// SPDX-License-Identifier: Apache-2.0
#include "hlo/shape_users.h"

#include <algorithm>

namespace stowplan::hlo {

std::vector<InstrId> FirstUsers(const Module& module) {
  std::vector<InstrId> users(module.shapes.size());
  for (size_t i = module.instructions.size(); i-- > 0;) {
    users[module.instructions[InstrId(i)].shape.index] = InstrId(i);
  }
  PassToParts(module.shapes, users);
  return users;
}

void PassToParts(const ShapeTable& shapes, std::vector<InstrId>& users) {
  // Parts have smaller ids than the whole, so that one pass downwards reaches them all.
  for (size_t s = shapes.size(); s-- > 0;) {
    for (const ShapeId part : shapes.elements(ShapeId(s))) {
      // None is the largest id.
      users[part.index] = std::min(users[part.index], users[s]);
    }
  }
}

}  // namespace stowplan::hlo
