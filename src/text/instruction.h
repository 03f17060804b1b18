// SPDX-License-Identifier: Apache-2.0
// Instructions.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "text/attributes.h"
#include "text/reader.h"

namespace stowplan::text {

// Reads the instructions of one computation after the other.
class InstructionParser {
 public:
  explicit InstructionParser(Reader& reader) : r_(reader) {}

  // Before the first instruction of a computation.
  void BeginComputation();
  // Adds the computation that the short form of an async operation implies.
  void AddWrapper(const PendingComputation::Wrapper& wrapper);

  // One instruction; false after an error, with the cursor somewhere inside.
  bool Parse(bool& is_root, hlo::InstrId& id);
  // Moves on to where the next instruction, or the end of the computation, is likely to be.
  void Recover(const char* begin);

  // Operands that do not exist become parameters: a text may be a single instruction.
  void set_makes_parameters() { makes_parameters_ = true; }

 private:
  // What follows `name =`; `depth` counts the operand lists around it.
  hlo::InstrId ParseBody(std::string_view name, int depth);
  bool ParseOwnAttributes(hlo::Opcode opcode, AsyncForm form, int depth);
  bool ParseOperands(hlo::Opcode opcode, hlo::ShapeId shape, int depth);
  bool ParseOperand(int depth);
  bool ParseOperandName(hlo::ShapeId shape);
  bool ParseElementSteps(hlo::InstrId& id);
  hlo::ShapeId ShapeOfPending(hlo::Opcode opcode);
  hlo::ShapeId ResultShape(const char* body);
  hlo::ShapeId ShapeOfOuter(hlo::Opcode opcode);
  bool ParseConstant(hlo::ShapeId shape);
  hlo::InstrId MakeParameter(std::string_view name, hlo::ShapeId shape);
  hlo::InstrId MakeElement(hlo::InstrId tuple, int64_t index);
  bool WrapAsync(hlo::Opcode wrapped, hlo::ShapeId shape, std::string_view name);
  void CompleteWrapper(hlo::InstrId chain, hlo::ShapeId shape);
  hlo::Text UniqueName(const std::string& wish);
  void GiveWay(std::string_view name);

  Reader& r_;
  AttributeList attributes_;
  std::vector<hlo::InstrId> operands_;  // of the instructions being read, innermost last
  hlo::Attribute operand_part_;         // a parameter's number or a constant's literal
  bool has_operand_part_ = false;
  // (tuple, index) -> its implicit get-tuple-element.
  std::unordered_map<uint64_t, hlo::InstrId> elements_;
  // Names that were generated in this computation: whose they are, and the suffix to try next for a
  // similar one.
  struct MadeName {
    hlo::InstrId owner;
    int next_suffix = 0;
  };
  std::unordered_map<std::string, MadeName> made_names_;
  // Instructions that could not be read, so that no errors are reported for their users.
  std::unordered_set<std::string_view> failed_;
  int64_t made_parameters_ = 0;
  bool makes_parameters_ = false;
};

}  // namespace stowplan::text
