// SPDX-License-Identifier: Apache-2.0
#include "text/parse.h"

#include <algorithm>

#include "hlo/async.h"
#include "text/call_order.h"
#include "text/header.h"
#include "text/instruction.h"
#include "text/values.h"

namespace stowplan {
namespace text {

using hlo::CompId;
using hlo::Computation;
using hlo::InstrId;
using hlo::Opcode;
using hlo::ShapeId;

void Reader::WarnOnce(const char* at, size_t length, const std::string& what) {
  constexpr size_t kMaxWarnings = 200;
  if (warned.size() >= kMaxWarnings || !warned.insert(what).second) return;
  const Source& source = *builder.module().source;
  Diagnostic warning = source.At(static_cast<size_t>(at - source.begin()), length, what);
  warning.severity = Severity::kWarning;
  module().warnings.push_back(std::move(warning));
}

namespace {

class ModuleParser {
 public:
  explicit ModuleParser(const std::shared_ptr<const Source>& source)
      : r_(source), instructions_(r_) {}

  Result<hlo::Module> Parse();

 private:
  // The computations that are written, not made up, and where they begin.
  struct Written {
    std::vector<CompId> ids;
    std::vector<const char*> begins;
  };
  // Reads the computations again, in another order.
  ModuleParser(const std::shared_ptr<const Source>& source, Written order)
      : r_(source), instructions_(r_), order_(std::move(order)) {}

  bool ParseComputations();
  Result<hlo::Module> ParseInCallOrder();
  void Reserve();
  bool ParseComputation();
  bool ParseProgramShape(ShapeId& result);
  bool ParseInstructions(Computation& computation);
  void ParseClosing(CompId id);
  bool ParseLooseInstructions();
  bool AddPending();
  bool LooksLikeInstruction() const;
  void AddSchedules();
  void FinishDialect();

