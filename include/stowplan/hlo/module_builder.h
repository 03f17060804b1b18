// SPDX-License-Identifier: Apache-2.0
// The only way to make a Module. The readers of both formats use it, and so can a program that
// makes its own modules.
//
//     ModuleBuilder b(source, Format::kText);
//     CompId c = b.BeginComputation(name);
//     const Instruction head = {.name = ..., .shape = ..., .opcode = Opcode::kParameter};
//     InstrId p = b.AddInstruction(head, operands, attributes);
//     b.EndComputation(p);
//     Module m = std::move(b).Build(c);
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "stowplan/hlo/module.h"

namespace stowplan::hlo {

class ModuleBuilder {
 public:
  explicit ModuleBuilder(std::shared_ptr<const Source> source, Format format);

  // The module so far; its header, shapes, stack frames, dialect and pools may be filled directly.
  Module& module() { return module_; }
  [[nodiscard]] const Module& module() const { return module_; }

  // Views into the source's bytes are kept as they are; any other string is copied.
  Text ToText(std::string_view characters);
  Text AddText(std::string_view characters);

  CompId BeginComputation(Text name);
  // `attributes` need not be in print order. Called computations are found in them. Operands,
  // attributes and parameters must belong to this module.
  InstrId AddInstruction(const Instruction& head, std::span<const InstrId> operands,
                         std::span<const Attribute> attributes);
  // Ends the computation begun last. `root` defaults to its last instruction.
  void EndComputation(InstrId root);

  Range AddInts(std::span<const int64_t> numbers);
  Range AddTexts(std::span<const Text> texts);
  Range AddShapes(std::span<const ShapeId> shapes);
  Range AddComputations(std::span<const CompId> computations);
  Range AddInstructions(std::span<const InstrId> instructions);

  Module Build(CompId entry) &&;

 private:
  Module module_;
};

}  // namespace stowplan::hlo
