// SPDX-License-Identifier: Apache-2.0
// The state that the parts of the text parser share while they read one module.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "stowplan/hlo/module_builder.h"
#include "text/cursor.h"
#include "text/name_table.h"
#include "text/shape_parser.h"

namespace stowplan::text {

// A computation that is created when the current one ends.
struct PendingComputation {
  // Written instead of a name, `to_apply={...}`: where it begins. nullptr for wrappers.
  const char* body = nullptr;
  // The computation that the short form of an async operation implies.
  struct Wrapper {
    hlo::Text name;
    hlo::Opcode opcode = hlo::Opcode::kUnknown;
    std::vector<hlo::Attribute> attributes;
    std::vector<hlo::ShapeId> parameters;
    hlo::ShapeId result;
  };
  Wrapper wrapper;
};

// A call of a computation that stands further down. Until all computations are known, the call has
// the id ForwardCall::kFirst + its row.
struct ForwardCall {
  static constexpr uint32_t kFirst = 0x80000000U;
  std::string_view name;
  const char* at = nullptr;
};

// The shapes of the results of bodies that are written in place of names, by where they begin.
using BodyShapes = std::unordered_map<const char*, hlo::ShapeId>;

struct Reader {
  explicit Reader(const std::shared_ptr<const Source>& source)
      : errors(*source),
        cursor{source->begin(), source->end(), &errors},
        builder(source, hlo::Format::kText),
        shapes(builder.module().shapes) {}

  ErrorList errors;
  Cursor cursor;
  hlo::ModuleBuilder builder;
  ShapeParser shapes;
  NameTable instruction_names;  // of the current computation
  NameTable computation_names;

  // Features of the dialect, as they are seen.
  bool saw_operand_shapes = false;
  bool saw_long_list = false;     // an operand list of more than five without /*index=5*/...
  bool saw_list_comment = false;  // ...and with it
  bool saw_quoted_config = false;
  bool saw_quoted_frontend = false;
  bool saw_compact = false;
  std::optional<bool> is_compact_ahead;  // whether the rest has what makes a text compact, if asked
  bool saw_short_async = false;
  bool saw_single_device = false;

  hlo::Module& module() { return builder.module(); }
  std::deque<PendingComputation> pending;
  std::vector<ForwardCall> forward;
  // When a body is read only for the shape of its result: the reader of the text around it, whose
  // shapes it borrows, and how many such readers there are.
  const Reader* outer = nullptr;
  int body_depth = 0;
  std::shared_ptr<BodyShapes> body_shapes;
  // The id that the next pending computation will have.
  [[nodiscard]] hlo::CompId NextComputation() const {
    return hlo::CompId(builder.module().computations.size() + pending.size());
  }
  hlo::InstrId FindInstruction(std::string_view name) const {
    const uint32_t id = instruction_names.Find(
        name, [&](uint32_t i) { return builder.module().name(hlo::InstrId(size_t{i})); });
    return id == NameTable::kNone ? hlo::InstrId() : hlo::InstrId(size_t{id});
  }
  hlo::CompId FindComputation(std::string_view name) const {
    const uint32_t id = computation_names.Find(
        name, [&](uint32_t i) { return builder.module().name(hlo::CompId(size_t{i})); });
    return id == NameTable::kNone ? hlo::CompId() : hlo::CompId(size_t{id});
  }
  // One warning for each distinct `what`.
  void WarnOnce(const char* at, size_t length, const std::string& what);
  std::unordered_set<std::string> warned;

  // Scratch space of the attribute parser.
  std::vector<int64_t> ints;
  std::vector<hlo::Text> texts;
};

}  // namespace stowplan::text
