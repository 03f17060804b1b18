// SPDX-License-Identifier: Apache-2.0
#include "executable/assignment.h"

#include <utility>

#include "executable/field_reader.h"
#include "proto/fields.h"

namespace stowplan::executable {
namespace {

using proto::AssignedBufferField;
using proto::BufferAllocationField;
using proto::BufferAssignmentField;
using proto::BufferLocationField;
using proto::LogicalBufferField;

constexpr uint32_t kRepeatedAllocations = 1;

template <class Enum>
constexpr uint32_t Number(Enum field) {
  return static_cast<uint32_t>(field);
}

struct AssignedBuffer {
  int64_t buffer = 0;
  int64_t offset = 0;
  int64_t size = 0;
  std::string others;  // fields that say nothing about the place
};

std::optional<AssignedBuffer> ReadAssigned(std::string_view bytes) {
  AssignedBuffer assigned;
  FieldReader fields(bytes);
  while (fields.Next()) {
    const Field& field = fields.field();
    if (field.number == Number(AssignedBufferField::kLogicalBufferId) && field.is_varint()) {
      assigned.buffer = field.signed_value();
    } else if (field.number == Number(AssignedBufferField::kOffset) && field.is_varint()) {
      assigned.offset = field.signed_value();
    } else if (field.number == Number(AssignedBufferField::kSize) && field.is_varint()) {
      assigned.size = field.signed_value();
    } else {
      assigned.others += field.raw;
    }
  }
  if (!fields.ok()) return std::nullopt;
  return assigned;
}

std::string WriteAssigned(const AssignedBuffer& assigned) {
  std::string out;
  const auto add = [&](AssignedBufferField field, int64_t value) {
    if (value != 0) AppendVarintField(Number(field), static_cast<uint64_t>(value), out);
  };
  add(AssignedBufferField::kLogicalBufferId, assigned.buffer);
  add(AssignedBufferField::kOffset, assigned.offset);
  add(AssignedBufferField::kSize, assigned.size);
  return out + assigned.others;
}

bool ReadAllocation(std::string_view bytes, Assignment& out) {
  Allocation allocation;
  std::vector<AssignedBuffer> buffers;
  FieldReader fields(bytes);
  while (fields.Next()) {
    const Field& field = fields.field();
    if (field.is_varint()) {
      switch (static_cast<BufferAllocationField>(field.number)) {
        case BufferAllocationField::kIndex:
          allocation.index = field.signed_value();
          break;
        case BufferAllocationField::kSize:
          allocation.size = field.signed_value();
          break;
        case BufferAllocationField::kColor:
          allocation.color = field.signed_value();
          break;
        case BufferAllocationField::kIsThreadLocal:
          allocation.is_thread_local = field.value != 0;
          break;
        case BufferAllocationField::kIsEntryComputationParameter:
          allocation.is_parameter = field.value != 0;
          break;
        case BufferAllocationField::kMaybeLiveOut:
          allocation.is_live_out = field.value != 0;
          break;
        case BufferAllocationField::kIsTuple:
          allocation.is_tuple = field.value != 0;
          break;
        case BufferAllocationField::kIsConstant:
          allocation.is_constant = field.value != 0;
          break;
        default:
          break;
      }
    } else if (field.number == Number(BufferAllocationField::kAssigned) && field.is_bytes()) {
      std::optional<AssignedBuffer> assigned = ReadAssigned(field.bytes);
      if (!assigned) return false;
      buffers.push_back(*std::move(assigned));
    }
  }
  if (!fields.ok() || allocation.size < 0 ||
      allocation.index != static_cast<int64_t>(out.allocations.size())) {
    return false;
  }
  for (const AssignedBuffer& buffer : buffers) {
    const Slice place = {allocation.index, buffer.offset, buffer.size};
    if (!out.places.emplace(buffer.buffer, place).second) return false;
  }
  out.allocations.push_back(allocation);
  return true;
}

// The allocations in field `list`.
std::optional<Assignment> ReadList(std::string_view bytes, uint32_t list) {
  Assignment out;
  FieldReader fields(bytes);
  while (fields.Next()) {
    const Field& field = fields.field();
    if (field.number == list && field.is_bytes() && !ReadAllocation(field.bytes, out))
      return std::nullopt;
  }
  if (!fields.ok()) return std::nullopt;
  return out;
}

// What is known about a buffer beside its place, by its number.
using Others = std::map<int64_t, std::string>;

void FindOthers(std::string_view allocation, Others& out) {
  FieldReader fields(allocation);
  while (fields.Next()) {
    if (fields.field().number != Number(BufferAllocationField::kAssigned)) continue;
    if (std::optional<AssignedBuffer> assigned = ReadAssigned(fields.field().bytes))
      out.emplace(assigned->buffer, std::move(assigned->others));
  }
}

// LogicalBufferProto of a buffer that is defined at a copy of the instruction.
std::string CopyBuffer(std::string_view bytes, const AddedBuffer& added) {
  std::string out;
  AppendVarintField(Number(LogicalBufferField::kId), static_cast<uint64_t>(added.buffer), out);
  FieldReader fields(bytes);
  while (fields.Next()) {
    const Field& field = fields.field();
    if (field.number == Number(LogicalBufferField::kId)) continue;
    if (field.number != Number(LogicalBufferField::kDefinedAt) || !field.is_bytes()) {
      out += field.raw;
      continue;
    }
    // Old releases name the instruction, newer ones have its id.
    std::string place;
    bool has_name = false;
    FieldReader location(field.bytes);
    while (location.Next()) {
      const Field& part = location.field();
      if (part.number == Number(BufferLocationField::kInstructionName)) {
        has_name = !part.bytes.empty();
      } else if (part.number != Number(BufferLocationField::kInstructionId)) {
        place += part.raw;
      }
    }
    if (has_name) {
      AppendBytesField(Number(BufferLocationField::kInstructionName), added.name, place);
    } else {
      AppendVarintField(Number(BufferLocationField::kInstructionId),
                        static_cast<uint64_t>(added.instruction), place);
    }
    AppendBytesField(field.number, place, out);
  }
  return out;
}

// The buffers of each allocation, by number.
std::vector<std::vector<int64_t>> BuffersOf(const Assignment& assignment) {
  std::vector<std::vector<int64_t>> out(assignment.allocations.size());
  for (const auto& [buffer, place] : assignment.places)
    out.at(static_cast<size_t>(place.allocation)).push_back(buffer);
  return out;
}

class AllocationWriter {
 public:
  AllocationWriter(const Assignment& assignment, const Others& others)
      : assignment_(assignment), others_(others), buffers_(BuffersOf(assignment)) {}

