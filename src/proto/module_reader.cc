// SPDX-License-Identifier: Apache-2.0
#include "proto/module_reader.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "proto/computation_reader.h"
#include "proto/metadata_reader.h"
#include "proto/recovery_reader.h"
#include "proto/shape_reader.h"

namespace stowplan::proto {
namespace {

using hlo::AliasKind;
using hlo::BufferDonor;
using hlo::CompId;
using hlo::CrossProgramPrefetch;
using hlo::EntryLayout;
using hlo::InputOutputAlias;

// Where the fields are; later ones are needed to read earlier ones.
struct ModuleFields {
  std::string_view name, entry_name, program_shape, schedule, aliases, donors, stack_frames,
      frontend_attributes, recovery_table;
  bool has_schedule = false;
  int64_t entry_id = 0;
  std::vector<std::string_view> computations;
  std::vector<std::string_view> prefetches;
  size_t computation_bytes = 0;
};

ModuleFields FindFields(Context& context, std::string_view bytes) {
  ModuleFields fields;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(ModuleField::kName):
        fields.name = message.Bytes();
        break;
      case BytesKey(ModuleField::kEntryComputationName):
        fields.entry_name = message.Bytes();
        break;
      case BytesKey(ModuleField::kComputations):
        fields.computations.push_back(message.Bytes());
        fields.computation_bytes += fields.computations.back().size();
        break;
      case BytesKey(ModuleField::kHostProgramShape):
        fields.program_shape = message.Bytes();
        break;
      case VarintKey(ModuleField::kEntryComputationId):
        fields.entry_id = message.Int64();
        break;
      case BytesKey(ModuleField::kSchedule):
        fields.schedule = message.Bytes();
        fields.has_schedule = true;
        break;
      case BytesKey(ModuleField::kInputOutputAlias):
        fields.aliases = message.Bytes();
        break;
      case BytesKey(ModuleField::kCrossProgramPrefetches):
        fields.prefetches.push_back(message.Bytes());
        break;
      case BytesKey(ModuleField::kStackFrameIndex):
        fields.stack_frames = message.Bytes();
        break;
      case BytesKey(ModuleField::kBufferDonor):
        fields.donors = message.Bytes();
        break;
      case BytesKey(ModuleField::kFrontendAttributes):
        fields.frontend_attributes = message.Bytes();
        break;
      case BytesKey(ModuleField::kOriginalValueRecoveryTable):
        fields.recovery_table = message.Bytes();
        break;
      case BytesKey(ModuleField::kPayloads):
        context.payloads.push_back(message.Bytes());
        break;
      default:
        context.Skip(MessageKind::kModule, message);
    }
  }
  return fields;
}

// Room for as many instructions as such a module usually has. Memory that is not used is not
// touched either.
void Reserve(hlo::Module& module, const ModuleFields& fields) {
  constexpr size_t kBytesAnInstruction = 100;
  const size_t instructions = fields.computation_bytes / kBytesAnInstruction;
  module.computations.Reserve(fields.computations.size());
  module.instructions.Reserve(instructions);
  module.proto_ids.reserve(instructions);
  module.metadata.Reserve(instructions);
  module.operands.reserve(instructions * 2);
  module.attributes.reserve(instructions * 2);
  module.ints.reserve(instructions);
}

EntryLayout ReadProgramShape(Context& context, ShapeReader& shapes, std::string_view bytes) {
  EntryLayout layout;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(ProgramShapeField::kParameters):
        layout.parameters.push_back(shapes.Read(message.Bytes()));
        break;
      case BytesKey(ProgramShapeField::kResult):
        layout.result = shapes.Read(message.Bytes());
        break;
      default:
        context.Skip(MessageKind::kProgramShape, message);
    }
  }
  if (layout.result.is_none()) context.Error(bytes, "the program shape has no result");
  return layout;
}

InputOutputAlias ReadAlias(Context& context, std::string_view bytes) {
  InputOutputAlias alias;
  alias.kind = AliasKind::kUnsaid;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(AliasEntryField::kOutputShapeIndex):
      case BytesKey(AliasEntryField::kOutputShapeIndex):
        message.AppendInts(alias.output_index);
        break;
      case VarintKey(AliasEntryField::kParameterNumber):
        alias.parameter = message.Int64();
        break;
      case VarintKey(AliasEntryField::kParameterShapeIndex):
      case BytesKey(AliasEntryField::kParameterShapeIndex):
        message.AppendInts(alias.parameter_index);
        break;
      case VarintKey(AliasEntryField::kKind): {
        const int32_t kind = message.Int32();
        if (kind < 0 || kind > 2)
          context.Error(bytes, "unknown kind of alias " + std::to_string(kind));
        alias.kind = kind == 2   ? AliasKind::kMust
                     : kind == 1 ? AliasKind::kMay
                                 : AliasKind::kUnsaid;
        break;
      }
      default:
        context.Skip(MessageKind::kAliasEntry, message);
    }
  }
  return alias;
}

