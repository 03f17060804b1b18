// SPDX-License-Identifier: Apache-2.0
#include "proto/metadata_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo/print_attribute.h"

namespace stowplan::proto {
namespace {

using hlo::Metadata;
using hlo::MetadataId;
using hlo::StackFrames;
using hlo::Text;

StackFrames::Location ReadLocation(Context& context, std::string_view bytes) {
  StackFrames::Location location;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(FileLocationField::kFileNameId):
        location.file = message.Int32();
        break;
      case VarintKey(FileLocationField::kFunctionNameId):
        location.function = message.Int32();
        break;
      case VarintKey(FileLocationField::kLine):
        location.line = message.Int32();
        break;
      case VarintKey(FileLocationField::kColumn):
        location.column = message.Int32();
        break;
      case VarintKey(FileLocationField::kEndLine):
        location.end_line = message.Int32();
        break;
      case VarintKey(FileLocationField::kEndColumn):
        location.end_column = message.Int32();
        break;
      default:
        context.Skip(MessageKind::kFileLocation, message);
    }
  }
  return location;
}

StackFrames::Frame ReadFrame(Context& context, std::string_view bytes) {
  StackFrames::Frame frame;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(StackFrameField::kFileLocationId):
        frame.location = message.Int32();
        break;
      case VarintKey(StackFrameField::kParentFrameId):
        frame.parent = message.Int32();
        break;
      default:
        context.Skip(MessageKind::kStackFrame, message);
    }
  }
  return frame;
}

std::pair<std::string_view, std::string_view> ReadEntry(Context& context, std::string_view bytes) {
  std::pair<std::string_view, std::string_view> entry;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(MapEntryField::kKey):
        entry.first = message.Bytes();
        break;
      case BytesKey(MapEntryField::kValue):
        entry.second = message.Bytes();
        break;
      default:
        context.Skip(MessageKind::kMapEntry, message);
    }
  }
  return entry;
}

Metadata ParseMetadata(Context& context, std::string_view bytes) {
  hlo::ModuleBuilder& builder = context.builder();
  Metadata metadata;
  std::vector<int64_t> profile_types;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(MetadataField::kOpType):
        metadata.op_type = builder.ToText(message.Bytes());
        break;
      case BytesKey(MetadataField::kOpName):
        metadata.op_name = builder.ToText(message.Bytes());
        break;
      case BytesKey(MetadataField::kSourceFile):
        metadata.source_file = builder.ToText(message.Bytes());
        break;
      case VarintKey(MetadataField::kSourceLine):
        metadata.source_line = message.Int32();
        break;
      case VarintKey(MetadataField::kProfileType):
      case BytesKey(MetadataField::kProfileType):
        message.AppendInts(profile_types);
        break;
      case BytesKey(MetadataField::kDeduplicatedName):
        metadata.deduplicated_name = builder.ToText(message.Bytes());
        break;
      case VarintKey(MetadataField::kStackFrameId):
        metadata.stack_frame = message.Int32();
        break;
      case BytesKey(MetadataField::kSchedulingName):
        metadata.scheduling_name = builder.ToText(message.Bytes());
        break;
      case VarintKey(MetadataField::kSourceEndLine):
        metadata.source_end_line = message.Int32();
        break;
      case VarintKey(MetadataField::kSourceColumn):
        metadata.source_column = message.Int32();
        break;
      case VarintKey(MetadataField::kSourceEndColumn):
        metadata.source_end_column = message.Int32();
        break;
      case BytesKey(MetadataField::kMetadataPayload):
        metadata.payload = builder.ToText(ReadPayload(context, message.Bytes()));
        break;
      default:
        context.Skip(MessageKind::kMetadata, message);
    }
  }
  if (!profile_types.empty()) metadata.profile_types = builder.AddInts(profile_types);
  return metadata;
}

}  // namespace

MetadataId ReadMetadata(Context& context, std::string_view bytes) {
  const Metadata metadata = ParseMetadata(context, bytes);
  if (!hlo::HasPrintedMetadata(metadata)) return {};
  return context.module().metadata.Add(metadata);
}

void AppendMetadataText(Context& context, std::string_view bytes, std::string& out) {
  std::string text;
  hlo::AppendMetadata(context.module(), ParseMetadata(context, bytes), hlo::Dialect{}, text);
  constexpr std::string_view kBegin = "metadata={";
  out += std::string_view(text).substr(kBegin.size(), text.size() - kBegin.size() - 1);
}

Range ReadFrontendAttributes(Context& context, std::string_view bytes) {
  std::vector<std::pair<std::string_view, std::string_view>> entries;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(FrontendAttributesField::kMap):
        entries.push_back(ReadEntry(context, message.Bytes()));
        break;
      default:
        context.Skip(MessageKind::kFrontendAttributes, message);
    }
  }
  if (entries.empty()) return {};
  // Of entries with the same key the last one counts, as in any protobuf map.
  std::ranges::stable_sort(entries, {}, [](const auto& entry) { return entry.first; });
  std::vector<Text> texts;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i + 1 < entries.size() && entries[i + 1].first == entries[i].first) continue;
    texts.push_back(context.builder().ToText(entries[i].first));
    texts.push_back(context.builder().ToText(entries[i].second));
  }
  return context.builder().AddTexts(texts);
}

std::string_view ReadPayload(Context& context, std::string_view bytes) {
  std::string_view value;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(PayloadField::kValue):
        value = message.Bytes();
        break;
      case VarintKey(PayloadField::kId): {
        const uint64_t id = message.Varint();
        if (id < context.payloads.size()) {
          value = context.payloads[id];
        } else {
          context.Error(bytes, "the module has no payload " + std::to_string(id));
        }
        break;
      }
      default:
        context.Skip(MessageKind::kPayload, message);
    }
  }
  return value;
}

void ReadStackFrames(Context& context, std::string_view bytes) {
  hlo::ModuleBuilder& builder = context.builder();
  StackFrames& frames = context.module().stack_frames;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(StackFrameIndexField::kFileNames):
        frames.files.push_back(builder.ToText(message.Bytes()));
        break;
      case BytesKey(StackFrameIndexField::kFunctionNames):
        frames.functions.push_back(builder.ToText(message.Bytes()));
        break;
      case BytesKey(StackFrameIndexField::kFileLocations):
        frames.locations.push_back(ReadLocation(context, message.Bytes()));
        break;
      case BytesKey(StackFrameIndexField::kStackFrames):
        frames.frames.push_back(ReadFrame(context, message.Bytes()));
        break;
      default:
        context.Skip(MessageKind::kStackFrameIndex, message);
    }
  }
}

}  // namespace stowplan::proto
