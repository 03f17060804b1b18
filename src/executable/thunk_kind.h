// SPDX-License-Identifier: Apache-2.0
// What is known about the messages of thunks: which fields hold slices of memory, which hold thunks
// of their own, and which hold neither.
//
// The field numbers are those of xla.cpu.ThunkProto and xla.gpu.ThunkProto. They have been the same
// in all releases from jaxlib 0.6.2 to 0.12; what a release added is a field that older ones lack.
// A thunk with a field that is not in the tables is not understood, since that field may hold a
// slice.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace stowplan::executable {

enum class Platform : uint8_t { kCpu, kGpu };
[[nodiscard]] std::string_view Name(Platform platform);  // "cpu"

enum class Effect : uint8_t {
  kPure,     // what it writes depends on what it reads, and nothing else happens
  kEffect,   // talks to the outside, to other devices, or to a state of its own
  kControl,  // runs other thunks
};

enum class FieldRole : uint8_t {
  kPlain,   // no slice inside
  kRead,    // slices that are read
  kWrite,   // slices that are written, all of them, without looking at what was there
  kUpdate,  // slices that are read and written
  // Slices that are written, and perhaps read before: kernels whose result lies over an operand
  // have one argument for both.
  kMaybeUpdate,
  // Slices that are read if an operand lies there: the addend of a product without one is the place
  // of the result.
  kMaybeRead,
  kByWritten,  // kMaybeUpdate if the list in field `kWrittenList` says so, otherwise kRead
  kWrittenList,
  kCalled,     // a sequence of thunks that runs once
  kBranch,     // ... if it is chosen
  kCondition,  // ... before each iteration
  kBody,       // ... in each iteration
  kAsync,      // ... beside the thunks that follow, until a thunk says that it is done
};

inline constexpr size_t kMaxThunkPath = 4;
// The numbers of fields from the message of the kind inwards; zeros fill it up.
using FieldPath = std::array<uint8_t, kMaxThunkPath>;

struct FieldRule {
  uint32_t kind = 0;
  FieldPath path = {};  // of kPlain: of the message that has the plain fields
  FieldRole role = FieldRole::kPlain;
  uint64_t plain = 0;  // of kPlain: a bit for each field number
};

struct ThunkKind {
  uint32_t number = 0;  // of the field in ThunkProto
  std::string_view name;
  Effect effect = Effect::kPure;
};

// Tables of one platform.
struct ThunkTables {
  std::span<const ThunkKind> kinds;
  std::span<const FieldRule> rules;  // by kind
  uint32_t info = 0;                 // the field of ThunkProto with the name; first in it
  uint64_t plain_info = 0;           // fields of that message that say nothing about the order
  uint64_t plain = 0;                // other fields of ThunkProto that belong to no kind
  bool has_numbers = false;          // whether each thunk has a number of its own

  [[nodiscard]] const ThunkKind* Find(uint32_t number) const;
  [[nodiscard]] std::span<const FieldRule> FieldsOf(uint32_t number) const;
};
[[nodiscard]] const ThunkTables& TablesOf(Platform platform);

}  // namespace stowplan::executable
