// SPDX-License-Identifier: Apache-2.0
#include "buffers/in_place.h"

#include <algorithm>
#include <optional>

#include "schedule/async_chain.h"

namespace stowplan {
namespace {

using hlo::AttributeKey;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;
using hlo::ShapeId;

class PairFinder {
 public:
  PairFinder(const Module& module, const Positions& positions, NoOps no_ops)
      : module_(module), positions_(positions), no_ops_(no_ops) {}

  InPlacePairs Run() {
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      const InstrId id(i);
      const size_t begin = found_.pairs.size();
      AddPairs(id);
      if (found_.pairs.size() == begin) continue;
      found_.instructions.push_back(id);
      found_.ranges.push_back(
          {static_cast<uint32_t>(begin), static_cast<uint32_t>(found_.pairs.size() - begin)});
    }
    return std::move(found_);
  }

 private:
  using Index = std::span<const int64_t>;

  // A part of an instruction's result.
  struct Part {
    InstrId instruction;
    std::vector<int64_t> index;
  };

  void Add(size_t operand, uint32_t input, uint32_t output) {
    if (input == Positions::kNowhere || output == Positions::kNowhere) return;
    found_.pairs.push_back({static_cast<uint32_t>(operand), input, output});
  }
  [[nodiscard]] ShapeId shape(InstrId id) const { return module_.instructions[id].shape; }
  [[nodiscard]] uint32_t Element(InstrId id, size_t k) const {
    const int64_t index[] = {static_cast<int64_t>(k)};
    return positions_.Find(module_.shapes, shape(id), index);
  }

  void AddPairs(InstrId id) {
    const std::span<const InstrId> operands = module_.operands_of(id);
    switch (module_.instructions[id].opcode) {
      case Opcode::kDynamicUpdateSlice:
      case Opcode::kSetDimensionSize:
        Add(0, 0, 0);
        break;
      case Opcode::kRaggedAllToAll:
        Add(1, 0, 0);
        break;
      case Opcode::kScatter:
        AddOneToOne(id, operands.size() / 2);
        break;
      case Opcode::kAllReduceStart:
        AddOneToOne(id, operands.size());
        break;
      case Opcode::kCollectivePermute:
      case Opcode::kCollectivePermuteStart:
        AddPermute(id);
        break;
      case Opcode::kCustomCall:
      case Opcode::kAsyncStart:
        AddDeclared(id);
        break;
      case Opcode::kAsyncUpdate:
        AddDeclared(id);
        AddBoundLate(id);
        break;
      case Opcode::kAsyncDone:
        AddResultOfAsync(id);
        break;
      case Opcode::kFusion:
        AddDiscovered(id);
        AddDeclared(id);
        break;
      default:
        break;
    }
  }

  // Operand k to output k; to the whole output when there is but one.
  void AddOneToOne(InstrId id, size_t count) {
    if (count == 1) {
      Add(0, 0, 0);
      return;
    }
    for (size_t k = 0; k < count; ++k) Add(k, 0, Element(id, k));
  }

  // With four operands (input, output, and where in them) the second is written into.
  void AddPermute(InstrId id) {
    const std::span<const InstrId> operands = module_.operands_of(id);
    if (operands.size() != 4) return;
    const bool is_start = module_.instructions[id].opcode == Opcode::kCollectivePermuteStart;
    const ShapeId output = shape(operands[1]);
    const size_t parts =
        module_.shapes.is_tuple(output) ? module_.shapes.elements(output).size() : 0;
    const auto at = [&](std::vector<int64_t> index) {
      if (is_start) index.insert(index.begin(), 1);
      return positions_.Find(module_.shapes, shape(id), index);
    };
    Add(1, 0, at({}));
    for (size_t k = 0; k < parts; ++k)
      Add(1, Element(operands[1], k), at({static_cast<int64_t>(k)}));
  }

