// SPDX-License-Identifier: Apache-2.0
#include "report/assignment_message.h"

#include <protozero/exception.hpp>

#include "proto/fields.h"
#include "proto/place.h"
#include "proto/wire.h"

namespace stowplan::report {
namespace {

using proto::AssignedBufferField;
using proto::BufferAliasField;
using proto::BufferAllocationField;
using proto::BufferAssignmentField;
using proto::BufferLocationField;
using proto::BytesKey;
using proto::HeapEventField;
using proto::HeapSimulatorTraceField;
using proto::LogicalBufferField;
using proto::Message;
using proto::MessageKind;
using proto::PeakBuffersField;
using proto::VarintKey;

// Appends a repeated number to a run at the end of `ints`. The pieces of one field need not follow
// each other, but nothing else is appended while its message is read.
void ReadNumbers(Message& message, std::vector<int64_t>& ints, Range& range) {
  if (range.count == 0) range.begin = static_cast<uint32_t>(ints.size());
  message.AppendInts(ints);
  range.count = static_cast<uint32_t>(ints.size()) - range.begin;
}

BufferLocation ReadLocation(std::string_view bytes, std::vector<int64_t>& ints) {
  BufferLocation location;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(BufferLocationField::kInstructionName):
        location.instruction_name = message.Bytes();
        break;
      case BytesKey(BufferLocationField::kShapeIndex):
      case VarintKey(BufferLocationField::kShapeIndex):
        ReadNumbers(message, ints, location.index);
        break;
      case VarintKey(BufferLocationField::kInstructionId):
        location.instruction_id = message.Int64();
        location.has_id = true;
        break;
      default:
        message.Skip();
    }
  }
  return location;
}

LogicalBuffer ReadBuffer(std::string_view bytes, std::vector<int64_t>& ints) {
  LogicalBuffer buffer;
  buffer.at = bytes.data();
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(LogicalBufferField::kId):
        buffer.id = message.Int64();
        break;
      case VarintKey(LogicalBufferField::kSize):
        buffer.size = message.Int64();
        break;
      case BytesKey(LogicalBufferField::kDefinedAt):
        buffer.defined_at = ReadLocation(message.Bytes(), ints);
        break;
      case VarintKey(LogicalBufferField::kColor):
        buffer.color = message.Int64();
        break;
      default:
        message.Skip();
    }
  }
  return buffer;
}

BufferAlias ReadAlias(std::string_view bytes, std::vector<int64_t>& ints) {
  BufferAlias alias;
  alias.at = bytes.data();
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(BufferAliasField::kSourceBufferId):
        alias.buffer = message.Int64();
        break;
      case BytesKey(BufferAliasField::kLocation):
        alias.location = ReadLocation(message.Bytes(), ints);
        break;
      default:
        message.Skip();
    }
  }
  return alias;
}

AssignedBuffer ReadAssigned(std::string_view bytes) {
  AssignedBuffer assigned;
  assigned.at = bytes.data();
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(AssignedBufferField::kLogicalBufferId):
        assigned.buffer = message.Int64();
        break;
      case VarintKey(AssignedBufferField::kOffset):
        assigned.offset = message.Int64();
        break;
      case VarintKey(AssignedBufferField::kSize):
        assigned.size = message.Int64();
        break;
      case VarintKey(AssignedBufferField::kElementType):
        assigned.element_type = message.Int64();
        break;
      default:
        message.Skip();
    }
  }
  return assigned;
}

AllocationMessage ReadAllocationMessage(std::string_view bytes, std::vector<int64_t>& ints) {
  AllocationMessage allocation;
  allocation.at = bytes.data();
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(BufferAllocationField::kIndex):
        allocation.index = message.Int64();
        break;
      case VarintKey(BufferAllocationField::kSize):
        allocation.size = message.Int64();
        break;
      case VarintKey(BufferAllocationField::kIsThreadLocal):
        allocation.is_thread_local = message.Bool();
        break;
      case VarintKey(BufferAllocationField::kIsEntryComputationParameter):
        allocation.is_entry_parameter = message.Bool();
        break;
      case VarintKey(BufferAllocationField::kParameterNumber):
        allocation.parameter_number = message.Int64();
        break;
      case VarintKey(BufferAllocationField::kMaybeLiveOut):
        allocation.is_maybe_live_out = message.Bool();
        break;
      case VarintKey(BufferAllocationField::kColor):
        allocation.color = message.Int64();
        break;
      case BytesKey(BufferAllocationField::kAssigned):
        allocation.assigned.push_back(ReadAssigned(message.Bytes()));
        break;
      case BytesKey(BufferAllocationField::kParameterShapeIndex):
      case VarintKey(BufferAllocationField::kParameterShapeIndex):
        ReadNumbers(message, ints, allocation.parameter_index);
        break;
      case VarintKey(BufferAllocationField::kIsTuple):
        allocation.is_tuple = message.Bool();
        break;
      case VarintKey(BufferAllocationField::kIsConstant):
        allocation.is_constant = message.Bool();
        break;
      case VarintKey(BufferAllocationField::kIsParameterAliasedWithOutput):
        allocation.is_parameter_aliased_with_output = message.Bool();
        break;
      default:
        message.Skip();
    }
  }
  return allocation;
}

