// SPDX-License-Identifier: Apache-2.0
#include "report/to_proto.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include <protozero/pbf_builder.hpp>

#include "base/stable_sort.h"
#include "proto/fields.h"
#include "report/shapes.h"
#include "stowplan/hlo/element_type.h"

namespace stowplan::report {
namespace {

using proto::AssignedBufferField;
using proto::BufferAliasField;
using proto::BufferAllocationField;
using proto::BufferAssignmentField;
using proto::BufferLocationField;
using proto::HeapEventField;
using proto::HeapSimulatorTraceField;
using proto::LogicalBufferField;
using proto::PeakBuffersField;

// Fields at their defaults are left out, as protobuf does.
template <class Field>
class Builder {
 public:
  explicit Builder(std::string& out) : builder_(out) {}
  template <class Parent>
  Builder(Builder<Parent>& parent, Parent field) : builder_(parent.builder(), field) {}

  void Int(Field field, int64_t value) {
    if (value != 0) builder_.add_int64(field, value);
  }
  void Bool(Field field, bool value) {
    if (value) builder_.add_bool(field, true);
  }
  void Text(Field field, std::string_view text) {
    if (!text.empty()) builder_.add_bytes(field, text.data(), text.size());
  }
  void Ints(Field field, std::span<const int64_t> values) {
    if (!values.empty()) builder_.add_packed_int64(field, values.begin(), values.end());
  }
  protozero::pbf_builder<Field>& builder() { return builder_; }

 private:
  protozero::pbf_builder<Field> builder_;
};

template <class Parent>
void WriteLocation(const BufferAssignmentMessage& message, const BufferLocation& location,
                   Builder<Parent>& parent, Parent field) {
  Builder<BufferLocationField> out(parent, field);
  out.Text(BufferLocationField::kInstructionName, location.instruction_name);
  out.Ints(BufferLocationField::kShapeIndex, message.numbers(location.index));
  if (location.has_id) out.Int(BufferLocationField::kInstructionId, location.instruction_id);
}

void WriteAllocation(const BufferAssignmentMessage& message, const AllocationMessage& allocation,
                     Builder<BufferAssignmentField>& parent) {
  Builder<BufferAllocationField> out(parent, BufferAssignmentField::kBufferAllocations);
  out.Int(BufferAllocationField::kIndex, allocation.index);
  out.Int(BufferAllocationField::kSize, allocation.size);
  out.Bool(BufferAllocationField::kIsThreadLocal, allocation.is_thread_local);
  out.Bool(BufferAllocationField::kIsEntryComputationParameter, allocation.is_entry_parameter);
  out.Int(BufferAllocationField::kParameterNumber, allocation.parameter_number);
  out.Bool(BufferAllocationField::kMaybeLiveOut, allocation.is_maybe_live_out);
  out.Int(BufferAllocationField::kColor, allocation.color);
  for (const AssignedBuffer& assigned : allocation.assigned) {
    Builder<AssignedBufferField> place(out, BufferAllocationField::kAssigned);
    place.Int(AssignedBufferField::kLogicalBufferId, assigned.buffer);
    place.Int(AssignedBufferField::kOffset, assigned.offset);
    place.Int(AssignedBufferField::kSize, assigned.size);
    place.Int(AssignedBufferField::kElementType, assigned.element_type);
  }
  out.Ints(BufferAllocationField::kParameterShapeIndex,
           message.numbers(allocation.parameter_index));
  out.Bool(BufferAllocationField::kIsTuple, allocation.is_tuple);
  out.Bool(BufferAllocationField::kIsConstant, allocation.is_constant);
  out.Bool(BufferAllocationField::kIsParameterAliasedWithOutput,
           allocation.is_parameter_aliased_with_output);
}

void WriteTrace(const HeapTrace& trace, Builder<BufferAssignmentField>& parent) {
  Builder<HeapSimulatorTraceField> out(parent, BufferAssignmentField::kHeapSimulatorTraces);
  for (const HeapEvent& event : trace.events) {
    Builder<HeapEventField> row(out, HeapSimulatorTraceField::kEvents);
    row.Int(HeapEventField::kKind, static_cast<int64_t>(event.kind));
    row.Int(HeapEventField::kBufferId, event.buffer);
    row.Text(HeapEventField::kComputationName, event.computation);
    row.Text(HeapEventField::kInstructionName, event.instruction);
    row.Int(HeapEventField::kShareWithCanonicalId, event.shares_with);
  }
  out.Bool(HeapSimulatorTraceField::kWholeModuleSimulation, trace.is_whole_module);
  out.Int(HeapSimulatorTraceField::kBufferAllocationIndex, trace.allocation);
}

}  // namespace

std::string SerializeBufferAssignment(const BufferAssignmentMessage& message) {
  std::string bytes;
  Builder<BufferAssignmentField> out(bytes);
  for (const LogicalBuffer& buffer : message.buffers) {
    Builder<LogicalBufferField> row(out, BufferAssignmentField::kLogicalBuffers);
    row.Int(LogicalBufferField::kId, buffer.id);
    row.Int(LogicalBufferField::kSize, buffer.size);
    WriteLocation(message, buffer.defined_at, row, LogicalBufferField::kDefinedAt);
    row.Int(LogicalBufferField::kColor, buffer.color);
  }
  for (const BufferAlias& alias : message.aliases) {
    Builder<BufferAliasField> row(out, BufferAssignmentField::kBufferAliases);
    row.Int(BufferAliasField::kSourceBufferId, alias.buffer);
    WriteLocation(message, alias.location, row, BufferAliasField::kLocation);
  }
  for (const AllocationMessage& allocation : message.allocations) {
    WriteAllocation(message, allocation, out);
  }
  for (const HeapTrace& trace : message.traces) WriteTrace(trace, out);
  for (const PeakBuffers& peak : message.peaks) {
    Builder<PeakBuffersField> row(out, BufferAssignmentField::kPeakBuffers);
    row.Int(PeakBuffersField::kAllocationIndex, peak.allocation);
    row.Ints(PeakBuffersField::kLogicalBufferIds, peak.buffers);
  }
  return bytes;
}

namespace {

class MessageMaker {
 public:
  MessageMaker(const Report& report, const hlo::Module& module) : report_(report), module_(module) {
    for (size_t i = 0; i < module.instructions.size(); ++i) {
      by_name_.emplace(module.name(hlo::InstrId(i)), i);
    }
  }

