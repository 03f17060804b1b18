// SPDX-License-Identifier: Apache-2.0
// Goes through one thunk's message along the tables, and makes a new message on the way.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "executable/program.h"
#include "executable/thunk_kind.h"

namespace stowplan::executable {

// What to write in place of what was found: `kKeep` copies the bytes, `kDrop` leaves the field
// empty, `kReplace` takes what the function left in its argument.
enum class WalkAnswer : uint8_t { kKeep, kDrop, kReplace };

struct ThunkVisitor {
  // May change the slice; kReplace then writes it.
  std::function<WalkAnswer(Slice& slice, Access access)> on_slice;
  // The bytes of a sequence's message; kReplace takes `replacement`.
  std::function<WalkAnswer(std::string_view bytes, FieldRole role, std::string& replacement)>
      on_sequence;
  bool keeps_info = true;  // copy the field with the thunk's name
  // The bytes of that field; kReplace takes `replacement`. Not called if it is not kept.
  std::function<WalkAnswer(std::string_view bytes, std::string& replacement)> on_info;
};

struct WalkResult {
  bool is_well_formed = false;
  bool is_understood = false;  // every field is in the tables
  uint32_t kind = 0;
  std::string_view name;
  std::optional<uint64_t> number;  // of a GPU's thunk
};

// `out` may be null.
WalkResult WalkThunk(std::string_view bytes, const ThunkTables& tables, const ThunkVisitor& visitor,
                     std::string* out);

}  // namespace stowplan::executable
