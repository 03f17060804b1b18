// SPDX-License-Identifier: Apache-2.0
#include "proto/rewrite.h"

#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <protozero/exception.hpp>

#include "proto/append.h"
#include "proto/fields.h"
#include "proto/find_kind.h"
#include "proto/shape_bytes.h"
#include "proto/wire.h"

namespace stowplan {
namespace proto {
namespace {

// HloScheduleProto.
std::string ScheduleOf(const hlo::Module& module) {
  std::string schedule;
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const hlo::Computation& computation = module.computations[hlo::CompId(c)];
    if (!computation.is_scheduled()) continue;
    std::string ids;
    for (const hlo::InstrId id : module.schedule_of(hlo::CompId(c)))
      AppendVarint(static_cast<uint64_t>(module.proto_ids[id.index]), ids);
    std::string sequence;
    AppendBytes(InstructionSequenceField::kInstructionIds, ids, sequence);
    std::string entry;
    AppendVarint(VarintKey(ScheduleEntryField::kKey), entry);
    AppendVarint(static_cast<uint64_t>(computation.proto_id), entry);
    AppendBytes(ScheduleEntryField::kValue, sequence, entry);
    AppendBytes(ScheduleField::kSequences, entry, schedule);
  }
  return schedule;
}

// Copies of what a module was read from.
class Copier {
 public:
  Copier(const hlo::Module& module, const ProtoOrigins& origins)
      : module_(module), origins_(origins), shapes_(module.shapes) {}

  // Finds the messages of the module that was read.
  void Read(std::string_view bytes) {
    for (Message message(bytes); message.Next();) {
      if (message.key() != BytesKey(ModuleField::kComputations)) {
        message.Skip();
        continue;
      }
      ReadComputation(message.Bytes());
    }
    for (size_t i = 0; i < origins_.is_changed.size(); ++i) {
      const auto origin = instructions_.find(origins_.instructions[i]);
      if (origins_.is_changed[i] == 0 && origin != instructions_.end())
        LearnShape(hlo::InstrId(i), origin->second);
    }
  }

  // Nothing if an origin was not found.
  [[nodiscard]] std::optional<std::string> Computations() const {
    std::string out;
    for (size_t c = 0; c < module_.computations.size(); ++c) {
      const auto origin = computations_.find(origins_.computations[c]);
      if (origin == computations_.end()) return std::nullopt;
      const std::optional<std::string> copy = CopyOf(hlo::CompId(c), origin->second);
      if (!copy) return std::nullopt;
      AppendBytes(ModuleField::kComputations, *copy, out);
    }
    return out;
  }

 private:
  void ReadComputation(std::string_view bytes) {
    int64_t id = 0;
    for (Message message(bytes); message.Next();) {
      if (message.key() == VarintKey(ComputationField::kId)) {
        id = message.Int64();
      } else if (message.key() == BytesKey(ComputationField::kInstructions)) {
        const std::string_view instruction = message.Bytes();
        instructions_[IdOf(instruction)] = instruction;
      } else {
        message.Skip();
      }
    }
    computations_[id] = bytes;
  }
  void LearnShape(hlo::InstrId id, std::string_view instruction) {
    for (Message message(instruction); message.Next();) {
      if (message.key() == BytesKey(InstructionField::kShape)) {
        shapes_.Learn(module_.instructions[id].shape, message.Bytes());
      } else {
        message.Skip();
      }
    }
  }
  static int64_t IdOf(std::string_view bytes) {
    int64_t id = 0;
    for (Message message(bytes); message.Next();) {
      if (message.key() == VarintKey(InstructionField::kId)) {
        id = message.Int64();
      } else {
        message.Skip();
      }
    }
    return id;
  }

