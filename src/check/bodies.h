// SPDX-License-Identifier: Apache-2.0
// What an instruction computes, written out: the body of a fusion with the bodies of the fusions in
// it, or the one instruction itself.
//
// A node is an instruction in one of these bodies. Where a body is used twice there are two nodes.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check/trees.h"
#include "stowplan/hlo/module.h"

namespace stowplan::check {

struct BodyNode {
  uint32_t frame = 0;
  hlo::InstrId id;
  auto operator<=>(const BodyNode&) const = default;
};

// Element i of the result is made of elements i of the operands.
bool IsByElement(hlo::Opcode opcode);

class Bodies {
 public:
  Bodies(const hlo::Module& module, hlo::InstrId user);

  // A part of an operand of the instruction.
  struct Leaf {
    uint32_t operand = 0;
    std::vector<int64_t> index;
  };
  // What makes a part of a result, after tuples and the ends of bodies: a leaf, or a node and the
  // part of its result.
  struct Source {
    BodyNode node;
    std::vector<int64_t> index;
    std::optional<Leaf> leaf;
  };
  // The part of what the instruction returns, or of an operand of a node.
  [[nodiscard]] Source Output(std::vector<int64_t> index) {
    return Follow(root_, std::move(index));
  }
  [[nodiscard]] Source Operand(const BodyNode& node, size_t k, std::vector<int64_t> index = {});
  // The same after bitcasts.
  [[nodiscard]] Source BehindBitcasts(Source source);

  [[nodiscard]] hlo::Opcode opcode(const BodyNode& node) const {
    return module_.instructions[node.id].opcode;
  }
  [[nodiscard]] hlo::ShapeId shape(const BodyNode& node) const {
    return module_.instructions[node.id].shape;
  }
  [[nodiscard]] hlo::ShapeId ShapeOf(const Source& source) const;

  // Equal numbers: equal values, as far as that shows.
  [[nodiscard]] uint32_t ValueOf(const Source& source);
  // Of a constant integer.
  [[nodiscard]] std::optional<int64_t> IntegerOf(const Source& source) const;

 private:
  [[nodiscard]] Source Follow(BodyNode node, std::vector<int64_t> index);
  [[nodiscard]] uint32_t Enter(const BodyNode& fusion);
  // What an instruction computes of its operands, in words; nothing when it is not only that.
  [[nodiscard]] std::optional<std::string> WordsFor(const Source& source) const;
  [[nodiscard]] uint32_t Number(std::string words);

  struct Frame {
    BodyNode fusion;
  };
  const hlo::Module& module_;
  hlo::InstrId user_;
  bool is_fusion_ = false;
  BodyNode root_;
  std::vector<Frame> frames_;
  std::map<BodyNode, uint32_t> entered_;  // frames, by fusion
  std::map<std::string, uint32_t> numbers_;
  std::map<std::pair<BodyNode, std::vector<int64_t>>, uint32_t> values_;
};

}  // namespace stowplan::check