void ReadAliases(Context& context, std::string_view bytes) {
  std::vector<InputOutputAlias>& aliases = context.module().header.aliases;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(InputOutputAliasField::kEntries):
        aliases.push_back(ReadAlias(context, message.Bytes()));
        break;
      default:
        context.Skip(MessageKind::kInputOutputAlias, message);
    }
  }
  std::ranges::stable_sort(aliases, {}, &InputOutputAlias::output_index);
}

BufferDonor ReadDonor(Context& context, std::string_view bytes) {
  BufferDonor donor;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(DonorEntryField::kParameterNumber):
        donor.parameter = message.Int64();
        break;
      case VarintKey(DonorEntryField::kParameterShapeIndex):
      case BytesKey(DonorEntryField::kParameterShapeIndex):
        message.AppendInts(donor.parameter_index);
        break;
      default:
        context.Skip(MessageKind::kDonorEntry, message);
    }
  }
  return donor;
}

void ReadDonors(Context& context, std::string_view bytes) {
  std::vector<BufferDonor>& donors = context.module().header.donors;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(BufferDonorField::kEntries):
        donors.push_back(ReadDonor(context, message.Bytes()));
        break;
      default:
        context.Skip(MessageKind::kBufferDonor, message);
    }
  }
  // A set in XLA.
  const auto key = [](const BufferDonor& donor) {
    return std::tie(donor.parameter, donor.parameter_index);
  };
  std::ranges::sort(donors, {}, key);
  donors.erase(std::ranges::unique(donors).begin(), donors.end());
}

CrossProgramPrefetch ReadPrefetch(Context& context, std::string_view bytes) {
  CrossProgramPrefetch prefetch;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(CrossProgramPrefetchField::kParameter):
        prefetch.parameter = message.Int64();
        break;
      case VarintKey(CrossProgramPrefetchField::kIndex):
      case BytesKey(CrossProgramPrefetchField::kIndex):
        message.AppendInts(prefetch.index);
        break;
      case VarintKey(CrossProgramPrefetchField::kOffset):
        prefetch.offset = message.Int64();
        break;
      default:
        context.Skip(MessageKind::kCrossProgramPrefetch, message);
    }
  }
  return prefetch;
}

void ReadHeader(Context& context, ShapeReader& shapes, const ModuleFields& fields) {
  hlo::Header& header = context.module().header;
  header.name = context.builder().ToText(fields.name);
  header.is_scheduled = fields.has_schedule;
  ReadAliases(context, fields.aliases);
  ReadDonors(context, fields.donors);
  if (fields.program_shape.data() != nullptr) {
    header.entry_layout = ReadProgramShape(context, shapes, fields.program_shape);
  }
  header.frontend_attributes = ReadFrontendAttributes(context, fields.frontend_attributes);
  for (const std::string_view prefetch : fields.prefetches) {
    header.prefetches.push_back(ReadPrefetch(context, prefetch));
  }
  std::string table;
  AppendRecoveryTable(context, fields.recovery_table, table);
  if (!table.empty()) header.unknown.push_back(context.builder().AddText(table));
}

CompId FindEntry(Context& context, const ComputationReader& computations,
                 const ModuleFields& fields, std::string_view at) {
  const CompId by_id = computations.Find(fields.entry_id);
  if (!by_id.is_none()) return by_id;
  context.Error(at, "the module has no computation with the id " + std::to_string(fields.entry_id) +
                        " of its entry");
  return {};
}

}  // namespace

CompId ReadModule(Context& context, std::string_view bytes) {
  const ModuleFields fields = FindFields(context, bytes);
  if (fields.computations.empty()) {
    context.Error(bytes, "the module has no computations");
    return {};
  }
  Reserve(context.module(), fields);
  ShapeReader shapes(context);
  ReadHeader(context, shapes, fields);
  ReadStackFrames(context, fields.stack_frames);
  ComputationReader computations(context, shapes);
  computations.ReadSchedule(fields.schedule);
  for (const std::string_view computation : fields.computations) computations.Read(computation);
  return FindEntry(context, computations, fields, bytes);
}

}  // namespace stowplan::proto
