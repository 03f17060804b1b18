// SPDX-License-Identifier: Apache-2.0
// The thunks of an executable: what the runtime executes, as flat tables.
//
// A thunk launches a kernel, copies, calls a library, or runs other thunks (a loop, a branch). It
// names memory by slices of allocations. A program is decoded from the executable's bytes, changed
// as data (other slices, another order, a thunk twice), and encoded again; what is not changed
// comes back byte for byte.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executable/thunk_kind.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/base/id.h"

namespace stowplan::executable {

struct Slice {
  int64_t allocation = 0;
  int64_t offset = 0;
  int64_t size = 0;
  friend auto operator<=>(const Slice&, const Slice&) = default;
};

// kMaybeUpdate: it is written, and perhaps read before; the thunk does not say. kMaybeRead: it is
// perhaps read, and not written.
enum class Access : uint8_t { kRead, kMaybeRead, kWrite, kUpdate, kMaybeUpdate };
[[nodiscard]] inline bool IsWritten(Access access) { return access >= Access::kWrite; }

struct Slot {
  Slice slice;
  Access access = Access::kRead;
};

struct Thunk {
  const ThunkKind* kind = nullptr;  // null: of a kind that is not known
  uint32_t kind_number = 0;         // of its field in ThunkProto; 0: it has none
  std::string_view name;            // of the instruction that it executes
  // The number that identifies a thunk of the GPU. Absent on the CPU.
  std::optional<uint64_t> number = {};
  bool is_copy = false;    // of another one, with a name and a number that are not in `bytes`
  std::string_view bytes;  // the message as it was read
  Range slots;             // in the order of the bytes
  Range sequences;         // those inside, in the order of the bytes
  // Not all of its fields are known, so there may be slices that are not in `slots`.
  bool is_understood = false;
};

struct Sequence {
  FieldRole role = FieldRole::kCalled;
  std::vector<uint32_t> thunks;    // rows of Program::thunks, in the order of execution
  std::vector<uint32_t> original;  // the same as it was read
  // What it has besides thunks. If there is anything, it refers to thunks by number.
  std::string_view rest;
};

// Rows are never removed; what is in no sequence does not run.
struct Program {
  Platform platform = Platform::kCpu;
  std::vector<Thunk> thunks;
  std::vector<Slot> slots;
  std::vector<Sequence> sequences;  // the first is the executable's; those inside come later

  [[nodiscard]] std::span<const Slot> slots_of(const Thunk& thunk) const {
    return std::span(slots).subspan(thunk.slots.begin, thunk.slots.count);
  }
  [[nodiscard]] std::span<const Sequence> sequences_of(const Thunk& thunk) const {
    return std::span(sequences).subspan(thunk.sequences.begin, thunk.sequences.count);
  }
};

// The first sequence is given as the messages of its thunks and what else it has. The program
// refers to these bytes. Fails if a message is damaged, or if sequences lie inside each other more
// than 32 deep, which no runtime reads.
[[nodiscard]] Result<Program> DecodeProgram(const std::string& name, Platform platform,
                                            std::span<const std::string_view> thunks,
                                            std::string_view rest);

// Adds a thunk that does what `row` does, under another name, and returns its row. Its slots are
// copies of the other's; it is in no sequence yet. The name must outlive the program. Requires a
// thunk without sequences of its own.
uint32_t AddCopy(Program& program, uint32_t row, std::string_view name);

// The messages of the first sequence's thunks, with the program's present names, slots and orders.
[[nodiscard]] std::vector<std::string> EncodeThunks(const Program& program);

// What a thunk does, wherever its data lie: its message without names, slices and the thunks
// inside.
[[nodiscard]] std::string IdentityOf(const Program& program, const Thunk& thunk);

}  // namespace stowplan::executable
