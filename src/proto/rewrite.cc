// SPDX-License-Identifier: Apache-2.0
#include "proto/rewrite.h"

#include <optional>
#include <string_view>

#include <protozero/exception.hpp>

#include "proto/fields.h"
#include "proto/find_kind.h"
#include "proto/wire.h"

namespace stowplan {
namespace proto {
namespace {

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7U) out.push_back(static_cast<char>(value | 0x80U));
  out.push_back(static_cast<char>(value));
}

template <class Field>
void AppendBytes(Field field, std::string_view bytes, std::string& out) {
  AppendVarint(BytesKey(field), out);
  AppendVarint(bytes.size(), out);
  out += bytes;
}

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

// Copies all fields of a message for which `replace` returns nothing; the others become what it
// returns.
template <class Replace>
std::string Rewrite(std::string_view bytes, Replace replace) {
  std::string out;
  out.reserve(bytes.size());
  Message message(bytes);
  for (const char* begin = message.position(); message.Next(); begin = message.position()) {
    const uint32_t key = message.key();
    const char* const value = message.position();
    message.Skip();
    const char* const end = message.position();
    Message again(std::string_view(value, static_cast<size_t>(end - value)));
    const std::optional<std::string> other =
        replace(key, message.wire_type() == kBytes ? again.Bytes() : std::string_view());
    out += other ? *other : std::string(begin, end);
  }
  return out;
}

std::string RewriteModule(std::string_view bytes, const hlo::Module& module) {
  std::string out = Rewrite(bytes, [](uint32_t key, std::string_view) {
    return key == BytesKey(ModuleField::kSchedule) ? std::optional<std::string>(std::in_place)
                                                   : std::nullopt;
  });
  AppendBytes(ModuleField::kSchedule, ScheduleOf(module), out);
  return out;
}

std::string RewriteAny(std::string_view bytes, MessageKind kind, const hlo::Module& module) {
  if (kind == MessageKind::kModule) return RewriteModule(bytes, module);
  const MessageKind inner =
      kind == MessageKind::kSnapshot ? MessageKind::kHloProto : MessageKind::kModule;
  return Rewrite(bytes, [&](uint32_t key, std::string_view value) -> std::optional<std::string> {
    if (key == BytesKey(HloProtoField::kHloModule)) {
      std::string field;
      AppendBytes(HloProtoField::kHloModule, RewriteAny(value, inner, module), field);
      return field;
    }
    if (kind == MessageKind::kHloProto && key == BytesKey(HloProtoField::kBufferAssignment))
      return std::string();
    return std::nullopt;
  });
}

}  // namespace
}  // namespace proto

Result<std::string> WriteProtoWithSchedule(const hlo::Module& module) {
  const std::string_view bytes = module.source->bytes();
  const std::optional<proto::MessageKind> kind = proto::FindKind(bytes);
  if (!kind) return Fail(module.source->name(), "this is not a proto of a module");
  try {
    return proto::RewriteAny(bytes, *kind, module);
  } catch (const protozero::exception&) {
    return Fail(module.source->name(), "the proto is damaged");
  }
}

}  // namespace stowplan
