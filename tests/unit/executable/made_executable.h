// SPDX-License-Identifier: Apache-2.0
// Executables for tests, made of a few allocations and thunks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executable/executable.h"
#include "executable/field_reader.h"
#include "executable/numbers.h"

namespace stowplan::executable {

inline std::string Message(std::initializer_list<std::pair<uint32_t, std::string>> fields) {
  std::string out;
  for (const auto& [number, bytes] : fields) AppendBytesField(number, bytes, out);
  return out;
}

inline std::string SliceMessage(const Slice& slice) {
  std::string out;
  AppendVarintField(1, static_cast<uint64_t>(slice.offset), out);
  AppendVarintField(2, static_cast<uint64_t>(slice.size), out);
  AppendVarintField(3, static_cast<uint64_t>(slice.allocation), out);
  return out;
}

inline std::string ThunkMessage(std::string_view name, uint32_t kind, const std::string& message) {
  return Message({{1, "kind"}, {2, Message({{1, std::string(name)}})}, {kind, message}});
}

// A kernel that reads and writes slices.
inline std::string Kernel(std::string_view name, const std::vector<Slice>& reads,
                          const std::vector<Slice>& writes) {
  std::string kernel = Message({{1, "kernel_of_" + std::string(name)}});
  for (const Slice& slice : reads) AppendBytesField(5, Message({{1, SliceMessage(slice)}}), kernel);
  for (const Slice& slice : writes)
    AppendBytesField(6, Message({{1, SliceMessage(slice)}}), kernel);
  return ThunkMessage(name, 11, kernel);
}

// The same thunk under another name, as a copy has it.
inline std::string Renamed(const std::string& thunk, std::string_view name) {
  return WithBytes(thunk, 2, Message({{1, std::string(name)}}));
}

inline std::string CustomCall(std::string_view name, const Slice& read, const Slice& write) {
  const std::string buffers =
      Message({{1, Message({{2, SliceMessage(read)}})}, {2, Message({{2, SliceMessage(write)}})}});
  return ThunkMessage(name, 16, Message({{2, "target"}, {4, buffers}}));
}

inline std::string SequenceMessage(const std::vector<std::string>& thunks) {
  std::string out;
  for (const std::string& thunk : thunks) AppendBytesField(kThunksOfSequence, thunk, out);
  return out;
}

inline std::string While(std::string_view name, const std::vector<std::string>& condition,
                         const std::vector<std::string>& body, const Slice& predicate) {
  return ThunkMessage(name, 10,
                      Message({{1, SequenceMessage(condition)},
                               {2, SequenceMessage(body)},
                               {4, SliceMessage(predicate)}}));
}

inline std::string Conditional(std::string_view name,
                               const std::vector<std::vector<std::string>>& branches,
                               const Slice& index) {
  std::string message;
  for (const std::vector<std::string>& branch : branches)
    AppendBytesField(1, SequenceMessage(branch), message);
  AppendBytesField(2, SliceMessage(index), message);
  return ThunkMessage(name, 4, message);
}

enum class MadeAs : uint8_t { kParameter, kResult, kTemporary, kDonated };

struct MadeAllocation {
  MadeAs kind = MadeAs::kTemporary;
  int64_t size = 0;
};

inline std::string AssignmentMessage(const std::vector<MadeAllocation>& allocations) {
  std::string out;
  for (size_t i = 0; i < allocations.size(); ++i) {
    std::string message;
    AppendVarintField(1, i, message);
    AppendVarintField(2, static_cast<uint64_t>(allocations[i].size), message);
    const MadeAs kind = allocations[i].kind;
    if (kind == MadeAs::kParameter || kind == MadeAs::kDonated) AppendVarintField(5, 1, message);
    if (kind == MadeAs::kResult || kind == MadeAs::kDonated) AppendVarintField(7, 1, message);
    AppendBytesField(3, message, out);
  }
  return out;
}

// An executable for the CPU.
inline std::string MadeBytes(const std::vector<MadeAllocation>& allocations,
                             const std::vector<std::string>& thunks) {
  const std::string module = Message({{1, "made"}, {3, Message({{1, "main"}})}});
  const std::string result = Message({{1, Message({{1, module}})},
                                      {2, AssignmentMessage(allocations)},
                                      {6, SequenceMessage(thunks)}});
  return Message({{1, result}, {2, "options"}});
}

inline Executable Made(const std::vector<MadeAllocation>& allocations,
                       const std::vector<std::string>& thunks) {
  auto read = ReadExecutable(Source::FromBytes("made", MadeBytes(allocations, thunks)));
  return read ? *std::move(read) : Executable();
}

}  // namespace stowplan::executable