HeapEvent ReadEvent(std::string_view bytes) {
  HeapEvent event;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(HeapEventField::kKind):
        event.kind = static_cast<HeapEventKind>(message.Int32());
        break;
      case VarintKey(HeapEventField::kBufferId):
        event.buffer = message.Int64();
        break;
      case BytesKey(HeapEventField::kComputationName):
        event.computation = message.Bytes();
        break;
      case BytesKey(HeapEventField::kInstructionName):
        event.instruction = message.Bytes();
        break;
      case VarintKey(HeapEventField::kShareWithCanonicalId):
        event.shares_with = message.Int64();
        break;
      default:
        message.Skip();
    }
  }
  return event;
}

HeapTrace ReadTrace(std::string_view bytes) {
  HeapTrace trace;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(HeapSimulatorTraceField::kEvents):
        trace.events.push_back(ReadEvent(message.Bytes()));
        break;
      case VarintKey(HeapSimulatorTraceField::kWholeModuleSimulation):
        trace.is_whole_module = message.Bool();
        break;
      case VarintKey(HeapSimulatorTraceField::kBufferAllocationIndex):
        trace.allocation = message.Int64();
        break;
      default:
        message.Skip();
    }
  }
  return trace;
}

PeakBuffers ReadPeakMessage(std::string_view bytes) {
  PeakBuffers peak;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(PeakBuffersField::kAllocationIndex):
        peak.allocation = message.Int64();
        break;
      case BytesKey(PeakBuffersField::kLogicalBufferIds):
      case VarintKey(PeakBuffersField::kLogicalBufferIds):
        message.AppendInts(peak.buffers);
        break;
      default:
        message.Skip();
    }
  }
  return peak;
}

BufferAssignmentMessage ReadBufferAssignment(std::string_view bytes) {
  BufferAssignmentMessage result;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(BufferAssignmentField::kLogicalBuffers):
        result.buffers.push_back(ReadBuffer(message.Bytes(), result.ints));
        break;
      case BytesKey(BufferAssignmentField::kBufferAliases):
        result.aliases.push_back(ReadAlias(message.Bytes(), result.ints));
        break;
      case BytesKey(BufferAssignmentField::kBufferAllocations):
        result.allocations.push_back(ReadAllocationMessage(message.Bytes(), result.ints));
        break;
      case BytesKey(BufferAssignmentField::kHeapSimulatorTraces):
        result.traces.push_back(ReadTrace(message.Bytes()));
        break;
      case BytesKey(BufferAssignmentField::kPeakBuffers):
        result.peaks.push_back(ReadPeakMessage(message.Bytes()));
        break;
      default:
        message.Skip();
    }
  }
  return result;
}

}  // namespace

namespace {

// `inside` is a path in the assignment.
Diagnostic AtPath(const hlo::Module& module, const char* at, const std::string& inside,
                  std::string message) {
  const Source& source = *module.source;
  const std::string_view bytes = module.view(module.buffer_assignment);
  const auto begin = static_cast<size_t>(bytes.data() - source.begin());
  // An HloProto holds the assignment, and an HloSnapshot holds an HloProto.
  std::string path = proto::PathAt(source.bytes(), MessageKind::kHloProto, begin);
  if (path != "buffer_assignment") path = "hlo.buffer_assignment";
  if (!inside.empty()) path.append(".").append(inside);
  const auto offset = static_cast<size_t>(at - source.begin());
  return source.AtByte(offset, std::move(path), std::move(message));
}

}  // namespace

Diagnostic AtBufferAssignment(const hlo::Module& module, const char* at, std::string message) {
  const std::string_view bytes = module.view(module.buffer_assignment);
  const auto offset = static_cast<size_t>(at - bytes.data());
  return AtPath(module, at, proto::PathAt(bytes, MessageKind::kBufferAssignment, offset),
                std::move(message));
}

Result<BufferAssignmentMessage> ParseBufferAssignment(const hlo::Module& module) {
  const std::string_view bytes = module.view(module.buffer_assignment);
  if (bytes.empty()) {
    return Fail(module.source ? module.source->name() : std::string(),
                "this module's file has no buffer assignment",
                "XLA writes one into the .hlo.pb of the last stage, after_optimizations");
  }
  try {
    return ReadBufferAssignment(bytes);
  } catch (const protozero::exception& error) {
    const auto damage = proto::FindDamage(bytes, MessageKind::kBufferAssignment);
    if (!damage) return Fail(AtPath(module, bytes.begin(), {}, error.what()));
    return Fail(AtPath(module, bytes.begin() + damage->offset, damage->path, damage->message));
  }
}

Result<std::vector<HeapTrace>> ParseHeapTraces(const hlo::Module& module) {
  STOWPLAN_TRY(BufferAssignmentMessage message, ParseBufferAssignment(module));
  return std::move(message.traces);
}

}  // namespace stowplan::report