  Reader r_;
  InstructionParser instructions_;
  CompId entry_;
  Written written_;
  Written order_;  // empty: as written
  bool saw_percent_ = false;
  bool saw_program_shape_ = false;
  bool saw_closing_name_ = false;
};

// Tables grow by doubling, and the copies would set the peak of memory. Lines tell how many rows
// there will be; memory that is reserved and not used costs nothing.
void ModuleParser::Reserve() {
  const auto lines = static_cast<size_t>(std::count(r_.cursor.p, r_.cursor.end, '\n')) + 16;
  hlo::Module& m = r_.module();
  m.instructions.Reserve(lines);
  m.operands.reserve(lines * 3);
  m.attributes.reserve(lines * 4);
  m.metadata.Reserve(lines);
}

bool ModuleParser::LooksLikeInstruction() const {
  Cursor look = r_.cursor;
  look.Skip();
  if (look.TakeWord("ROOT") || (look.peek() != '(' && ShapeParser::LooksLikeShape(look)))
    return true;
  return !look.Name().empty() && look.Take('=');
}

// (p: f32[2], q: s32[]) -> f32[2]
bool ModuleParser::ParseProgramShape(ShapeId& result) {
  Cursor& c = r_.cursor;
  for (bool first = true; !c.Take(')'); first = false) {
    if (!first && !c.Expect(',', "between parameters")) return false;
    if (c.Name().empty()) return c.FailExpected("a parameter's name");
    c.Take(':');
    if (r_.shapes.Parse(c).is_none()) return false;
  }
  if (!c.TakeMark("->")) return c.FailExpected("'->'");
  result = r_.shapes.Parse(c);
  return !result.is_none();
}

bool ModuleParser::ParseInstructions(Computation& computation) {
  Cursor& c = r_.cursor;
  InstrId root;
  InstrId last;
  while (!c.Take('}')) {
    if (c.at_end())
      return c.Fail("the computation '" + std::string(r_.module().view(computation.name)) +
                    "' does not end");
    const char* begin = c.p;
    bool is_root = false;
    InstrId id;
    if (!instructions_.Parse(is_root, id)) {
      if (r_.errors.is_full()) return false;
      instructions_.Recover(begin);
      continue;
    }
    last = id;
    if (!is_root) continue;
    if (!root.is_none()) {
      c.FailAt(begin, 4, "a second ROOT in one computation");
      continue;
    }
    root = id;
  }
  r_.builder.EndComputation(root.is_none() ? last : root);
  return true;
}

// What may stand after the closing brace: an execution thread, and the name again as a comment. A
// comment that says anything else is only a comment.
void ModuleParser::ParseClosing(CompId id) {
  Cursor& c = r_.cursor;
  const char* brace = c.p;
  if (c.Take(',')) {
    hlo::Text thread;
    if (c.TakeWord("execution_thread") && c.Take('=') && ParseString(r_, thread)) {
      if (r_.module().view(thread) != "main")
        r_.module().computations[id].execution_thread = thread;
    } else if (!r_.errors.is_full()) {
      c.FailExpected("execution_thread=\"...\"");
    }
    brace = c.p;
  }
  Cursor look{brace, c.end, c.errors};
  for (std::string_view comment; !saw_closing_name_ && look.TakeComment(comment);) {
    if (!comment.starts_with("// ")) continue;
    comment = comment.substr(3, comment.find_last_not_of(" \t") - 2);
    saw_closing_name_ = comment == r_.module().name(id);
  }
}

bool ModuleParser::ParseComputation() {
  Cursor& c = r_.cursor;
  const char* computation_begin = c.p;
  const bool is_entry = c.TakeWord("ENTRY");
  c.Skip();
  const char* begin = c.p;
  if (*begin == '%') saw_percent_ = true;
  const std::string_view name = c.Name();
  if (name.empty() && !(is_entry && (c.peek() == '{' || c.peek() == '(')))
    return c.FailExpected("a computation");
  ShapeId declared;
  const char* shape_at = c.p;
  if (c.Take('(')) {
    shape_at = c.p;
    saw_program_shape_ = true;
    if (!ParseProgramShape(declared)) return false;
  }
  if (!c.Expect('{', "of the computation's body")) return false;
  const size_t errors = r_.errors.size();
  const CompId id = r_.builder.BeginComputation(name.empty() ? r_.builder.AddText("entry")
                                                             : r_.builder.ToText(name));
  written_.ids.push_back(id);
  written_.begins.push_back(computation_begin);
  if (is_entry) {
    if (!entry_.is_none()) c.FailAt(begin, name.size(), "a second ENTRY computation");
    entry_ = id;
  }
  instructions_.BeginComputation();
  const Computation& computation = r_.module().computations[id];
  if (!ParseInstructions(r_.module().computations[id])) return false;
  if (computation.count == 0 && r_.errors.size() == errors) {
    c.FailAt(begin, name.size(), "the computation has no instructions");
  }
  const hlo::Module& m = r_.module();
  if (r_.errors.size() == errors && !declared.is_none() &&
      !hlo::Equal(m.shapes, declared, m.shapes, m.instructions[computation.root].shape,
                  /*layouts=*/false)) {
    c.FailAt(shape_at, 1,
             "the computation is said to return " + hlo::ToString(m.shapes, declared) +
                 ", its root has shape " +
                 hlo::ToString(m.shapes, m.instructions[computation.root].shape));
  }
  const auto name_of = [&](uint32_t i) { return m.name(CompId(size_t{i})); };
  if (!r_.computation_names.Add(m.name(id), id.index, name_of)) {
    c.FailAt(begin, name.size(), "computation '" + std::string(name) + "' is defined twice");
  }
  ParseClosing(id);
  return AddPending();
}

// Reads the bodies that were written in place of names, which may hold more of them.
bool ModuleParser::AddPending() {
  Cursor& c = r_.cursor;
  const char* behind = c.p;
  while (!r_.pending.empty()) {
    const PendingComputation next = std::move(r_.pending.front());
    r_.pending.pop_front();
    if (next.body == nullptr) {
      instructions_.AddWrapper(next.wrapper);
      continue;
    }
    c.p = next.body + 1;
    const std::string name = "computation." + std::to_string(r_.module().computations.size());
    const CompId id = r_.builder.BeginComputation(r_.builder.AddText(name));
    instructions_.BeginComputation();
    if (!ParseInstructions(r_.module().computations[id])) return false;
  }
  c.p = behind;
  return true;
}

// A text of instructions alone, as XLA's tests have them: the body of the entry computation.
bool ModuleParser::ParseLooseInstructions() {
  Cursor& c = r_.cursor;
  instructions_.set_makes_parameters();
  entry_ = r_.builder.BeginComputation(r_.builder.AddText("entry"));
  written_.ids.push_back(entry_);
  written_.begins.push_back(c.p);
  instructions_.BeginComputation();
  InstrId root;
  InstrId last;
  for (c.Skip(); !c.at_end(); c.Skip()) {
    bool is_root = false;
    InstrId id;
    if (!instructions_.Parse(is_root, id)) return false;
    last = id;
    if (is_root) root = id;
  }
  r_.builder.EndComputation(root.is_none() ? last : root);
  return AddPending();
}

// In a scheduled module every computation runs in the order it is written in, but for the bodies of
// fusions, whose instructions do not run one by one.
void ModuleParser::AddSchedules() {
  hlo::Module& m = r_.module();
  if (!m.header.is_scheduled) return;
  std::vector<bool> is_fused(m.computations.size(), false);
  for (size_t i = 0; i < m.instructions.size(); ++i) {
    if (m.instructions[InstrId(i)].opcode != Opcode::kFusion) continue;
    for (const CompId id : m.called_by(InstrId(i))) is_fused[id.index] = true;
  }
  for (size_t i = 0; i < m.computations.size(); ++i) {
    if (is_fused[i]) continue;
    Computation& computation = m.computations[CompId(i)];
    computation.schedule = {static_cast<uint32_t>(m.instruction_pool.size()), computation.count};
    for (uint32_t k = 0; k < computation.count; ++k)
      m.instruction_pool.emplace_back(computation.first.index + size_t{k});
  }
}

void ModuleParser::FinishDialect() {
  hlo::Module& m = r_.module();
  hlo::Dialect& d = m.dialect;
  d.long_form = saw_percent_ || saw_program_shape_;
  d.operand_shapes = r_.saw_operand_shapes;
  d.closing_names = saw_closing_name_;
  d.compact_tuples = r_.saw_compact;
  d.single_device = r_.saw_single_device;
  d.raw_config = !r_.saw_quoted_config;
  d.raw_frontend = !r_.saw_quoted_frontend;
  const bool saw_comment = r_.shapes.saw_index_comment() || r_.saw_list_comment;
  d.index_comments = saw_comment || !(r_.shapes.saw_no_index_comment() || r_.saw_long_list);
  if (r_.saw_short_async) return;
  for (size_t i = 0; i < m.instructions.size() && d.async_sugar; ++i) {
    const InstrId id(i);
    if (m.instructions[id].opcode == Opcode::kAsyncStart &&
        !hlo::WrappedInstruction(m, id).is_none()) {
      d.async_sugar = false;
    }
  }
}

bool ModuleParser::ParseComputations() {
  Cursor& c = r_.cursor;
  if (order_.begins.empty()) {
    for (c.Skip(); !c.at_end(); c.Skip()) {
      if (!ParseComputation()) return false;
    }
    return true;
  }
  for (const char* begin : order_.begins) {
    c.p = begin;
    if (!ParseComputation()) return false;
  }
  return true;
}

// Computations that stand after their callers: knowing all names, reads the text again.
Result<hlo::Module> ModuleParser::ParseInCallOrder() {
  const std::optional<std::vector<size_t>> rows = CallOrder(r_, written_.ids);
  if (rows && !order_.begins.empty())
    r_.cursor.FailAt(r_.forward[0].at, 1, "the computations have no order");
  if (!r_.errors.empty()) return std::unexpected(r_.errors.Take());
  Written order;
  for (const size_t row : *rows) order.begins.push_back(written_.begins[row]);
  ModuleParser again(r_.module().source, std::move(order));
  return again.Parse();
}

Result<hlo::Module> ModuleParser::Parse() {
  Cursor& c = r_.cursor;
  Reserve();
  c.Skip();
  if (c.at_end()) {
    c.Fail("the text is empty");
    return std::unexpected(r_.errors.Take());
  }
  bool ok = true;
  const bool has_header = c.TakeWord("HloModule");
  if (has_header) ok = ParseHeader(r_) && ParseStackFrames(r_);
  if (ok && !has_header && LooksLikeInstruction()) {
    ok = ParseLooseInstructions();
  } else {
    ok = ok && ParseComputations();
  }
  hlo::Module& m = r_.module();
  if (r_.errors.empty() && !r_.forward.empty()) return ParseInCallOrder();
  if (r_.errors.empty() && m.computations.empty()) c.Fail("the module has no computations");
  if (!r_.errors.empty()) return std::unexpected(r_.errors.Take());
  if (entry_.is_none()) {
    // The last one written is the entry; those made up after it do not count.
    const auto last = std::ranges::max_element(written_.begins) - written_.begins.begin();
    entry_ = written_.ids[static_cast<size_t>(last)];
  }
  if (!has_header) {
    m.header.name = r_.builder.AddText("module_" + std::string(m.name(entry_)));
  }
  AddSchedules();
  FinishDialect();
  return std::move(r_.builder).Build(entry_);
}

}  // namespace
}  // namespace text

Result<hlo::Module> ParseText(const std::shared_ptr<const Source>& source) {
  return text::ModuleParser(source).Parse();
}

}  // namespace stowplan
