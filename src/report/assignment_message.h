// SPDX-License-Identifier: Apache-2.0
// BufferAssignmentProto as plain data, from bytes and to bytes.
//
// What the proto calls logical buffers are XLA's values. An alias of a value names the definition
// of another value that XLA keeps in the same buffer, and so in the same place.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/id.h"
#include "stowplan/hlo/module.h"

namespace stowplan::report {

struct BufferLocation {
  int64_t instruction_id = 0;
  bool has_id = false;                     // old files have the name instead
  std::string_view instruction_name = {};  // empty when there is an id
  Range index = {};                        // BufferAssignmentMessage::ints
};

struct LogicalBuffer {
  int64_t id = 0;
  int64_t size = 0;
  int64_t color = 0;
  BufferLocation defined_at = {};
  const char* at = nullptr;  // where it begins, for errors
};

struct BufferAlias {
  int64_t buffer = 0;
  BufferLocation location = {};
  const char* at = nullptr;
};

struct AssignedBuffer {
  int64_t buffer = 0;
  int64_t offset = 0;
  int64_t size = 0;
  int64_t element_type = 0;  // 0: not said
  const char* at = nullptr;
};

struct AllocationMessage {
  int64_t index = 0;
  int64_t size = 0;
  int64_t color = 0;
  int64_t parameter_number = 0;
  Range parameter_index;  // BufferAssignmentMessage::ints
  bool is_thread_local = false;
  bool is_entry_parameter = false;
  bool is_maybe_live_out = false;
  bool is_tuple = false;
  bool is_constant = false;
  bool is_parameter_aliased_with_output = false;
  std::vector<AssignedBuffer> assigned = {};
  const char* at = nullptr;
};

// What XLA's heap did while it packed an allocation. Unknown kinds keep their number.
enum class HeapEventKind : int32_t { kAlloc, kFree, kShareWith };
struct HeapEvent {
  HeapEventKind kind = HeapEventKind::kAlloc;
  int64_t buffer = 0;
  std::string_view computation = {};
  std::string_view instruction = {};
  int64_t shares_with = 0;  // of kShareWith
};
struct HeapTrace {
  int64_t allocation = 0;
  bool is_whole_module = false;
  std::vector<HeapEvent> events = {};
};

struct PeakBuffers {
  int64_t allocation = 0;
  std::vector<int64_t> buffers = {};
};

struct BufferAssignmentMessage {
  std::vector<LogicalBuffer> buffers;
  std::vector<BufferAlias> aliases;
  std::vector<AllocationMessage> allocations;
  std::vector<HeapTrace> traces;
  std::vector<PeakBuffers> peaks;  // 2026 on
  std::vector<int64_t> ints;

  [[nodiscard]] std::span<const int64_t> numbers(Range range) const {
    return std::span<const int64_t>(ints).subspan(range.begin, range.count);
  }
};

// The message inside the module's file, unchanged. Texts are slices of the module's source. Fails,
// with byte offset and path, if there is none or it is damaged.
Result<BufferAssignmentMessage> ParseBufferAssignment(const hlo::Module& module);
// Only the traces.
Result<std::vector<HeapTrace>> ParseHeapTraces(const hlo::Module& module);

// An error at `at`, a place in the module's buffer assignment.
[[nodiscard]] Diagnostic AtBufferAssignment(const hlo::Module& module, const char* at,
                                            std::string message);

// As XLA writes it: fields by number, defaults left out, indices packed.
std::string SerializeBufferAssignment(const BufferAssignmentMessage& message);

}  // namespace stowplan::report
