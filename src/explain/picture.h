// SPDX-License-Identifier: Apache-2.0
// The picture of one module's memory: a report, and everything known about its values, in the terms
// of the person who wrote the program.
//
//     report::Report ──┐
//     hlo::Module ─────┼─ MakePicture ─▶ Picture ─▶ MomentAt, PartitionOf, ...
//     Target ──────────┘  (the last two may be missing)
//
// The report says which value lies where, and when. The picture adds what each one is for (Kind),
// which line of which file made it (Frame), what JAX called it (op_name, path of the parameter),
// and how many of its bytes are padding. Unknown facts are empty or none, and `unknown` lists them
// in sentences.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/derive.h"
#include "report/peak.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/base/id.h"
#include "stowplan/base/own_code.h"
#include "stowplan/hlo/module.h"
#include "stowplan/hlo/opcode.h"
#include "stowplan/report/report.h"
#include "stowplan/target/target.h"
#include "target/guess.h"

namespace stowplan::explain {

// A line of source on a call stack; the row of the innermost frame stands for the whole stack.
using FrameId = Id<struct FrameTag>;
struct Frame {
  std::string_view file;
  std::string_view function;  // may be empty
  int32_t line = 0;           // 0: not known
  FrameId parent;             // the caller: an earlier row, or none
  friend bool operator==(const Frame&, const Frame&) = default;
};

// An instruction that the report names.
using OpId = Id<struct OpTag>;
struct Op {
  std::string_view name;
  hlo::InstrId instruction;  // of the module; none when there is no module, or it has no such name
  hlo::Opcode opcode = hlo::Opcode::kUnknown;
  std::string_view op_name;  // JAX's path: jit(f)/while/body/mul; empty: not known
  FrameId frame;             // innermost; none: not known
  int64_t time = -1;         // when it runs; -1: not on the time line
  // The compiler made it to move or reshape its operand: it has no metadata of its own, and no
  // body.
  bool is_wordless = false;
};

// What a value is for. The first of these that holds (docs/explain.md):
enum class Kind : uint8_t {
  kThreadLocal,  // in memory of calls inside instructions: not on the time line
  kDonated,      // in a parameter that is returned as an output
  kParameter,    // in another parameter
  kConstant,     // in an allocation of constants
  kOutput,       // in an allocation of outputs, and alive at the end
  kActivation,   // made by the forward pass, read by the backward pass
  kLoopState,    // carried by a loop
  kCollective,   // what a collective operation, a send or a receive makes
  kTemporary,    // none of these
};
inline constexpr size_t kKinds = 9;
// "activation kept for later"
[[nodiscard]] std::string_view Name(Kind kind);
// "activation": one word, for tables and files
[[nodiscard]] std::string_view Word(Kind kind);

// By report::ValueId, in addition to the report's own row.
struct ValueFact {
  OpId op;  // where it is defined
  Kind kind = Kind::kTemporary;
  // Of this part of what the op makes; often the op's own.
  std::string_view op_name = {};
  FrameId frame = {};
  int64_t slices = 0;              // of a stack that a loop fills, slice by slice; else 0
  bool is_parameter_copy = false;  // its names are those of a parameter that it copies or reshapes
  // Bytes without padding, if the shape is known; at most the value's size.
  std::optional<int64_t> plain = {};
  // Size less plain; 0 when the shape is not known.
  int64_t padding = 0;
};

// A slot of the table of ops by name: open addressing; the number of slots is a power of two, and
// half of them are free.
struct OpSlot {
  uint32_t hash = 0;
  OpId op;  // none: free
};

// What lies in a memory space, in the order of the tables.
struct Space {
  int64_t color = 0;
  std::vector<report::AllocationId> allocations = {};
  std::vector<report::ValueId> values = {};
  // What its offsets are multiples of, as far as can be seen: the largest power of two, at most
  // 4096, that divides them all; 1 when all are 0. Thread-local allocations do not count.
  int64_t alignment = 1;
};

struct PictureOptions {
  OwnCode own = {};  // which lines are the user's own
  // By number, for parameters whose paths the module does not have.
  std::vector<std::string> parameter_names = {};
};

struct Picture {
  const report::Report* report = nullptr;
  const hlo::Module* module = nullptr;  // null: there is none
  std::optional<Target> target = {};
  Backend backend = Backend::kUnknown;

  Table<FrameId, Frame> frames = {};
  std::vector<FrameId> own_lines = {};  // by FrameId: see own_line
  Table<OpId, Op> ops = {};
  std::vector<OpSlot> op_slots = {};              // see FindOp
  std::vector<ValueFact> values = {};             // by report::ValueId
  std::vector<std::string> parameter_paths = {};  // by report::AllocationId; empty: no parameter
  report::PlainSizes plain_sizes = {};            // by report::ValueId
  std::optional<report::TruePeak> peak = {};      // absent if no file has live ranges
  report::Curves curves = {};                     // empty then
  std::vector<Space> spaces = {};                 // by color; of each that has an allocation
  // What is not known, one sentence each.
  std::vector<std::string> unknown = {};
  // What some of the texts above are slices of.
  std::vector<std::unique_ptr<std::string>> texts = {};

  [[nodiscard]] const ValueFact& fact(report::ValueId id) const { return values[id.index]; }
  [[nodiscard]] const Op& op_of(report::ValueId id) const { return ops[values[id.index].op]; }
  // Of a stack, given by its innermost frame: the nearest frame of the user's own code
  // (explain/own_line.h); none for none.
  [[nodiscard]] FrameId own_line(FrameId innermost) const {
    return innermost.is_none() ? innermost : own_lines[innermost.index];
  }
  // The op of this name; none when the report does not name it.
  [[nodiscard]] OpId FindOp(std::string_view name) const;
  // Null when nothing has this color.
  [[nodiscard]] const Space* FindSpace(int64_t color) const;
};

// `module` may be null; report and module must outlive the picture. Without a target, it is
// inferred from the module or the report.
//
// Fails if the report has no assignment, if a value lies outside its allocation, or if sizes do not
// fit in 64 bits.
[[nodiscard]] Result<Picture> MakePicture(const report::Report& report, const hlo::Module* module,
                                          const std::optional<Target>& target = std::nullopt,
                                          const PictureOptions& options = {});

// Only its frames, ops, and the names and lines of values: enough to say where they come from.
// Never fails.
[[nodiscard]] Picture MakeLabels(const report::Report& report, const hlo::Module* module,
                                 const PictureOptions& options = {});

// The stack, outermost frame first.
[[nodiscard]] std::vector<FrameId> StackOf(const Picture& picture, FrameId innermost);
// "train.py:42"; empty when not known. Of a value: SourceText(picture, picture.own_line(frame)).
[[nodiscard]] std::string SourceText(const Picture& picture, FrameId frame);
// "fusion.3{0}"
[[nodiscard]] std::string ValueName(const report::Report& report, report::ValueId id);
// All values that a user may mean by `name`: "fusion.3{0}", or "fusion.3" with any index; a leading
// % is ignored. In the order of the table.
[[nodiscard]] std::vector<report::ValueId> FindValues(const report::Report& report,
                                                      std::string_view name);

}  // namespace stowplan::explain
