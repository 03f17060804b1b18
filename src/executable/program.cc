// SPDX-License-Identifier: Apache-2.0
#include "executable/program.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "executable/field_reader.h"
#include "executable/numbers.h"
#include "executable/thunk_walk.h"

namespace stowplan::executable {
namespace {

constexpr int kMaxDepth = 32;

// A sequence that still has to be decoded.
struct Pending {
  uint32_t sequence = 0;
  int depth = 0;
  std::string_view bytes;
};

class Decoder {
 public:
  Decoder(const std::string& name, Program& program)
      : name_(name), program_(program), tables_(TablesOf(program.platform)) {}

  Result<bool> Run(std::span<const std::string_view> thunks, std::string_view rest) {
    program_.sequences.push_back({.role = FieldRole::kCalled, .rest = rest});
    for (const std::string_view bytes : thunks) {
      STOWPLAN_TRY([[maybe_unused]] const bool ok, AddThunk(0, bytes, 0));
    }
    // Sequences are met in the order of their rows, so `pending_` grows while it is read.
    for (size_t i = 0; i < pending_.size(); ++i) {
      const Pending next = pending_[i];
      STOWPLAN_TRY([[maybe_unused]] const bool ok, AddSequence(next));
    }
    for (Sequence& sequence : program_.sequences) sequence.original = sequence.thunks;
    return true;
  }

 private:
  Result<bool> AddSequence(const Pending& pending) {
    if (pending.depth > kMaxDepth)
      return Fail(name_, fmt::format("thunks lie more than {} deep", kMaxDepth));
    FieldReader fields(pending.bytes);
    const char* rest_begin = nullptr;
    while (fields.Next()) {
      const Field& field = fields.field();
      if (field.number == kThunksOfSequence && field.is_bytes()) {
        // Thunks come before everything else, so that the rest is one piece.
        if (rest_begin != nullptr) return Fail(name_, "fields of a sequence of thunks are mixed");
        STOWPLAN_TRY([[maybe_unused]] const bool ok,
                     AddThunk(pending.sequence, field.bytes, pending.depth));
      } else if (rest_begin == nullptr) {
        rest_begin = field.raw.data();
      }
    }
    if (!fields.ok()) return Fail(name_, "a sequence of thunks is damaged");
    if (rest_begin != nullptr) {
      const char* const end = pending.bytes.data() + pending.bytes.size();
      program_.sequences[pending.sequence].rest = {rest_begin,
                                                   static_cast<size_t>(end - rest_begin)};
    }
    return true;
  }

  Result<bool> AddThunk(uint32_t sequence, std::string_view bytes, int depth) {
    Thunk thunk;
    thunk.bytes = bytes;
    thunk.slots.begin = static_cast<uint32_t>(program_.slots.size());
    thunk.sequences.begin = static_cast<uint32_t>(program_.sequences.size());
    const ThunkVisitor visitor = {
        .on_slice =
            [&](Slice& slice, Access access) {
              program_.slots.push_back({.slice = slice, .access = access});
              return WalkAnswer::kKeep;
            },
        .on_sequence =
            [&](std::string_view inner, FieldRole role, std::string& /*replacement*/) {
              pending_.push_back({.sequence = static_cast<uint32_t>(program_.sequences.size()),
                                  .depth = depth + 1,
                                  .bytes = inner});
              program_.sequences.push_back({.role = role});
              return WalkAnswer::kKeep;
            },
    };
    const WalkResult found = WalkThunk(bytes, tables_, visitor, nullptr);
    if (!found.is_well_formed) {
      return Fail(name_, fmt::format("the message of a thunk is damaged: number {} of sequence {}",
                                     program_.sequences[sequence].thunks.size(), sequence));
    }
    thunk.slots.count = static_cast<uint32_t>(program_.slots.size()) - thunk.slots.begin;
    thunk.sequences.count =
        static_cast<uint32_t>(program_.sequences.size()) - thunk.sequences.begin;
    thunk.kind = tables_.Find(found.kind);
    thunk.kind_number = found.kind;
    thunk.name = found.name;
    thunk.number = found.number;
    thunk.is_understood = found.is_understood;
    program_.sequences[sequence].thunks.push_back(static_cast<uint32_t>(program_.thunks.size()));
    program_.thunks.push_back(thunk);
    return true;
  }

