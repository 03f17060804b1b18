// SPDX-License-Identifier: Apache-2.0
// The program as it was written: computations of instructions, in flat tables.
//
// Rows refer to each other by ids, names and texts are slices of one storage (the input's bytes,
// and what had to be unescaped or created), and lists are runs of rows in shared pools.
// ModuleBuilder makes a module; afterwards it never changes.
//
// The running example of these headers:
//
//     ENTRY main {
//       p = f32[4]{0} parameter(0)
//       add = f32[4]{0} add(p, p)
//       ROOT mul = f32[4]{0} multiply(add, p)
//     }
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/id.h"
#include "stowplan/base/source.h"
#include "stowplan/hlo/attribute.h"
#include "stowplan/hlo/dialect.h"
#include "stowplan/hlo/opcode.h"
#include "stowplan/hlo/shape.h"

namespace stowplan::hlo {

using InstrId = Id<struct InstrTag>;
using CompId = Id<struct CompTag>;
using MetadataId = Id<struct MetadataTag>;

struct Instruction {
  Text name;
  ShapeId shape;
  CompId parent;
  Range operands;    // Module::operands
  Range attributes;  // Module::attributes, in print order
  Range called;      // Module::called; while: body, condition
  MetadataId metadata;
  Opcode opcode = Opcode::kUnknown;
  // Made by the reader, not written in the input: the get-tuple-element of `%x#1`, a nested
  // operand, the wrapper of an async operation in its short form.
  bool is_implicit = false;
};

struct Computation {
  Text name;
  // Its instructions are the rows [first, first + count) of the table. From text: as written. From
  // a proto: as stored (post-order).
  InstrId first;
  uint32_t count = 0;
  InstrId root;
  Range parameters;  // Module::instruction_pool, by parameter number
  Range
      schedule;  // Module::instruction_pool, in the order of execution; count 0 when there is none
  Text execution_thread;     // "main" when empty
  int64_t proto_id = -1;     // HloComputationProto.id, or -1
  bool is_implicit = false;  // the wrapper of an async operation in its short form

  [[nodiscard]] bool is_scheduled() const { return schedule.count != 0; }
};

// Where an instruction came from, in the user's terms. Unknown numbers are 0, unknown texts empty.
struct Metadata {
  Text op_type;
  Text op_name;
  Text source_file;
  int32_t source_line = 0;
  int32_t source_end_line = 0;
  int32_t source_column = 0;
  int32_t source_end_column = 0;
  Range profile_types;  // Module::ints
  Text deduplicated_name;
  Text scheduling_name;
  int32_t stack_frame = 0;  // 1-based row of StackFrames::frames
  Text payload;
};

// Call stacks, shared by instructions. Ids are 1-based; 0 is none.
struct StackFrames {
  struct Location {
    int32_t file = 0;
    int32_t function = 0;
    int32_t line = 0;
    int32_t end_line = 0;
    int32_t column = 0;
    int32_t end_column = 0;
    friend bool operator==(const Location&, const Location&) = default;
  };
  struct Frame {
    int32_t location = 0;
    int32_t parent = 0;  // as in the proto; text writes one more
    friend bool operator==(const Frame&, const Frame&) = default;
  };
  std::vector<Text> files;
  std::vector<Text> functions;
  std::vector<Location> locations;
  std::vector<Frame> frames;
  [[nodiscard]] bool empty() const {
    return files.empty() && functions.empty() && locations.empty() && frames.empty();
  }
};

using ShapeIndex = std::vector<int64_t>;

enum class AliasKind : uint8_t { kUnsaid, kMay, kMust };

struct InputOutputAlias {
  ShapeIndex output_index;
  int64_t parameter = 0;
  ShapeIndex parameter_index;
  AliasKind kind = AliasKind::kMay;
  friend bool operator==(const InputOutputAlias&, const InputOutputAlias&) = default;
};

struct BufferDonor {
  int64_t parameter = 0;
  ShapeIndex parameter_index;
  friend bool operator==(const BufferDonor&, const BufferDonor&) = default;
};

struct CrossProgramPrefetch {
  int64_t parameter = 0;
  ShapeIndex index;
  std::optional<int64_t> offset;
};

struct EntryLayout {
  std::vector<ShapeId> parameters;
  ShapeId result;
};

// What the line `HloModule ...` says.
struct Header {
  Text name;
  bool is_scheduled = false;
  std::vector<InputOutputAlias> aliases;
  std::vector<BufferDonor> donors;
  bool alias_passthrough_params = false;
  std::optional<EntryLayout> entry_layout;
  std::vector<uint8_t> propagate_to_parameters;  // allow_spmd_sharding_propagation_to_parameters
  std::vector<uint8_t> propagate_to_output;
  int64_t replica_count = 1;
  int64_t num_partitions = 1;
  Range frontend_attributes;  // Module::texts: alternating keys and values, by key
  std::vector<CrossProgramPrefetch> prefetches;  // protos only
  std::vector<Text> unknown;                     // verbatim: `name=value`
};

enum class Format : uint8_t { kText, kProto };

struct Module {
  Header header;
  Table<CompId, Computation>
      computations;  // in the order of the input; callees precede their callers
  Table<InstrId, Instruction> instructions;
  CompId entry;
  ShapeTable shapes;
  Table<MetadataId, Metadata> metadata;
  StackFrames stack_frames;