  // Calls visit(operand, input index, output index) for each entry of the attribute.
  template <class Visit>
  void EachDeclaredIndex(InstrId id, Visit visit) const {
    const hlo::Attribute* attribute =
        module_.FindAttribute(id, AttributeKey::kOutputToOperandAliasing);
    if (attribute == nullptr) return;
    std::span<const int64_t> numbers = Module::Rows(module_.ints, attribute->rows());
    const auto take = [&](size_t count) {
      const std::span<const int64_t> taken = numbers.first(std::min(count, numbers.size()));
      numbers = numbers.subspan(taken.size());
      return taken;
    };
    const auto take_index = [&] { return take(static_cast<size_t>(take(1)[0])); };
    while (!numbers.empty()) {
      const std::span<const int64_t> output = take_index();
      const auto operand = static_cast<size_t>(take(1)[0]);
      const std::span<const int64_t> input = take_index();
      visit(operand, input, output);
    }
  }

  // Calls visit(operand, input offset, output offset).
  template <class Visit>
  void EachDeclared(InstrId id, Visit visit) const {
    const std::span<const InstrId> operands = module_.operands_of(id);
    EachDeclaredIndex(id, [&](size_t operand, Index input, Index output) {
      if (operand >= operands.size()) return;
      visit(operand, positions_.Find(module_.shapes, shape(operands[operand]), input),
            positions_.Find(module_.shapes, shape(id), output));
    });
  }

  void AddDeclared(InstrId id) {
    EachDeclared(
        id, [&](size_t operand, uint32_t input, uint32_t output) { Add(operand, input, output); });
  }

  // What the chain's start declares for operands that only this update gives.
  void AddBoundLate(InstrId id) {
    const InstrId start = AsyncStartOf(module_, id);
    if (start.is_none()) return;
    const std::span<const InstrId> operands = module_.operands_of(id);
    const size_t before = BoundOperands(module_, operands[0]).size();
    EachDeclaredIndex(start, [&](size_t number, Index input, Index output) {
      if (number < before || number - before + 1 >= operands.size()) return;
      const size_t operand = number - before + 1;
      Add(operand, positions_.Find(module_.shapes, shape(operands[operand]), input),
          positions_.Find(module_.shapes, shape(id), output));
    });
  }

  // What the chain's start declares for the result: the done reads operands from the chain.
  void AddResultOfAsync(InstrId id) {
    const InstrId start = AsyncStartOf(module_, id);
    if (start.is_none()) return;
    const ShapeId chain = shape(module_.operands_of(id)[0]);
    EachDeclaredIndex(start, [&](size_t number, Index input, Index output) {
      if (output.empty() || output[0] != 1) return;
      std::vector<int64_t> index = {0, static_cast<int64_t>(number)};
      index.insert(index.end(), input.begin(), input.end());
      Add(0, positions_.Find(module_.shapes, chain, index),
          positions_.Find(module_.shapes, shape(id), output.subspan(1)));
    });
  }

  // Looks through what only names a part.
  void Follow(Part& part) const {
    while (true) {
      const Opcode opcode = module_.instructions[part.instruction].opcode;
      const std::span<const InstrId> operands = module_.operands_of(part.instruction);
      if (opcode == Opcode::kTuple && !part.index.empty()) {
        part.instruction = operands[static_cast<size_t>(part.index[0])];
        part.index.erase(part.index.begin());
      } else {
        break;
      }
    }
    while (module_.instructions[part.instruction].opcode == Opcode::kGetTupleElement) {
      part.index.insert(part.index.begin(),
                        module_.NumberOr(part.instruction, AttributeKey::kIndex, 0));
      part.instruction = module_.operands_of(part.instruction)[0];
    }
  }
  // Looks through what gives the same bytes another shape.
  void FollowNoOps(Part& part) const {
    while (part.index.empty() && IsNoOp(part.instruction))
      part.instruction = module_.operands_of(part.instruction)[0];
  }
  void FollowAll(Part& part) const {
    Follow(part);
    FollowNoOps(part);
  }
  [[nodiscard]] bool IsNoOp(InstrId id) const {
    const Opcode opcode = module_.instructions[id].opcode;
    return opcode == Opcode::kBitcast ||
           (opcode == Opcode::kReshape && no_ops_ == NoOps::kBitcastsAndReshapes);
  }

