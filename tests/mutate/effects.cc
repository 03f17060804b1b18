// SPDX-License-Identifier: Apache-2.0
// Instructions that read and write; asynchronous operations.
#include "mutate/run.h"

namespace stowplan::mutate {

void Interpreter::StepOther(InstrId id, const std::vector<const Node*>& inputs) {
  const Opcode opcode = OpcodeOf(id);
  switch (opcode) {
    case Opcode::kCopyDone:
    case Opcode::kAllGatherDone:
    case Opcode::kCollectivePermuteDone:
    case Opcode::kAsyncDone:
    case Opcode::kAllReduceDone:
      Finish(id, *inputs[0]);
      return;
    case Opcode::kAsyncStart:
      StartAsync(id, inputs);
      return;
    case Opcode::kAsyncUpdate:
      Set(id, *inputs[0]);
      return;
    default:
      break;
  }
  Hash seed = Mix(11, id.index);
  for (const Node* input : inputs) {
    LoadAll(*input, id);
    seed = Mix(seed, HashOf(*input));
  }
  if (judgement_.opinion == Opinion::kHarmful) return;
  Node result = Fresh(id, seed);
  if (opcode == Opcode::kCopy && !inputs.empty()) {
    if (!inputs[0]->parts.empty()) {
      result = Table(id, {}, result.shape, inputs[0]->parts);
      Set(id, std::move(result));
      Store(env_[id.index]);
      return;
    }
    if (IsPlainCopy(inputs[0]->shape, result.shape)) result.hash = inputs[0]->hash;
  }
  if (opcode == Opcode::kCopyStart) {
    if (IsPlainCopy(inputs[0]->shape, result.parts[0].shape))
      result.parts[0].hash = inputs[0]->hash;
    result.parts[1] = *inputs[0];
    result.hash = TableHash(result);
  }
  const bool hands_on_first = opcode == Opcode::kSend || opcode == Opcode::kRecvDone;
  if (hands_on_first) {
    result.parts[0] = opcode == Opcode::kSend ? *inputs[0] : inputs[0]->parts[0];
    result.hash = TableHash(result);
  }
  if (opcode == Opcode::kAllGatherStart || opcode == Opcode::kCollectivePermuteStart) {
    if (inputs.size() == 1) result.parts[0] = *inputs[0];
    result.hash = TableHash(result);
  }
  CheckSharing(id, inputs, result);
  if (opcode == Opcode::kCustomCall) CheckConcatenation(id, inputs, result);
  if (opcode == Opcode::kCopyStart) {
    StoreNew(result);
    StoreNew(result.parts[0]);
    StoreNew(result.parts[2]);
  } else if (((opcode == Opcode::kAllGatherStart || opcode == Opcode::kCollectivePermuteStart) &&
              inputs.size() == 1) ||
             hands_on_first) {
    StoreNew(result);
    for (size_t k = 1; k < result.parts.size(); ++k) StoreAll(result.parts[k]);
  } else {
    StoreAll(result);
  }
  Set(id, std::move(result));
  flights_[id] = time_;
}

Hash Interpreter::HashOf(const Node& node) {
  if (node.parts.empty()) return node.hash;
  Hash h = 13;
  for (const Node& part : node.parts) h = Mix(h, HashOf(part));
  return h;
}

bool Interpreter::IsPlainCopy(ShapeId a, ShapeId b) const {
  if (module_.shapes[a].type != module_.shapes[b].type) return false;
  if (!std::ranges::equal(module_.shapes.dims(a), module_.shapes.dims(b))) return false;
  hlo::Layout x;
  hlo::Layout y;
  if (!module_.shapes[a].layout.is_none()) x = module_.shapes.layout(module_.shapes[a].layout);
  if (!module_.shapes[b].layout.is_none()) y = module_.shapes.layout(module_.shapes[b].layout);
  x.memory_space = y.memory_space = 0;
  return x == y;
}

void Interpreter::StartAsync(InstrId id, const std::vector<const Node*>& inputs) {
  std::vector<Node> given;
  for (const Node* input : inputs) {
    LoadAll(*input, id);
    given.push_back(*input);
  }
  const CompId callee = module_.called_by(id)[0];
  for (size_t k = 0; k < given.size(); ++k)
    Set(module_.parameters_of(callee)[k], SeenAt(given[k], module_.parameters_of(callee)[k]));
  RunComputation(callee);
  if (judgement_.opinion == Opinion::kHarmful) return;
  ++time_;
  const ShapeId shape = module_.instructions[id].shape;
  Node result = Fresh(id, Mix(11, id.index));
  result.parts[0] = Table(id, {0}, module_.shapes.elements(shape)[0], std::move(given));
  const Node root = env_[module_.computations[callee].root.index];
  const bool is_own_table = !root.parts.empty();
  result.parts[1] = SeenAtPart(root, id, 1);
  result.hash = TableHash(result);
  StoreNew(result);
  StoreNew(result.parts[0]);
  if (is_own_table) StoreNew(result.parts[1]);
  for (size_t k = 2; k < result.parts.size(); ++k) StoreAll(result.parts[k]);
  Set(id, std::move(result));
  flights_[id] = time_;
}

Node Interpreter::SeenAtPart(Node node, InstrId id, int64_t part) {
  std::vector<int64_t> index = {part};
  MoveTo(node, id, index);
  return node;
}

void Interpreter::Finish(InstrId id, const Node& chain) {
  InstrId start = module_.operands_of(id)[0];
  while (OpcodeOf(start) == Opcode::kAsyncUpdate) start = module_.operands_of(start)[0];
  LoadAll(chain, id, flights_.contains(start) ? flights_[start] : -1);
  const Opcode opcode = OpcodeOf(id);
  if (OpcodeOf(start) == Opcode::kAsyncStart) CheckScratch(start, id);
  Node node = opcode == Opcode::kAllReduceDone ? chain
              : opcode == Opcode::kCopyDone    ? chain.parts[0]
                                               : chain.parts[1];
  const bool is_table = !node.parts.empty() && opcode != Opcode::kAllReduceDone;
  Node seen = SeenAt(std::move(node), id);
  if (is_table) {
    seen = Table(id, {}, seen.shape, std::move(seen.parts));
    // The table is written while the operation may still read.
    std::vector<const Node*> read;
    Leaves(chain, read);
    for (size_t r = 0; r < read.size(); ++r) Compare(id, 0, r, 0, *read[r], seen);
    Store(seen);
  }
  Set(id, std::move(seen));
}

void Interpreter::CheckScratch(InstrId start, InstrId done) {
  const hlo::Computation& callee = module_.computations[module_.called_by(start)[0]];
  for (uint32_t k = 0; k < callee.count; ++k) {
    const InstrId id(size_t{callee.first.index} + k);
    if (OpcodeOf(id) == Opcode::kParameter || is_there_[id.index] == 0 ||
        !Named(id, {}).has_value() || IsLoaded(id))
      continue;
    EachStretch(env_[id.index].place, SizeOf(env_[id.index].shape),
                [&](const Stretch& stretch, Hash) {
                  if (stretch.time > flights_[start])
                    Wrong(NameOf(done) + " finds its scratch changed");
                });
  }
}

}  // namespace stowplan::mutate
