// SPDX-License-Identifier: Apache-2.0
#include "check/meaning.h"

#include <algorithm>

#include "hlo/handed_on.h"

namespace stowplan::check {
namespace {

using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;
using hlo::ShapeId;

class SourceFinder {
 public:
  SourceFinder(const Module& module, const Trees& trees, InstrId id, std::vector<Source>& out)
      : module_(module), trees_(trees), id_(id), operands_(module.operands_of(id)), out_(out) {
    out_.assign(trees.count(shape()), Source{});
  }

  void Run() {
    switch (module_.instructions[id_].opcode) {
      case Opcode::kBitcast:
      case Opcode::kDomain:
      case Opcode::kOptBarrier:
      case Opcode::kAddDependency:
      case Opcode::kAllReduceDone:
        Forward(0, shape(), 0, 0, Source::Kind::kOperand);
        break;
      case Opcode::kGetTupleElement:
        ForwardPart(0, {module_.NumberOr(id_, hlo::AttributeKey::kIndex, 0)}, {});
        break;
      case Opcode::kTuple:
        for (size_t k = 0; k < operands_.size(); ++k) ForwardPart(k, {}, {static_cast<int64_t>(k)});
        break;
      case Opcode::kCopy:
        if (module_.shapes.is_tuple(shape())) {
          Forward(0, shape(), 0, 0, Source::Kind::kOperand);
          out_[0] = {};
        }
        break;
      case Opcode::kCopyStart:
        ForwardPart(0, {}, {1});
        break;
      case Opcode::kCopyDone:
        ForwardPart(0, {0}, {});
        break;
      case Opcode::kAllGatherStart:
      case Opcode::kCollectivePermuteStart:
        ForwardInputs();
        break;
      case Opcode::kAllGatherDone:
      case Opcode::kCollectivePermuteDone:
        ForwardPart(0, {1}, {});
        if (module_.shapes.is_tuple(shape())) out_[0] = {};
        break;
      case Opcode::kSend:
      case Opcode::kRecvDone:
        if (module_.instructions[id_].opcode == Opcode::kSend) {
          ForwardPart(0, {}, {0});
        } else {
          ForwardPart(0, {0}, {0});
        }
        break;
      case Opcode::kAsyncStart:
      case Opcode::kAsyncUpdate:
      case Opcode::kAsyncDone:
        RunAsync();
        break;
      case Opcode::kFusion:
        for (const hlo::HandedOn& part : hlo::FindHandedOn(module_, id_))
          ForwardPart(part.operand, {part.input.begin(), part.input.end()},
                      {part.output.begin(), part.output.end()});
        break;
      default:
        break;
    }
  }

 private:
  [[nodiscard]] ShapeId shape() const { return module_.instructions[id_].shape; }

  // A subtree of the result from one of the source, which has the same shape.
  void Forward(uint32_t operand, ShapeId shape, uint32_t to, uint32_t from, Source::Kind kind) {
    const uint32_t count = trees_.count(shape);
    for (uint32_t k = 0; k < count && to + k < out_.size(); ++k)
      out_[to + k] = {kind, operand, from + k};
  }
  void ForwardPart(size_t operand, std::vector<int64_t> from, std::vector<int64_t> to) {
    if (operand >= operands_.size()) return;
    const ShapeId source = module_.instructions[operands_[operand]].shape;
    const auto a = trees_.Find(module_, source, from);
    const auto b = trees_.Find(module_, shape(), to);
    if (!a || !b) return;
    const ShapeId part = trees_.shape(trees_.top(id_) + *b);
    if (trees_.count(part) != trees_.count(trees_.shape(trees_.top(operands_[operand]) + *a)))
      return;
    Forward(static_cast<uint32_t>(operand), part, *b, *a, Source::Kind::kOperand);
  }

  // ((operands), results, ...), or (operand, result, ...) for one. Tables are the start's own.
  void ForwardInputs() {
    if (module_.shapes.elements(shape()).empty()) return;
    const ShapeId first = module_.shapes.elements(shape())[0];
    const bool is_list = module_.shapes.is_tuple(first) &&
                         (operands_.size() != 1 ||
                          !module_.shapes.is_tuple(module_.instructions[operands_[0]].shape));
    if (!is_list) {
      ForwardPart(0, {}, {0});
      return;
    }
    for (size_t k = 0; k < operands_.size(); ++k) ForwardPart(k, {}, {0, static_cast<int64_t>(k)});
  }