  [[nodiscard]] std::optional<std::string> CopyOf(hlo::CompId id, std::string_view origin) const {
    const hlo::Computation& row = module_.computations[id];
    const bool is_changed = !origins_.is_changed.empty();
    std::string out = Rewrite(origin, [&](uint32_t key, std::string_view) {
      // The shape of the computation follows from its instructions.
      const bool is_new =
          IsField(key, ComputationField::kName) || IsField(key, ComputationField::kInstructions) ||
          IsField(key, ComputationField::kId) || IsField(key, ComputationField::kRootId) ||
          (is_changed && IsField(key, ComputationField::kProgramShape));
      return is_new ? std::optional<std::string>(std::in_place) : std::nullopt;
    });
    AppendBytes(ComputationField::kName, module_.name(id), out);
    for (uint32_t k = 0; k < row.count; ++k) {
      const hlo::InstrId instruction(size_t{row.first.index} + k);
      const auto found = instructions_.find(origins_.instructions[instruction.index]);
      if (found == instructions_.end()) return std::nullopt;
      std::string copy = CopyOf(instruction, found->second);
      if (!origins_.is_changed.empty() && !Change(instruction, copy)) return std::nullopt;
      AppendBytes(ComputationField::kInstructions, copy, out);
    }
    AppendNumber(ComputationField::kId, row.proto_id, out);
    AppendNumber(ComputationField::kRootId, module_.proto_ids[row.root.index], out);
    return out;
  }

  [[nodiscard]] std::string CopyOf(hlo::InstrId id, std::string_view origin) const {
    // Others call what their originals do, unless they are copies of loops and the like.
    const hlo::Opcode opcode = module_.instructions[id].opcode;
    const bool has_own = opcode == hlo::Opcode::kFusion || opcode == hlo::Opcode::kWhile ||
                         opcode == hlo::Opcode::kCall || opcode == hlo::Opcode::kConditional ||
                         opcode == hlo::Opcode::kAsyncStart;
    std::string out = Rewrite(origin, [&](uint32_t key, std::string_view) {
      const bool is_new = IsField(key, InstructionField::kName) ||
                          IsField(key, InstructionField::kId) ||
                          IsField(key, InstructionField::kOperandIds) ||
                          IsField(key, InstructionField::kControlPredecessorIds) ||
                          (has_own && IsField(key, InstructionField::kCalledComputationIds));
      return is_new ? std::optional<std::string>(std::in_place) : std::nullopt;
    });
    AppendBytes(InstructionField::kName, module_.name(id), out);
    AppendNumber(InstructionField::kId, module_.proto_ids[id.index], out);
    AppendIds(InstructionField::kOperandIds, module_.operands_of(id), out);
    if (const auto* control = module_.FindAttribute(id, hlo::AttributeKey::kControlPredecessors))
      AppendIds(InstructionField::kControlPredecessorIds,
                hlo::Module::Rows(module_.instruction_pool, control->rows()), out);
    if (has_own) {
      std::string called;
      for (const hlo::CompId callee : module_.called_by(id))
        AppendVarint(static_cast<uint64_t>(module_.computations[callee].proto_id), called);
      AppendBytes(InstructionField::kCalledComputationIds, called, out);
    }
    return out;
  }
  // Shapes, numbers of parameters and elements, and attributes that the module does not have.
  [[nodiscard]] bool Change(hlo::InstrId id, std::string& bytes) const {
    const bool is_changed = origins_.is_changed[id.index] != 0;
    const auto has = [&](hlo::AttributeKey key) {
      return module_.FindAttribute(id, key) != nullptr;
    };
    const auto* sizes = module_.FindAttribute(id, hlo::AttributeKey::kDynamicSliceSizes);
    bytes = Rewrite(bytes, [&](uint32_t key, std::string_view) {
      const bool is_gone =
          IsField(key, InstructionField::kParameterNumber) ||
          IsField(key, InstructionField::kTupleIndex) ||
          (is_changed && (IsField(key, InstructionField::kShape) ||
                          IsField(key, InstructionField::kDynamicSliceSizes) ||
                          (IsField(key, InstructionField::kBackendConfig) &&
                           !has(hlo::AttributeKey::kBackendConfig)) ||
                          (IsField(key, InstructionField::kFrontendAttributes) &&
                           !has(hlo::AttributeKey::kFrontendAttributes)) ||
                          (IsField(key, InstructionField::kOutputOperandAliasing) &&
                           !has(hlo::AttributeKey::kOutputToOperandAliasing))));
      return is_gone ? std::optional<std::string>(std::in_place) : std::nullopt;
    });
    AppendNumber(InstructionField::kParameterNumber,
                 module_.NumberOr(id, hlo::AttributeKey::kParameterNumber, 0), bytes);
    AppendNumber(InstructionField::kTupleIndex, module_.NumberOr(id, hlo::AttributeKey::kIndex, 0),
                 bytes);
    if (!is_changed) return true;
    const std::optional<std::string> shape = shapes_.Find(module_.instructions[id].shape);
    if (!shape) return false;
    AppendBytes(InstructionField::kShape, *shape, bytes);
    if (sizes != nullptr) {
      std::string numbers;
      for (const int64_t size : hlo::Module::Rows(module_.ints, sizes->rows()))
        AppendVarint(static_cast<uint64_t>(size), numbers);
      AppendBytes(InstructionField::kDynamicSliceSizes, numbers, bytes);
    }
    return true;
  }
  void AppendIds(InstructionField field, std::span<const hlo::InstrId> rows,
                 std::string& out) const {
    if (rows.empty()) return;
    std::string ids;
    for (const hlo::InstrId row : rows)
      AppendVarint(static_cast<uint64_t>(module_.proto_ids[row.index]), ids);
    AppendBytes(field, ids, out);
  }

