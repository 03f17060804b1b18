// SPDX-License-Identifier: Apache-2.0
#include "check/heroes.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace stowplan::check {

using hlo::AttributeKey;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;

namespace {

// XLA's word for fusions that are executed around a reduction, a transposition or a scatter.
bool IsInputFusion(const Module& module, InstrId user) {
  const hlo::Attribute* kind = module.FindAttribute(user, AttributeKey::kKind);
  return kind != nullptr && module.view(kind->text()) == "kInput";
}

// The dimensions of a transposition that moves elements; else empty.
Hero HeroAt(const Module& module, const Bodies& bodies, const BodyNode& node) {
  const hlo::Attribute* attribute = module.FindAttribute(node.id, AttributeKey::kDimensions);
  if (bodies.opcode(node) != Opcode::kTranspose || attribute == nullptr) return {};
  const std::span<const int64_t> from = Module::Rows(module.ints, attribute->rows());
  const std::span<const int64_t> dims = module.shapes.dims(bodies.shape(node));
  std::vector<int64_t> moved;
  for (size_t d = 0; d < std::min(from.size(), dims.size()); ++d) {
    if (dims[d] != 1) moved.push_back(from[d]);
  }
  return std::ranges::is_sorted(moved) ? Hero() : Hero(from.begin(), from.end());
}

// What stands at the end of a walk over what is done element by element.
struct Found {
  Hero hero;
  bool has_reduction = false;
};
Found Walk(const Module& module, Bodies& bodies, const std::vector<int64_t>& output) {
  Found found;
  std::set<BodyNode> seen;
  std::vector<Bodies::Source> stack = {bodies.Output(output)};
  while (!stack.empty()) {
    const Bodies::Source source = std::move(stack.back());
    stack.pop_back();
    if (source.leaf || !seen.insert(source.node).second) continue;
    const Opcode opcode = bodies.opcode(source.node);
    found.has_reduction = found.has_reduction || opcode == Opcode::kReduce;
    if (Hero hero = HeroAt(module, bodies, source.node); !hero.empty() && found.hero.empty())
      found.hero = std::move(hero);
    if (!IsByElement(opcode) && opcode != Opcode::kBitcast) continue;
    for (size_t k = module.operands_of(source.node.id).size(); k-- > 0;)
      stack.push_back(bodies.Operand(source.node, k));
  }
  return found;
}

}  // namespace

std::vector<Hero> FindHeroes(const Module& module, InstrId user, Bodies& bodies,
                             const std::vector<std::vector<int64_t>>& outputs) {
  std::vector<Hero> heroes(outputs.size());
  if (outputs.size() < 2 || !IsInputFusion(module, user)) return heroes;
  bool has_reduction = false;
  for (size_t k = 0; k < outputs.size(); ++k) {
    Found found = Walk(module, bodies, outputs[k]);
    heroes[k] = std::move(found.hero);
    has_reduction = has_reduction || found.has_reduction;
  }
  if (has_reduction) std::ranges::fill(heroes, Hero());
  return heroes;
}

}  // namespace stowplan::check