  const std::string& name_;
  Program& program_;
  const ThunkTables& tables_;
  std::vector<Pending> pending_;
};

// The message with a thunk's name and number, if they are not the ones in it.
WalkAnswer EncodeInfo(const Thunk& thunk, std::string_view bytes, std::string& out) {
  const bool has_name = FindBytes(bytes, kNameOfThunk).value_or("") == thunk.name;
  const bool has_number = !thunk.number || FindVarint(bytes, kNumberOfThunk) == thunk.number;
  if (has_name && has_number) return WalkAnswer::kKeep;
  FieldReader fields(bytes);
  while (fields.Next()) {
    const Field& field = fields.field();
    const bool is_new = field.number == kNameOfThunk ||
                        (field.number == kNumberOfThunk && thunk.number.has_value());
    if (!is_new) out += field.raw;
  }
  AppendBytesField(kNameOfThunk, thunk.name, out);
  if (thunk.number) AppendVarintField(kNumberOfThunk, *thunk.number, out);
  return WalkAnswer::kReplace;
}

// A thunk's message with its present slots, and with sequences that were encoded before.
std::string EncodeThunk(const Program& program, const Thunk& thunk,
                        std::span<const std::string> sequences) {
  size_t slot = thunk.slots.begin;
  size_t inner = thunk.sequences.begin;
  const ThunkVisitor visitor = {
      .on_slice =
          [&](Slice& slice, Access /*access*/) {
            const Slice& now = program.slots[slot++].slice;
            if (now == slice) return WalkAnswer::kKeep;
            slice = now;
            return WalkAnswer::kReplace;
          },
      .on_sequence =
          [&](std::string_view bytes, FieldRole /*role*/, std::string& replacement) {
            const std::string& now = sequences[inner++];
            if (now == bytes) return WalkAnswer::kKeep;
            replacement = now;
            return WalkAnswer::kReplace;
          },
      .on_info =
          [&](std::string_view bytes, std::string& replacement) {
            return thunk.is_copy ? EncodeInfo(thunk, bytes, replacement) : WalkAnswer::kKeep;
          },
  };
  std::string out;
  WalkThunk(thunk.bytes, TablesOf(program.platform), visitor, &out);
  return out;
}

}  // namespace

uint32_t AddCopy(Program& program, uint32_t row, std::string_view name) {
  Thunk copy = program.thunks[row];
  copy.name = name;
  copy.is_copy = true;
  if (copy.number) {
    uint64_t last = 0;
    for (const Thunk& thunk : program.thunks) last = std::max(last, thunk.number.value_or(0));
    copy.number = last + 1;
  }
  copy.slots.begin = static_cast<uint32_t>(program.slots.size());
  for (uint32_t i = 0; i < copy.slots.count; ++i)
    program.slots.push_back(program.slots[program.thunks[row].slots.begin + i]);
  program.thunks.push_back(copy);
  return static_cast<uint32_t>(program.thunks.size() - 1);
}

Result<Program> DecodeProgram(const std::string& name, Platform platform,
                              std::span<const std::string_view> thunks, std::string_view rest) {
  Program program;
  program.platform = platform;
  Decoder decoder(name, program);
  STOWPLAN_TRY([[maybe_unused]] const bool ok, decoder.Run(thunks, rest));
  return program;
}

std::vector<std::string> EncodeThunks(const Program& program) {
  // Sequences inside others have higher numbers, so they are there when they are needed.
  std::vector<std::string> encoded(program.sequences.size());
  std::vector<std::string> first;
  for (size_t i = program.sequences.size(); i-- > 0;) {
    const Sequence& sequence = program.sequences[i];
    for (const uint32_t row : sequence.thunks) {
      std::string thunk = EncodeThunk(program, program.thunks[row], encoded);
      if (i == 0) {
        first.push_back(std::move(thunk));
      } else {
        AppendBytesField(kThunksOfSequence, thunk, encoded[i]);
      }
    }
    encoded[i] += sequence.rest;
  }
  return first;
}

std::string IdentityOf(const Program& program, const Thunk& thunk) {
  const ThunkVisitor visitor = {
      .on_slice =
          [&](Slice& slice, Access /*access*/) {
            // The size is part of what a kernel does; the place is not.
            slice.allocation = 0;
            slice.offset = 0;
            return WalkAnswer::kReplace;
          },
      .on_sequence = [](std::string_view /*bytes*/, FieldRole /*role*/,
                        std::string& /*replacement*/) { return WalkAnswer::kDrop; },
      .keeps_info = false,
  };
  std::string out;
  WalkThunk(thunk.bytes, TablesOf(program.platform), visitor, &out);
  return out;
}

}  // namespace stowplan::executable
