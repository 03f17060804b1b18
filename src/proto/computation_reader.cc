// SPDX-License-Identifier: Apache-2.0
#include "proto/computation_reader.h"

#include <optional>
#include <string>

#include "proto/metadata_reader.h"

namespace stowplan::proto {
namespace {

using hlo::CompId;
using hlo::Computation;
using hlo::InstrId;
using hlo::Instruction;
using hlo::Opcode;

}  // namespace

ComputationReader::ComputationReader(Context& context, ShapeReader& shapes)
    : context_(context),
      shapes_(shapes),
      attributes_(context, shapes, computations_, instructions_) {}

CompId ComputationReader::Find(int64_t id) const {
  const uint32_t row = computations_.Find(id);
  return row == IdMap::kNone ? CompId() : CompId(row);
}

void ComputationReader::ReadSchedule(std::string_view bytes) {
  Message message(bytes);
  while (message.Next()) {
    if (message.key() != BytesKey(ScheduleField::kSequences)) {
      context_.Skip(MessageKind::kSchedule, message);
      continue;
    }
    int64_t id = 0;
    std::string_view sequence;
    Message entry(message.Bytes());
    while (entry.Next()) {
      switch (entry.key()) {
        case VarintKey(ScheduleEntryField::kKey):
          id = entry.Int64();
          break;
        case BytesKey(ScheduleEntryField::kValue):
          sequence = entry.Bytes();
          break;
        default:
          context_.Skip(MessageKind::kScheduleEntry, entry);
      }
    }
    if (!sequences_.Add(id, static_cast<uint32_t>(sequence_bytes_.size()))) {
      context_.Error(message.position() - sequence.size(),
                     "a second schedule of computation " + std::to_string(id));
    }
    sequence_bytes_.push_back(sequence);
  }
}

void ComputationReader::Read(std::string_view bytes) {
  hlo::ModuleBuilder& builder = context_.builder();
  const CompId computation = builder.BeginComputation({});
  instructions_.Clear();
  std::string_view name;
  std::string_view thread;
  int64_t id = 0;
  int64_t root = 0;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(ComputationField::kInstructions):
        ReadInstruction(message.Bytes());
        break;
      case BytesKey(ComputationField::kName):
        name = message.Bytes();
        break;
      case VarintKey(ComputationField::kId):
        id = message.Int64();
        break;
      case VarintKey(ComputationField::kRootId):
        root = message.Int64();
        break;
      case BytesKey(ComputationField::kExecutionThread):
        thread = message.Bytes();
        break;
      default:
        context_.Skip(MessageKind::kComputation, message);
    }
  }
  const uint32_t root_row = instructions_.Find(root);
  if (root_row == IdMap::kNone) {
    context_.Error(bytes, "the computation has no instruction with the id " + std::to_string(root) +
                              " of its root");
  }
  if (!computations_.Add(id, computation.index)) {
    context_.Error(bytes, "a second computation with the id " + std::to_string(id));
  }
  Computation& row = context_.module().computations[computation];
  row.name = builder.ToText(name);
  if (thread != "main") row.execution_thread = builder.ToText(thread);
  row.proto_id = id;
  builder.EndComputation(root_row == IdMap::kNone ? InstrId() : InstrId(root_row));
  SetSchedule(computation, id);
}

void ComputationReader::ReadInstruction(std::string_view bytes) {
  fields_.Clear();
  operands_.clear();
  std::string_view name;
  std::string_view opcode;
  std::string_view shape;
  std::string_view metadata;
  int64_t id = 0;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(InstructionField::kName):
        name = message.Bytes();
        break;
      case BytesKey(InstructionField::kOpcode):
        opcode = message.Bytes();
        break;
      case BytesKey(InstructionField::kShape):
        shape = message.Bytes();
        break;
      case BytesKey(InstructionField::kMetadata):
        metadata = message.Bytes();
        break;
      case VarintKey(InstructionField::kId):
        id = message.Int64();
        break;
      case VarintKey(InstructionField::kOperandIds):
      case BytesKey(InstructionField::kOperandIds): {
        const char* const at = message.position();
        message.ForEachVarint(
            [&](uint64_t operand) { ReadOperand(static_cast<int64_t>(operand), at); });
        break;
      }
      case BytesKey(InstructionField::kFrontendAttributes):
      case BytesKey(InstructionField::kStatisticsViz):
        fields_.KeepUnlessEmpty(message);
        break;
      default:
        if (IsInstructionField(message.key())) {
          fields_.Keep(message);
        } else {
          context_.Skip(MessageKind::kInstruction, message);
        }
    }
  }
  Instruction row;
  row.name = context_.builder().ToText(name);
  row.opcode = ReadOpcode(bytes, opcode);
  row.shape = shapes_.Read(shape, bytes);
  if (!metadata.empty()) row.metadata = ReadMetadata(context_, metadata);
  const InstructionHead head{
      .at = bytes, .opcode = row.opcode, .shape = row.shape, .operands = operands_};
  const std::span<const hlo::Attribute> attributes = attributes_.Read(head, fields_);
  const InstrId added = context_.builder().AddInstruction(row, operands_, attributes);
  if (row.opcode == Opcode::kUnknown) {
    context_.module().unknown_opcodes.emplace_back(added, context_.builder().ToText(opcode));
  }
  context_.module().proto_ids.push_back(id);
  if (!instructions_.Add(id, added.index)) {
    context_.Error(bytes, "a second instruction with the id " + std::to_string(id));
  }
}

void ComputationReader::ReadOperand(int64_t id, const char* at) {
  const uint32_t row = instructions_.Find(id);
  if (row != IdMap::kNone) {
    operands_.emplace_back(row);
  } else {
    context_.Error(
        at, "no instruction with the id " + std::to_string(id) + " precedes the one that uses it");
  }
}

Opcode ComputationReader::ReadOpcode(std::string_view at, std::string_view name) {
  const std::optional<Opcode> opcode = hlo::FindOpcode(name);
  if (opcode) return *opcode;
  if (name.empty()) {
    context_.Error(at, "the instruction has no opcode");
  } else {
    context_.UnknownOpcode(name);
  }
  return Opcode::kUnknown;
}

void ComputationReader::SetSchedule(CompId computation, int64_t id) {
  const uint32_t row = sequences_.Find(id);
  if (row == IdMap::kNone) return;
  sequence_.clear();
  Message message(sequence_bytes_[row]);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(InstructionSequenceField::kInstructionIds):
      case BytesKey(InstructionSequenceField::kInstructionIds): {
        const char* const at = message.position();
        message.ForEachVarint([&](uint64_t n) {
          const auto instruction = static_cast<int64_t>(n);
          const uint32_t found = instructions_.Find(instruction);
          if (found != IdMap::kNone) {
            sequence_.emplace_back(found);
          } else {
            context_.Error(at, "computation " + std::to_string(id) +
                                   " has no instruction with the id " +
                                   std::to_string(instruction));
          }
        });
        break;
      }
      default:
        context_.Skip(MessageKind::kInstructionSequence, message);
    }
  }
  context_.module().computations[computation].schedule =
      context_.builder().AddInstructions(sequence_);
}

}  // namespace stowplan::proto
