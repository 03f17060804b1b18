// SPDX-License-Identifier: Apache-2.0
// The attributes of an instruction, from the fields that its opcode has.
//
// What XLA would not print is left out, so a module is the same as if it were read from XLA's text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/context.h"
#include "proto/id_map.h"
#include "proto/kept_fields.h"
#include "proto/shape_reader.h"
#include "stowplan/hlo/module.h"

namespace stowplan::proto {

// What is known about an instruction before its attributes.
struct InstructionHead {
  std::string_view at;  // where it is in the source
  hlo::Opcode opcode = hlo::Opcode::kUnknown;
  hlo::ShapeId shape;
  std::span<const hlo::InstrId> operands;
};

class AttributeReader {
 public:
  // `computations` has the ids of those already read, `instructions` those of this computation's
  // instructions.
  AttributeReader(Context& context, ShapeReader& shapes, const IdMap& computations,
                  const IdMap& instructions);

  // The result is valid until the next call.
  std::span<const hlo::Attribute> Read(const InstructionHead& head, const KeptFields& fields);

 private:
  using Field = InstructionField;
  using Key = hlo::AttributeKey;

  enum class Empty : uint8_t { kDropped, kKept };

  // The opcode's own.
  void ReadOwn();
  void ReadOwnRare();
  void ReadParameter();
  void ReadCollective();
  void ReadCustomCall();
  void ReadConvolution();
  void ReadDot();
  void ReadGather();
  void ReadScatter();
  void ReadCompare();
  void ReadTriangularSolve();
  void ReadCholesky();
  void ReadAsyncStart();
  void ReadCopyStart();
  void ReadScan();
  void ReadUnknown();
  void ReadCalled();
  // Those that any instruction may have.
  void ReadCommon();
  void ReadSharding();
  void ReadControlPredecessors();

  // Pieces of these.
  void AddNumber(Key key, int64_t number) {
    attributes_.push_back(hlo::Attribute::OfNumber(key, number));
  }
  void AddNumber(Key key, Field field) { AddNumber(key, fields_->Number(field)); }
  void AddFlag(Key key, Field field);            // when true
  void AddWord(Key key, std::string_view word);  // a word of the program
  void AddEnum(Key key, int64_t number, std::span<const std::string_view> words);
  void AddWord(Key key, Field field, std::span<const std::string_view> words);
  void AddText(Key key, Field field);  // a text of the input, as it is
  void AddTextUnlessEmpty(Key key, Field field);
  void AddMade(Key key, std::string_view text);  // a text made here
  void AddInts(Key key, std::span<const int64_t> numbers);
  void AddInts(Key key, Field field);
  void AddIntsUnlessEmpty(Key key, std::span<const int64_t> numbers);
  void AddFirstDimension(Key key);
  void AddInferredDimension();
  void AddCalled(Key key, size_t index);
  void AddCalledList(Key key);
  void AddBranches();
  void AddChannelId();
  void AddReplicaGroups();
  void AddConstant();
  void AddLiteral();
  void AddLayoutConstraints();
  void AddEpsilon();
  void AddWindow(Empty empty = Empty::kDropped);
  void AddDimLabels();
  void AddDotDimensions(std::string_view bytes);
  void AddPrecision(size_t operands);
  void AddGroupCounts();
  void AddSlices();
  void AddPadding();
  void AddAliasing();
  void AddSourceTargets();
  void AddPermuteSliceSizes();
  void AddDomain();

  [[nodiscard]] const hlo::ShapeTable& shape_table() { return context_.module().shapes; }
  // The shape of an operand; nullptr when there is no such operand.
  const hlo::ShapeId* OperandShape(size_t index);
  void Error(std::string message) { context_.Error(head_.at, std::move(message)); }

  Context& context_;
  ShapeReader& shapes_;
  const IdMap& computations_;
  const IdMap& instructions_;

  // Of the instruction being read.
  InstructionHead head_;
  const KeptFields* fields_ = nullptr;
  std::vector<hlo::CompId> called_;
  std::vector<hlo::Attribute> attributes_;
  // Room for lists and texts, kept to save allocations.
  std::vector<int64_t> ints_;
  std::string text_;
};

}  // namespace stowplan::proto
