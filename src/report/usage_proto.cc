// SPDX-License-Identifier: Apache-2.0
#include "report/usage_proto.h"

#include <bit>

#include <protozero/exception.hpp>

#include "base/human_bytes.h"
#include "proto/fields.h"
#include "proto/place.h"
#include "proto/wire.h"
#include "report/usage.h"

namespace stowplan::report {
namespace {

using proto::BytesKey;
using proto::Fixed64Key;
using proto::MemoryUsageReportField;
using proto::Message;
using proto::MessageKind;
using proto::UsageAllocationField;
using proto::UsageSpaceField;
using proto::VarintKey;

UsageProtoAllocation ReadUsageAllocation(std::string_view bytes) {
  UsageProtoAllocation allocation;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(UsageAllocationField::kIndex):
        allocation.index = message.Int64();
        break;
      case VarintKey(UsageAllocationField::kSize):
        allocation.size = message.Int64();
        break;
      case VarintKey(UsageAllocationField::kCumulativeSize):
        allocation.cumulative_size = message.Int64();
        break;
      case Fixed64Key(UsageAllocationField::kCumulativePercentage):
        allocation.cumulative_share = std::bit_cast<double>(message.Fixed64());
        break;
      case BytesKey(UsageAllocationField::kDefiningPositions):
        allocation.positions.push_back(message.Bytes());
        break;
      case BytesKey(UsageAllocationField::kHloText):
        allocation.table = message.Bytes();
        break;
      default:
        message.Skip();
    }
  }
  return allocation;
}

UsageProtoSpace ReadSpace(std::string_view bytes) {
  UsageProtoSpace space;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(UsageSpaceField::kTotalBytes):
        space.total_bytes = message.Int64();
        break;
      case VarintKey(UsageSpaceField::kColor):
        space.color = message.Int64();
        break;
      case BytesKey(UsageSpaceField::kAllocations):
        space.allocations.push_back(ReadUsageAllocation(message.Bytes()));
        break;
      default:
        message.Skip();
    }
  }
  return space;
}

UsageProto ReadUsage(std::string_view bytes) {
  UsageProto usage;
  Message message(bytes);
  while (message.Next()) {
    if (message.key() == BytesKey(MemoryUsageReportField::kMemorySpaces)) {
      usage.spaces.push_back(ReadSpace(message.Bytes()));
    } else {
      message.Skip();
    }
  }
  return usage;
}

}  // namespace

// Nothing but memory spaces at the top, and they and their allocations begin with numbers, where an
// HloProto has the name of its module.
bool LooksLikeUsageProto(const Source& source) {
  try {
    Message message(source.bytes());
    bool has_space = false;
    while (message.Next()) {
      if (message.key() != BytesKey(MemoryUsageReportField::kMemorySpaces)) return false;
      Message space(message.Bytes());
      while (space.Next()) {
        if (proto::FindField(MessageKind::kUsageSpace, space.key()) == nullptr) return false;
        space.Skip();
        has_space = true;
      }
    }
    return has_space;
  } catch (const protozero::exception&) {
    return false;
  }
}

Result<UsageProto> ParseUsageProto(const Source& source) {
  try {
    return ReadUsage(source.bytes());
  } catch (const protozero::exception& error) {
    const auto damage = proto::FindDamage(source.bytes(), MessageKind::kMemoryUsageReport);
    if (!damage) return Fail(source.AtByte(0, {}, error.what()));
    return Fail(source.AtByte(damage->offset, damage->path, damage->message));
  }
}

std::string ToUsageText(const UsageProto& usage) {
  std::string out;
  for (const UsageProtoSpace& space : usage.spaces) {
    out += "Memory Space: " + UsageSpaceName(space.color);
    out += " (color=" + std::to_string(space.color) + ")\nTotal bytes: ";
    out += std::to_string(space.total_bytes) + " (" + HumanBytes(space.total_bytes) + ")\n";
    for (const UsageProtoAllocation& allocation : space.allocations) {
      out.append(allocation.table).append("\n");
    }
    out += '\n';
  }
  return out;
}

}  // namespace stowplan::report