  // The message of the next allocation. Fields stay in the order of their numbers.
  std::string Next(std::string_view bytes) {
    const Allocation& allocation = assignment_.allocations.at(next_);
    const std::vector<int64_t>& buffers = buffers_[next_++];
    std::string out;
    bool has_buffers = false;
    bool is_size_written = false;
    const auto add_size = [&] {
      if (!is_size_written && allocation.size != 0)
        AppendVarintField(Number(BufferAllocationField::kSize),
                          static_cast<uint64_t>(allocation.size), out);
      is_size_written = true;
    };
    const auto add_buffers = [&] {
      for (const int64_t buffer : buffers) {
        const Slice& place = assignment_.places.at(buffer);
        const auto others = others_.find(buffer);
        AppendBytesField(
            Number(BufferAllocationField::kAssigned),
            WriteAssigned({.buffer = buffer,
                           .offset = place.offset,
                           .size = place.size,
                           .others = others == others_.end() ? std::string() : others->second}),
            out);
      }
      has_buffers = true;
    };
    FieldReader fields(bytes);
    while (fields.Next()) {
      const uint32_t number = fields.field().number;
      if (number >= Number(BufferAllocationField::kSize)) add_size();
      if (number >= Number(BufferAllocationField::kAssigned) && !has_buffers) add_buffers();
      if (number != Number(BufferAllocationField::kSize) &&
          number != Number(BufferAllocationField::kAssigned)) {
        out += fields.field().raw;
      }
    }
    add_size();
    if (!has_buffers) add_buffers();
    return out;
  }

 private:
  const Assignment& assignment_;
  const Others& others_;
  std::vector<std::vector<int64_t>> buffers_;
  size_t next_ = 0;
};

bool HasBuffers(std::string_view bytes, uint32_t list) {
  FieldReader fields(bytes);
  while (fields.Next()) {
    if (fields.field().number == list &&
        FindBytes(fields.field().bytes, Number(BufferAllocationField::kAssigned))) {
      return true;
    }
  }
  return false;
}

// A message whose field `list` repeats the allocations.
std::string WriteList(std::string_view bytes, uint32_t list, bool has_buffers,
                      const Assignment& assignment) {
  Others others;
  FieldReader first(bytes);
  while (first.Next()) {
    if (first.field().number == list) FindOthers(first.field().bytes, others);
  }
  for (const AddedBuffer& added : assignment.added) {
    if (const auto copied = others.find(added.copied); copied != others.end())
      others.emplace(added.buffer, copied->second);
  }
  Assignment sizes_only;
  if (!has_buffers) sizes_only.allocations = assignment.allocations;
  AllocationWriter writer(has_buffers ? assignment : sizes_only, others);
  std::string out;
  FieldReader fields(bytes);
  while (fields.Next()) {
    const Field& field = fields.field();
    if (field.number == list && field.is_bytes()) {
      AppendBytesField(list, writer.Next(field.bytes), out);
    } else {
      out += field.raw;
    }
  }
  return out;
}

}  // namespace

std::optional<Assignment> ReadAssignment(std::string_view bytes) {
  return ReadList(bytes, Number(BufferAssignmentField::kBufferAllocations));
}

bool IsListOf(std::string_view bytes, const Assignment& assignment) {
  const std::optional<Assignment> list = ReadList(bytes, kRepeatedAllocations);
  return list && list->allocations == assignment.allocations &&
         (list->places.empty() || list->places == assignment.places);
}

std::string WriteAssignment(std::string_view bytes, const Assignment& assignment) {
  std::multimap<int64_t, const AddedBuffer*> added;  // by what they are copied from
  for (const AddedBuffer& buffer : assignment.added) added.emplace(buffer.copied, &buffer);
  std::string kept;
  FieldReader fields(bytes);
  while (fields.Next()) {
    const Field& field = fields.field();
    if (field.number == Number(BufferAssignmentField::kHeapSimulatorTraces) ||
        field.number == Number(BufferAssignmentField::kPeakBuffers)) {
      continue;
    }
    kept += field.raw;
    if (field.number != Number(BufferAssignmentField::kLogicalBuffers) || !field.is_bytes())
      continue;
    const auto id = FindVarint(field.bytes, Number(LogicalBufferField::kId)).value_or(0);
    const auto [first, last] = added.equal_range(static_cast<int64_t>(id));
    for (auto it = first; it != last; ++it) {
      AppendBytesField(field.number, CopyBuffer(field.bytes, *it->second), kept);
    }
  }
  return WriteList(kept, Number(BufferAssignmentField::kBufferAllocations), true, assignment);
}

std::string WriteAllocations(std::string_view bytes, const Assignment& assignment) {
  return WriteList(bytes, kRepeatedAllocations, HasBuffers(bytes, kRepeatedAllocations),
                   assignment);
}

}  // namespace stowplan::executable
