// SPDX-License-Identifier: Apache-2.0
// The allocations of an executable's buffer assignment, and the assignment with other places.
//
// report/assignment_message.h reads all of the message, for a module; here only what a rewritten
// executable needs is read, and what is not read is kept as it is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executable/program.h"

namespace stowplan::executable {

struct Allocation {
  int64_t index = 0;
  int64_t size = 0;
  int64_t color = 0;
  bool is_thread_local = false;
  bool is_parameter = false;
  bool is_live_out = false;
  bool is_tuple = false;
  bool is_constant = false;
  friend bool operator==(const Allocation&, const Allocation&) = default;

  // A heap of temporaries, which may be laid out anew.
  [[nodiscard]] bool is_temporary() const {
    return !is_thread_local && !is_parameter && !is_live_out && !is_constant;
  }
};

// A buffer that a copy of an instruction defines, as `copied` is defined by the original.
struct AddedBuffer {
  int64_t buffer = 0;
  int64_t copied = 0;
  int64_t instruction = 0;  // its id
  std::string name;         // and name
};

struct Assignment {
  std::vector<Allocation> allocations;  // by index
  std::map<int64_t, Slice> places;      // of buffers, by their number
  std::vector<AddedBuffer> added;       // of those: what is not in the message yet
};

// Nothing if the message is damaged, allocations are not numbered from 0 on, or a buffer has two
// places.
[[nodiscard]] std::optional<Assignment> ReadAssignment(std::string_view bytes);

// The message with other places and sizes; `assignment` has the same allocations as ReadAssignment
// found, and the same buffers but for those that were added. What the heap did to pack the old plan
// is left out.
[[nodiscard]] std::string WriteAssignment(std::string_view bytes, const Assignment& assignment);

// GpuExecutableProto.buffer_allocations: the same allocations a second time. IsListOf says whether
// they are.
[[nodiscard]] bool IsListOf(std::string_view bytes, const Assignment& assignment);
[[nodiscard]] std::string WriteAllocations(std::string_view bytes, const Assignment& assignment);

}  // namespace stowplan::executable
