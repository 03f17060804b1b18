// SPDX-License-Identifier: Apache-2.0
// What must hold when the program has ended.
#include "mutate/run.h"

namespace stowplan::mutate {

void Interpreter::Finish() {
  if (judgement_.opinion == Opinion::kHarmful) return;
  const InstrId root = module_.computations[module_.entry].root;
  const Node& result = env_[root.index];
  LoadAll(result, root);
  std::vector<const Node*> leaves;
  Leaves(result, leaves);
  std::set<Place> seen;
  for (const Node* leaf : leaves) {
    if (!leaf->parts.empty() || module_.shapes.is_tuple(leaf->shape) ||
        leaf->place.allocation < 0 || SizeOf(leaf->shape) == 0)
      continue;
    if (!seen.insert(leaf->place).second) Wrong("two outputs in one place");
  }
  std::set<std::pair<uint32_t, std::vector<int64_t>>> donated;
  const std::span<const InstrId> parameters = module_.parameters_of(module_.entry);
  for (const hlo::InputOutputAlias& alias : module_.header.aliases) {
    const InstrId parameter = parameters[static_cast<size_t>(alias.parameter)];
    donated.insert({parameter.index, alias.parameter_index});
    const Node* in = Find(env_[parameter.index], alias.parameter_index);
    const Node* out = Find(result, alias.output_index);
    if (in == nullptr || out == nullptr || SizeOf(out->shape) == 0) continue;
    if (in->place.allocation >= 0 && out->place.allocation >= 0 && in->place != out->place)
      Wrong("an output is not where it was promised");
  }
  for (const InstrId parameter : parameters) {
    std::vector<int64_t> index;
    Keep(env_[parameter.index], parameter, index, donated);
  }
  for (size_t i = 0; i < module_.instructions.size(); ++i) {
    if (IsLoaded(InstrId(i))) LoadAll(env_[i], InstrId(i));
  }
}

const Node* Interpreter::Find(const Node& node, const std::vector<int64_t>& index) {
  const Node* at = &node;
  for (const int64_t k : index) {
    if (static_cast<size_t>(k) >= at->parts.size()) return nullptr;
    at = &at->parts[static_cast<size_t>(k)];
  }
  return at;
}

void Interpreter::Keep(const Node& node, InstrId parameter, std::vector<int64_t>& index,
                       const std::set<std::pair<uint32_t, std::vector<int64_t>>>& donated) {
  if (!donated.contains({parameter.index, index})) Load(node, parameter);
  for (size_t k = 0; k < node.parts.size(); ++k) {
    index.push_back(static_cast<int64_t>(k));
    Keep(node.parts[k], parameter, index, donated);
    index.pop_back();
  }
}

}  // namespace stowplan::mutate
