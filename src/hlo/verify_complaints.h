// SPDX-License-Identifier: Apache-2.0
// The list that Verify fills, and the facts its parts share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"

namespace stowplan::hlo {

// Collects complaints about parts of a module; finds their places only at the end, in one pass over
// the input.
class Complaints {
 public:
  explicit Complaints(const Module& module) : module_(module) {}

  // The instruction's or computation's name is put in front of `message`.
  void At(InstrId id, const std::string& message);
  void At(CompId id, const std::string& message);
  void AtHeader(std::string message);

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] Diagnostics Finish() &&;

 private:
  struct Row {
    std::optional<Text> place;  // a name inside the input
    std::string path;
    std::string message;
  };
  [[nodiscard]] std::optional<Text> PlaceOf(Text name) const;

  const Module& module_;
  std::vector<Row> rows_;
};

// `name`, cut when it is very long.
std::string Quote(std::string_view name);
// {1,0}
std::string IndexText(std::span<const int64_t> index);

// A module under verification.
class Verifier {
 public:
  Verifier(const Module& m, Complaints& c);

  const Module& module;
  Complaints& complaints;

  // Whether the shapes are equal, ignoring layouts and dynamic dimensions. Shapes with an unbounded
  // dimension are compatible with all shapes.
  [[nodiscard]] bool IsCompatible(ShapeId a, ShapeId b) const;
  [[nodiscard]] bool IsScalar(ShapeId id, ElementType type) const;
  [[nodiscard]] bool IsEmptyTuple(ShapeId id) const {
    return module.shapes.is_tuple(id) && module.shapes.elements(id).empty();
  }
  // The shape that a buffer, b(f32[2]), holds; other shapes as they are.
  [[nodiscard]] ShapeId InsideBuffer(ShapeId id) const {
    return module.shapes[id].type == ElementType::kBuffer ? module.shapes.elements(id)[0] : id;
  }
  // The part of a shape at an index, if there is one.
  [[nodiscard]] std::optional<ShapeId> FindPart(ShapeId id, std::span<const int64_t> index) const;
  [[nodiscard]] ShapeId shape(InstrId id) const { return module.instructions[id].shape; }
  // The shape in a few words: "f32[2,3]", "a tuple of 3 elements".
  [[nodiscard]] std::string Describe(ShapeId id) const;
  // Where two incompatible shapes differ: "f32[2] and f32[3] at {0,1}".
  [[nodiscard]] std::string DescribeDifference(ShapeId a, ShapeId b) const;

 private:
  // By shape: equal numbers for compatible shapes.
  std::vector<uint32_t> class_;
  std::vector<bool> has_unbounded_;  // by shape
};

// False if an id points nowhere; nothing else may be inspected then.
bool VerifyIds(Verifier& verifier);
void VerifyNames(Verifier& verifier);
void VerifyParameters(Verifier& verifier);
void VerifyOrder(Verifier& verifier);
void VerifyCallGraph(Verifier& verifier);
void VerifySizes(Verifier& verifier);
void VerifyInstruction(Verifier& verifier, InstrId id);
// The part of VerifyInstruction for instructions that call computations.
void VerifyCall(Verifier& verifier, InstrId id);
void VerifyOperandAliasing(Verifier& verifier, InstrId id);
void VerifyHeader(Verifier& verifier);

}  // namespace stowplan::hlo