  Result<BufferAssignmentMessage> Make() && {
    std::vector<ValueId> ids;
    for (size_t i = 0; i < report_.values.size(); ++i) {
      if (!report_.values[ValueId(i)].allocation.is_none()) ids.emplace_back(i);
    }
    StableSort(ids, {}, [&](ValueId id) { return report_.values[id].number; });
    for (const ValueId id : ids) AddValue(report_.values[id]);
    for (const Allocation& allocation : report_.allocations.rows()) AddAllocation(allocation);
    if (!errors_.empty()) return std::unexpected(std::move(errors_));
    return std::move(message_);
  }

 private:
  Range AddIndex(const Index& index) {
    const Range range{static_cast<uint32_t>(message_.ints.size()), index.numbers.count};
    const std::span<const int64_t> numbers = report_.numbers(index);
    message_.ints.insert(message_.ints.end(), numbers.begin(), numbers.end());
    return range;
  }

  BufferLocation Locate(std::string_view instruction, const Index& index) {
    BufferLocation location;
    location.index = AddIndex(index);
    const auto row = by_name_.find(instruction);
    if (row == by_name_.end()) {
      if (errors_.size() < kMaxErrors) {
        Diagnostic error;
        error.file = module_.source ? module_.source->name() : std::string();
        error.message = "the module has no instruction " + std::string(instruction);
        error.hint = "is the report about this module?";
        errors_.push_back(std::move(error));
      }
      return location;
    }
    // Without ids of its own (a module read from text), the message refers to instructions by name.
    location.has_id = row->second < module_.proto_ids.size();
    if (location.has_id) {
      location.instruction_id = module_.proto_ids[row->second];
    } else {
      location.instruction_name = instruction;
    }
    return location;
  }

  void AddValue(const Value& value) {
    message_.buffers.push_back({.id = value.number,
                                .size = value.size,
                                .color = std::max<int64_t>(value.color, 0),
                                .defined_at = Locate(value.instruction, value.index)});
  }

  void AddAllocation(const Allocation& allocation) {
    AllocationMessage row;
    row.index = allocation.number;
    row.size = allocation.size;
    row.color = allocation.color;
    row.is_thread_local = allocation.is_thread_local;
    row.is_maybe_live_out = allocation.is_maybe_live_out;
    row.is_constant = allocation.is_constant;
    row.is_entry_parameter = allocation.parameter.has_value();
    if (allocation.parameter) {
      row.parameter_number = *allocation.parameter;
      row.parameter_index = AddIndex(allocation.parameter_index);
      row.is_parameter_aliased_with_output = allocation.is_maybe_live_out;
    }
    for (const ValueId id : allocation.values) {
      const Value& value = report_.values[id];
      const std::optional<hlo::ShapeId> shape = shapes_.Parse(value.shape);
      const auto type = shape ? shapes_.table()[*shape].type : hlo::ElementType::kInvalid;
      // XLA packs several values into an allocation that it made for one, which keeps its flag.
      row.is_tuple = row.is_tuple || (type == hlo::ElementType::kTuple && value.offset == 0 &&
                                      !allocation.is_thread_local);
      row.assigned.push_back({.buffer = value.number,
                              .offset = value.offset,
                              .size = value.size,
                              .element_type = static_cast<int64_t>(type)});
    }
    message_.allocations.push_back(std::move(row));
  }

  const Report& report_;
  const hlo::Module& module_;
  std::unordered_map<std::string_view, size_t> by_name_;
  ShapeTexts shapes_;
  BufferAssignmentMessage message_;
  Diagnostics errors_;
};

}  // namespace

Result<BufferAssignmentMessage> BuildBufferAssignment(const Report& report,
                                                      const hlo::Module& module) {
  if (!report.has_assignment) return Fail({}, "this report has no buffer assignment to write");
  return MessageMaker(report, module).Make();
}

Result<std::string> WriteBufferAssignmentProto(const Report& report, const hlo::Module& module) {
  STOWPLAN_TRY(const BufferAssignmentMessage message, BuildBufferAssignment(report, module));
  return SerializeBufferAssignment(message);
}

}  // namespace stowplan::report