  const hlo::Module& module_;
  const ProtoOrigins& origins_;
  ShapeBytes shapes_;
  std::unordered_map<int64_t, std::string_view> computations_;  // by id
  std::unordered_map<int64_t, std::string_view> instructions_;  // by id
};

// `origins` null: the instructions are those of `bytes`. Nothing if an origin is not there.
std::optional<std::string> RewriteModule(std::string_view bytes, const hlo::Module& module,
                                         const ProtoOrigins* origins) {
  std::string out = Rewrite(bytes, [&](uint32_t key, std::string_view) {
    const bool is_new = key == BytesKey(ModuleField::kSchedule) ||
                        (origins != nullptr && key == BytesKey(ModuleField::kComputations));
    return is_new ? std::optional<std::string>(std::in_place) : std::nullopt;
  });
  if (origins != nullptr) {
    Copier copier(module, *origins);
    copier.Read(bytes);
    const std::optional<std::string> computations = copier.Computations();
    if (!computations) return std::nullopt;
    out += *computations;
  }
  AppendBytes(ModuleField::kSchedule, ScheduleOf(module), out);
  return out;
}

std::optional<std::string> RewriteAny(std::string_view bytes, MessageKind kind,
                                      const hlo::Module& module, const ProtoOrigins* origins) {
  if (kind == MessageKind::kModule) return RewriteModule(bytes, module, origins);
  const MessageKind inner =
      kind == MessageKind::kSnapshot ? MessageKind::kHloProto : MessageKind::kModule;
  bool is_complete = true;
  std::string out =
      Rewrite(bytes, [&](uint32_t key, std::string_view value) -> std::optional<std::string> {
        if (key == BytesKey(HloProtoField::kHloModule)) {
          std::string field;
          const std::optional<std::string> written = RewriteAny(value, inner, module, origins);
          is_complete = is_complete && written.has_value();
          AppendBytes(HloProtoField::kHloModule, written.value_or(std::string()), field);
          return field;
        }
        if (kind == MessageKind::kHloProto && key == BytesKey(HloProtoField::kBufferAssignment))
          return std::string();
        return std::nullopt;
      });
  return is_complete ? std::optional(std::move(out)) : std::nullopt;
}

Result<std::string> WriteModuleProto(const hlo::Module& module, const ProtoOrigins* origins) {
  const std::string_view bytes = module.source->bytes();
  const std::optional<MessageKind> kind = FindKind(bytes);
  if (!kind) return Fail(module.source->name(), "this is not a proto of a module");
  try {
    std::optional<std::string> written = RewriteAny(bytes, *kind, module, origins);
    if (!written) return Fail(module.source->name(), "an instruction of the module is not in it");
    return *std::move(written);
  } catch (const protozero::exception&) {
    return Fail(module.source->name(), "the proto is damaged");
  }
}

}  // namespace
}  // namespace proto

Result<std::string> WriteProtoWithSchedule(const hlo::Module& module) {
  return proto::WriteModuleProto(module, nullptr);
}

Result<std::string> WriteProtoWithCopies(const hlo::Module& module, const ProtoOrigins& origins) {
  return proto::WriteModuleProto(module, &origins);
}

}  // namespace stowplan