  // Outputs of the fusion that end, in its body, in an in-place instruction on a parameter.
  void AddDiscovered(InstrId fusion) {
    const std::span<const hlo::CompId> called = module_.called_by(fusion);
    if (called.empty()) return;
    const InstrId root = module_.computations[called[0]].root;
    std::vector<int64_t> index;
    for (uint32_t offset = 0; offset < positions_.count(fusion); ++offset) {
      const PositionId output = positions_.At(fusion, offset);
      if (module_.shapes.is_tuple(positions_.shape(output))) continue;
      index.clear();
      positions_.AppendIndex(module_.shapes, shape(fusion), offset, index);
      Part source = {root, index};
      Follow(source);
      if (no_ops_ != NoOps::kOperandBitcasts) FollowNoOps(source);
      AddThrough(source, offset);
    }
  }

  void AddThrough(const Part& source, uint32_t output) {
    const uint32_t source_offset =
        positions_.Find(module_.shapes, shape(source.instruction), source.index);
    for (const InPlacePair& pair : PairsIn(source.instruction, /*with_declared=*/false)) {
      if (pair.output != source_offset) continue;
      Part input = Input(source.instruction, pair);
      FollowAll(input);
      if (module_.instructions[input.instruction].opcode == Opcode::kFusion) {
        const uint32_t input_offset =
            positions_.Find(module_.shapes, shape(input.instruction), input.index);
        for (const InPlacePair& inner : PairsIn(input.instruction, /*with_declared=*/true)) {
          if (inner.output != input_offset) continue;
          input = Input(input.instruction, inner);
          FollowAll(input);
          break;
        }
      }
      if (module_.instructions[input.instruction].opcode == Opcode::kParameter) {
        const auto number = static_cast<size_t>(
            module_.NumberOr(input.instruction, AttributeKey::kParameterNumber, 0));
        Add(number, positions_.Find(module_.shapes, shape(input.instruction), input.index), output);
      }
      return;
    }
  }

  [[nodiscard]] Part Input(InstrId id, const InPlacePair& pair) const {
    Part part = {module_.operands_of(id)[pair.operand], {}};
    positions_.AppendIndex(module_.shapes, shape(part.instruction), pair.input, part.index);
    return part;
  }

  // Of an instruction inside a fusion: bodies come before the fusions that call them, so their
  // pairs are known.
  [[nodiscard]] std::vector<InPlacePair> PairsIn(InstrId id, bool with_declared) const {
    const std::span<const InPlacePair> known = found_.of(id);
    std::vector<InPlacePair> pairs(known.begin(), known.end());
    if (with_declared || module_.instructions[id].opcode != Opcode::kFusion) return pairs;
    size_t declared = 0;
    EachDeclared(id, [&](size_t, uint32_t input, uint32_t output) {
      if (input != Positions::kNowhere && output != Positions::kNowhere) ++declared;
    });
    pairs.resize(pairs.size() - declared);
    return pairs;
  }

  const Module& module_;
  const Positions& positions_;
  NoOps no_ops_;
  InPlacePairs found_;
};

}  // namespace

std::span<const InPlacePair> InPlacePairs::of(InstrId id) const {
  const auto row = std::ranges::lower_bound(instructions, id);
  if (row == instructions.end() || *row != id) return {};
  const Range range = ranges[static_cast<size_t>(row - instructions.begin())];
  return std::span(pairs).subspan(range.begin, range.count);
}

InPlacePairs FindInPlacePairs(const Module& module, const Positions& positions, NoOps no_ops) {
  return PairFinder(module, positions, no_ops).Run();
}

}  // namespace stowplan