  // How many operands a chain has so far.
  [[nodiscard]] size_t Bound(InstrId chain) const {
    const std::span<const ShapeId> parts =
        module_.shapes.elements(module_.instructions[chain].shape);
    return parts.empty() ? 0 : module_.shapes.elements(parts[0]).size();
  }
  // The parts that both have: those of each element of the chain, or of its elements.
  void Forward(uint32_t operand, ShapeId chain) {
    if (chain == shape()) {
      Forward(operand, chain, 0, 0, Source::Kind::kOperand);
      return;
    }
    const size_t count = module_.shapes.elements(chain).size();
    for (size_t k = 0; k < count; ++k) {
      const ShapeId part = module_.shapes.elements(chain)[k];
      const size_t elements =
          module_.shapes.is_tuple(part) ? module_.shapes.elements(part).size() : 0;
      for (size_t e = 0; e < elements; ++e)
        ForwardPart(operand, {static_cast<int64_t>(k), static_cast<int64_t>(e)},
                    {static_cast<int64_t>(k), static_cast<int64_t>(e)});
    }
  }
  // What the wrapped computation returns.
  void ForwardResult(InstrId start) {
    if (module_.called_by(start).empty()) return;
    const auto result = trees_.Find(module_, shape(), std::vector<int64_t>{1});
    const InstrId root = module_.computations[module_.called_by(start)[0]].root;
    if (!result) return;
    const ShapeId part = trees_.shape(trees_.top(id_) + *result);
    if (trees_.count(part) == trees_.count(module_.instructions[root].shape))
      Forward(0, part, *result, 0, Source::Kind::kCallee);
  }

  void RunAsync() {
    const Opcode opcode = module_.instructions[id_].opcode;
    if (opcode == Opcode::kAsyncStart) {
      for (size_t k = 0; k < operands_.size(); ++k)
        ForwardPart(k, {}, {0, static_cast<int64_t>(k)});
      ForwardResult(id_);
    } else if (opcode == Opcode::kAsyncUpdate && !operands_.empty()) {
      // Operands and contexts of the chain, operands that the update adds, and the result.
      Forward(0, module_.instructions[operands_[0]].shape);
      const int64_t before = static_cast<int64_t>(Bound(operands_[0]));
      for (size_t k = 1; k < operands_.size(); ++k)
        ForwardPart(k, {}, {0, before + static_cast<int64_t>(k) - 1});
      InstrId start = operands_[0];
      while (module_.instructions[start].opcode == Opcode::kAsyncUpdate &&
             !module_.operands_of(start).empty())
        start = module_.operands_of(start)[0];
      if (operands_.size() > 1 && module_.instructions[start].opcode == Opcode::kAsyncStart)
        ForwardResult(start);
    } else {
      ForwardPart(0, {1}, {});
    }
    // Each has tables of its own.
    for (uint32_t row = 0; row < out_.size(); ++row) {
      if (module_.shapes.is_tuple(trees_.shape(trees_.top(id_) + row))) out_[row] = {};
    }
  }

  const Module& module_;
  const Trees& trees_;
  InstrId id_;
  std::span<const InstrId> operands_;
  std::vector<Source>& out_;
};

}  // namespace

void FindSources(const Module& module, const Trees& trees, InstrId id, std::vector<Source>& out) {
  SourceFinder(module, trees, id, out).Run();
}

bool ReadsBytes(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAddDependency:
    case Opcode::kAfterAll:
    case Opcode::kBitcast:
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kDomain:
    case Opcode::kGetTupleElement:
    case Opcode::kOptBarrier:
    case Opcode::kTuple:
    case Opcode::kWhile:
      return false;
    default:
      return true;
  }
}

bool KeepsBytes(const Module& module, ShapeId from, ShapeId to) {
  const hlo::ShapeTable& shapes = module.shapes;
  if (!hlo::IsArray(shapes[from].type) || shapes[from].type != shapes[to].type) return false;
  if (!std::ranges::equal(shapes.dims(from), shapes.dims(to))) return false;
  const auto layout = [&](ShapeId id) {
    hlo::Layout copy;
    if (!shapes[id].layout.is_none()) copy = shapes.layout(shapes[id].layout);
    copy.memory_space = 0;
    return copy;
  };
  return layout(from) == layout(to);
}

}  // namespace stowplan::check
