// SPDX-License-Identifier: Apache-2.0
// Which message an input is, and the way in. This is the one place where exceptions are caught.
#include "proto/parse.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "proto/context.h"
#include "proto/fields.h"
#include "proto/find_kind.h"
#include "proto/module_reader.h"
#include "proto/place.h"
#include "proto/wire.h"

namespace stowplan {
namespace proto {
namespace {

// The value of each length-delimited field with this number, until `visit` returns false. Looks at
// damaged messages too: a field that claims more than there is gets what there is, so that a
// truncated file is still recognized.
template <class Visit>
void ForEachPart(std::string_view bytes, uint32_t number, Visit visit) {
  const char* const end = bytes.data() + bytes.size();
  Message message(bytes);
  try {
    while (message.Next()) {
      if (message.number() != number || message.wire_type() != kBytes) {
        message.Skip();
        continue;
      }
      Message value(
          std::string_view(message.position(), static_cast<size_t>(end - message.position())));
      const uint64_t size = value.Varint();
      const auto left = static_cast<uint64_t>(end - value.position());
      if (!visit(std::string_view(value.position(), static_cast<size_t>(std::min(size, left)))))
        return;
      message.Skip();
    }
  } catch (const protozero::exception&) {
    return;  // No more fields.
  }
}

template <class Field>
std::string_view FirstPart(std::string_view bytes, Field field) {
  std::string_view first;
  ForEachPart(bytes, static_cast<uint32_t>(field), [&](std::string_view part) {
    first = part;
    return false;
  });
  return first;
}

bool IsOpcodeLike(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

// Whether there is an instruction in there: the one thing in a module that cannot be mistaken.
bool HasInstruction(std::string_view module) {
  bool found = false;
  ForEachPart(module, static_cast<uint32_t>(ModuleField::kComputations),
              [&](std::string_view computation) {
                const std::string_view instruction =
                    FirstPart(computation, ComputationField::kInstructions);
                found = IsOpcodeLike(FirstPart(instruction, InstructionField::kOpcode));
                return !found;
              });
  return found;
}

}  // namespace

// HloProto and HloUnoptimizedSnapshot hold a module in field 1, HloSnapshot an HloProto; field 1 of
// a bare module is its name.
std::optional<MessageKind> FindKind(std::string_view bytes) {
  const std::string_view inner = FirstPart(bytes, HloProtoField::kHloModule);
  if (HasInstruction(inner)) {
    const bool has_inputs =
        FirstPart(bytes, UnoptimizedSnapshotField::kPartitions).data() != nullptr;
    return has_inputs ? MessageKind::kUnoptimizedSnapshot : MessageKind::kHloProto;
  }
  if (HasInstruction(FirstPart(inner, HloProtoField::kHloModule))) return MessageKind::kSnapshot;
  if (HasInstruction(bytes)) return MessageKind::kModule;
  return std::nullopt;
}

namespace {

// The module's bytes, and what else is around it.
std::string_view Unwrap(Context& context, std::string_view bytes, MessageKind kind) {
  if (kind == MessageKind::kModule) return bytes;
  std::string_view inner;
  Message message(bytes);
  while (message.Next()) {
    if (message.key() == BytesKey(HloProtoField::kHloModule)) {
      inner = message.Bytes();
    } else if (kind == MessageKind::kHloProto &&
               message.key() == BytesKey(HloProtoField::kBufferAssignment)) {
      context.module().buffer_assignment = context.builder().ToText(message.Bytes());
    } else {
      context.Skip(kind, message);
    }
  }
  return kind == MessageKind::kSnapshot ? Unwrap(context, inner, MessageKind::kHloProto) : inner;
}

Diagnostic At(const Source& source, const Damage& damage) {
  return source.AtByte(damage.offset, damage.path, damage.message);
}

Result<hlo::Module> Parse(std::shared_ptr<const Source> shared, MessageKind kind) {
  const Source& source = *shared;
  Context context(std::move(shared), kind);
  try {
    const hlo::CompId entry = ReadModule(context, Unwrap(context, source.bytes(), kind));
    if (context.has_errors()) return std::unexpected(std::move(context).TakeErrors());
    return std::move(context).Build(entry);
  } catch (const Stop&) {
    return std::unexpected(std::move(context).TakeErrors());
  } catch (const protozero::exception& error) {
    // Readers and schema agree on what is a message, so that there is something to find.
    Diagnostics errors = std::move(context).TakeErrors();
    errors.push_back(
        At(source, FindDamage(source.bytes(), kind).value_or(Damage{0, {}, error.what()})));
    return std::unexpected(std::move(errors));
  }
}

}  // namespace
}  // namespace proto

// Messages begin with the key of one of their first fields, and have control characters among the
// first few bytes: keys and lengths. Text has none.
bool LooksLikeProto(const Source& source) {
  constexpr std::string_view kFirstKeys = "\x0a\x12\x1a";  // fields 1, 2 and 3
  constexpr size_t kLookAhead = 4096;
  const std::string_view head = source.bytes().substr(0, kLookAhead);
  if (head.empty() || kFirstKeys.find(head[0]) == std::string_view::npos) return false;
  return std::ranges::any_of(head, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v';
  });
}

Result<hlo::Module> ParseProto(std::shared_ptr<const Source> source) {
  if (source->size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    return Fail(source->AtByte(0, {}, "a serialized proto has at most 2 GiB; this file is larger"));
  }
  const std::string_view bytes = source->bytes();
  if (const auto kind = proto::FindKind(bytes)) return proto::Parse(std::move(source), *kind);
  // Perhaps it is only damaged: then it is neither kind of message.
  const auto damage = proto::FindDamage(bytes, proto::MessageKind::kHloProto);
  if (damage && proto::FindDamage(bytes, proto::MessageKind::kModule))
    return Fail(proto::At(*source, *damage));
  return Fail(source->AtByte(
      0, {}, "no HLO module in this file: it is none of HloProto, HloModuleProto and HloSnapshot"));
}

}  // namespace stowplan