  // Pools.
  std::vector<InstrId> operands;
  std::vector<InstrId> instruction_pool;
  std::vector<CompId> called;
  std::vector<CompId> computation_pool;
  std::vector<Attribute> attributes;
  std::vector<int64_t> ints;
  std::vector<ShapeId> shape_pool;
  std::vector<Text> texts;

  // Names of instructions with Opcode::kUnknown, by ascending id.
  std::vector<std::pair<InstrId, Text>> unknown_opcodes;
  // HloInstructionProto.id of each instruction; empty when read from text.
  std::vector<int64_t> proto_ids;
  // BufferAssignmentProto of the same file, not yet looked at; empty when there is none.
  Text buffer_assignment;

  Format format = Format::kText;
  Dialect dialect;  // the one the text is written in; XLA's newest long form for protos
  std::shared_ptr<const Source> source;
  std::string made_texts;  // storage after the source's bytes
  Diagnostics warnings;    // what was read but not understood, once for each kind

  [[nodiscard]] std::string_view view(Text text) const {
    const size_t split = source ? source->size() : 0;
    return text.offset < split
               ? std::string_view(source->begin() + text.offset, text.size)
               : std::string_view(made_texts).substr(text.offset - split, text.size);
  }
  [[nodiscard]] std::string_view name(InstrId id) const { return view(instructions[id].name); }
  [[nodiscard]] std::string_view name(CompId id) const { return view(computations[id].name); }
  [[nodiscard]] std::string_view opcode_name(InstrId id) const;

  [[nodiscard]] std::span<const InstrId> operands_of(InstrId id) const {
    return Rows(operands, instructions[id].operands);
  }
  [[nodiscard]] std::span<const CompId> called_by(InstrId id) const {
    return Rows(called, instructions[id].called);
  }
  [[nodiscard]] std::span<const Attribute> attributes_of(InstrId id) const {
    return Rows(attributes, instructions[id].attributes);
  }
  // The attribute with this key, or nullptr.
  [[nodiscard]] const Attribute* FindAttribute(InstrId id, AttributeKey key) const;
  // Its number, or `otherwise` if the instruction does not have it.
  [[nodiscard]] int64_t NumberOr(InstrId id, AttributeKey key, int64_t otherwise) const;
  // nullptr when the instruction has none.
  [[nodiscard]] const Metadata* metadata_of(InstrId id) const {
    const MetadataId row = instructions[id].metadata;
    return row.is_none() ? nullptr : &metadata[row];
  }
  [[nodiscard]] std::span<const InstrId> parameters_of(CompId id) const {
    return Rows(instruction_pool, computations[id].parameters);
  }
  // The order of execution; empty when the computation is not scheduled.
  [[nodiscard]] std::span<const InstrId> schedule_of(CompId id) const {
    return Rows(instruction_pool, computations[id].schedule);
  }

  // The instructions of a computation in the order in which XLA keeps them: by
  // HloInstructionProto.id, or as written.
  [[nodiscard]] std::vector<InstrId> listed(CompId id) const;

  template <class T>
  static std::span<const T> Rows(const std::vector<T>& pool, Range range) {
    return std::span<const T>(pool).subspan(range.begin, range.count);
  }
};

}  // namespace stowplan::hlo
