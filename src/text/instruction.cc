// SPDX-License-Identifier: Apache-2.0
#include "text/instruction.h"

#include <algorithm>
#include <utility>

#include "hlo/async.h"
#include "text/infer_shape.h"
#include "text/values.h"

namespace stowplan::text {

using hlo::Attribute;
using hlo::AttributeKey;
using hlo::CompId;
using hlo::InstrId;
using hlo::Instruction;
using hlo::Opcode;
using hlo::ShapeId;
using hlo::Text;

namespace {

constexpr int kMaxInstructionNesting = 64;

// slice-start is an async-start around a slice: the parts of such a name.
struct ShortAsync {
  Opcode opcode;
  Opcode wrapped;
};
std::optional<ShortAsync> FindShortAsync(std::string_view name) {
  static constexpr std::pair<std::string_view, Opcode> kSuffixes[] = {
      {"-start", Opcode::kAsyncStart},
      {"-update", Opcode::kAsyncUpdate},
      {"-done", Opcode::kAsyncDone}};
  for (const auto& [suffix, opcode] : kSuffixes) {
    if (!name.ends_with(suffix)) continue;
    const std::optional<Opcode> wrapped =
        hlo::FindOpcode(name.substr(0, name.size() - suffix.size()));
    if (wrapped) return ShortAsync{opcode, *wrapped};
  }
  return std::nullopt;
}

bool IsAsyncHead(Opcode opcode) {
  return opcode == Opcode::kAsyncStart || opcode == Opcode::kAsyncUpdate;
}

bool IsOwnOfAsync(AttributeKey key) {
  return key >= AttributeKey::kSharding || key == AttributeKey::kAsyncExecutionThread ||
         key == AttributeKey::kAsyncGroupId;
}

}  // namespace

void InstructionParser::BeginComputation() {
  r_.instruction_names.NewScope();
  elements_.clear();
  made_names_.clear();
  failed_.clear();
  operands_.clear();
}

bool InstructionParser::Parse(bool& is_root, InstrId& id) {
  Cursor& c = r_.cursor;
  operands_.clear();
  is_root = c.TakeWord("ROOT");
  c.Skip();
  const char* begin = c.p;
  std::string_view name;
  if (!(makes_parameters_ && ShapeParser::LooksLikeShape(c))) {
    name = c.Name();
    if (name.empty()) return c.FailExpected("an instruction");
    if (!c.Expect('=', "after the instruction's name")) return false;
  }
  id = ParseBody(name, 0);
  if (id.is_none()) {
    failed_.insert(name);
    return false;
  }
  const auto name_of = [&](uint32_t i) { return r_.module().name(InstrId(size_t{i})); };
  if (!name.empty()) GiveWay(name);
  if (!r_.instruction_names.Add(r_.module().name(id), id.index, name_of)) {
    return c.FailAt(begin, name.size() + static_cast<size_t>(*begin == '%'),
                    "instruction '" + std::string(name) + "' is defined twice in this computation");
  }
  return true;
}

void InstructionParser::Recover(const char* begin) {
  Cursor& c = r_.cursor;
  // The parser may have found out at the beginning of a later line, which then is the next thing to
  // read.
  const char* blanks = c.p;
  while (blanks > begin && IsClass(blanks[-1], kBlankChar) && blanks[-1] != '\n') --blanks;
  if (blanks > begin && blanks[-1] == '\n') return;
  if (c.p == begin && !c.at_end()) ++c.p;
  while (!c.at_end() && *c.p != '\n') ++c.p;
}

InstrId InstructionParser::ParseBody(std::string_view name, int depth) {
  Cursor& c = r_.cursor;
  Instruction head;
  c.Skip();
  if (ShapeParser::LooksLikeShape(c)) {
    head.shape = r_.shapes.Parse(c);
    if (head.shape.is_none()) return {};
    c.Skip();
  }
  const std::string_view opcode_name = c.NameHere();
  if (opcode_name.empty()) {
    c.FailExpected("an opcode");
    return {};
  }
  const std::optional<Opcode> opcode = hlo::FindOpcode(opcode_name);
  const std::optional<ShortAsync> short_async = opcode ? std::nullopt : FindShortAsync(opcode_name);
  head.opcode = short_async ? short_async->opcode : opcode.value_or(Opcode::kUnknown);
  const size_t first = operands_.size();
  if (!ParseOperands(head.opcode, head.shape, depth)) return {};
  // send-done and recv-done are opcodes of their own, but end an async chain all the same.
  if ((head.opcode == Opcode::kSendDone || head.opcode == Opcode::kRecvDone) &&
      operands_.size() == first + 1 &&
      IsAsyncHead(r_.module().instructions[operands_[first]].opcode)) {
    head.opcode = Opcode::kAsyncDone;
  }
  const bool is_short_start = short_async && short_async->opcode == Opcode::kAsyncStart;
  if (!ParseOwnAttributes(short_async ? short_async->wrapped : head.opcode,
                          is_short_start ? AsyncForm::kShort : AsyncForm::kNone, depth))
    return {};
  const std::span<const InstrId> operands = std::span<const InstrId>(operands_).subspan(first);
  if (head.shape.is_none())
    head.shape = InferShape(r_.module(), head.opcode, operands, attributes_.list);
  if (head.shape.is_none()) head.shape = ShapeOfPending(head.opcode);
  if (head.shape.is_none()) head.shape = ShapeOfOuter(head.opcode);
  if (head.shape.is_none()) {
    c.FailAt(opcode_name.data(), opcode_name.size(),
             "the shape of this instruction is missing and cannot be inferred");
    return {};
  }
  if (short_async) r_.saw_short_async = true;
  if (is_short_start && !WrapAsync(short_async->wrapped, head.shape, name)) {
    c.FailAt(opcode_name.data(), opcode_name.size(),
             "an async operation's shape must be ((operands), result, ...)");
    return {};
  }
  if (short_async && head.opcode == Opcode::kAsyncUpdate && operands_.size() > first)
    CompleteWrapper(operands_[first], head.shape);
  if (attributes_.has_metadata) head.metadata = r_.module().metadata.Add(attributes_.metadata);
  head.name = name.empty() ? UniqueName(std::string(opcode_name)) : r_.builder.ToText(name);
  head.is_implicit = depth != 0;
  const InstrId id = r_.builder.AddInstruction(head, operands, attributes_.list);
  operands_.resize(first);
  if (head.opcode == Opcode::kUnknown) {
    r_.module().unknown_opcodes.emplace_back(id, r_.builder.ToText(opcode_name));
    r_.WarnOnce(opcode_name.data(), opcode_name.size(),
                "opcode '" + std::string(opcode_name) + "' is not known");
  }
  return id;
}

// The shape of an instruction that calls a body written in place of a name. The body is read later;
// its ROOT says the shape now.
ShapeId InstructionParser::ShapeOfPending(Opcode opcode) {
  const CompId id = ResultComputation(r_.module(), opcode, attributes_.list);
  const size_t read = r_.module().computations.size();
  if (id.is_none() || id.index < read || id.index - read >= r_.pending.size()) return {};
  const char* body = r_.pending[id.index - read].body;
  if (body == nullptr) return {};
  ErrorList errors(*r_.module().source);  // they are told when the body is read
  Cursor look{body + 1, r_.cursor.end, &errors};
  for (int64_t depth = 1; depth > 0; look.Skip()) {
    if (look.at_end()) return {};
    std::string_view word;
    const char c = look.peek();
    if (IsClass(c, kNameChar)) {
      word = look.NameHere();
      if (word.empty()) ++look.p;  // ->
    } else if (c == '%') {
      look.Name();
    } else if (c == '"') {
      for (++look.p; !look.at_end() && *look.p != '"';) look.p += *look.p == '\\' ? 2 : 1;
      if (!look.at_end()) ++look.p;
    } else {
      if (c == '{' || c == '(' || c == '[') ++depth;
      if (c == '}' || c == ')' || c == ']') --depth;
      ++look.p;
    }
    if (depth != 1 || word != "ROOT" || look.Name().empty() || !look.Take('=')) continue;
    look.Skip();
    if (ShapeParser::LooksLikeShape(look)) return r_.shapes.Parse(look);
    break;
  }
  return ResultShape(body);
}

// Reads a body to learn the shape of its result, and forgets everything else about it.
ShapeId InstructionParser::ResultShape(const char* body) {
  if (r_.body_depth == kMaxInstructionNesting) return {};
  // Each body is read once for this, however many bodies are around it.
  if (!r_.body_shapes) r_.body_shapes = std::make_shared<BodyShapes>();
  const auto known = r_.body_shapes->find(body);
  if (known != r_.body_shapes->end()) return known->second;
  Reader inner(r_.module().source);  // its errors are told when the body is read
  inner.outer = &r_;
  inner.body_depth = r_.body_depth + 1;
  inner.body_shapes = r_.body_shapes;
  inner.cursor.p = body + 1;
  std::swap(inner.module().shapes, r_.module().shapes);
  InstructionParser parser(inner);
  parser.makes_parameters_ = makes_parameters_;
  ShapeId shape;
  bool is_root = false;
  while (!is_root && !inner.cursor.at_end() && !inner.cursor.Take('}')) {
    InstrId id;
    const bool ok = parser.Parse(is_root, id);
    shape = ok ? inner.module().instructions[id].shape : ShapeId();
    if (!ok) break;
  }
  std::swap(inner.module().shapes, r_.module().shapes);
  r_.body_shapes->emplace(body, shape);
  return shape;
}

// The shape of a call from such a body to a computation that stands outside it.
ShapeId InstructionParser::ShapeOfOuter(Opcode opcode) {
  const CompId id = ResultComputation(r_.module(), opcode, attributes_.list);
  if (id.is_none() || id.index < ForwardCall::kFirst) return {};
  const std::string_view name = r_.forward[id.index - ForwardCall::kFirst].name;
  for (const Reader* outer = r_.outer; outer != nullptr; outer = outer->outer) {
    const hlo::Module& m = outer->builder.module();
    const CompId callee = outer->FindComputation(name);
    if (!callee.is_none() && !m.computations[callee].root.is_none())
      return m.instructions[m.computations[callee].root].shape;
  }
  return {};
}

// The attributes of the instruction whose operands were just read, its operand part first.
bool InstructionParser::ParseOwnAttributes(Opcode opcode, AsyncForm form, int depth) {
  const bool has_operand_part = has_operand_part_;
  const Attribute operand_part = operand_part_;
  bool has_attributes = true;
  if (depth != 0) {
    // The comma after a nested instruction belongs to it only if `name=` follows.
    Cursor look = r_.cursor;
    has_attributes = look.Take(',');
    look.Skip();
    has_attributes = has_attributes && IsClass(look.peek(), kFirstChar) &&
                     !look.NameHere().empty() && look.peek() == '=';
  }
  if (!has_attributes) {
    attributes_.list.clear();
    attributes_.has_metadata = false;
  } else if (!ParseAttributes(r_, opcode, form, attributes_)) {
    return false;
  }
  if (has_operand_part) attributes_.list.insert(attributes_.list.begin(), operand_part);
  return true;
}

bool InstructionParser::ParseOperands(Opcode opcode, ShapeId shape, int depth) {
  Cursor& c = r_.cursor;
  if (!c.Expect('(', "after the opcode")) return false;
  has_operand_part_ = false;
  if (opcode == Opcode::kParameter) {
    int64_t number = 0;
    if (!c.Integer(number)) return c.FailExpected("the parameter's number");
    if (number < 0 || number > INT32_MAX) return c.Fail("a parameter's number is out of range");
    operand_part_ = Attribute::OfNumber(AttributeKey::kParameterNumber, number);
    has_operand_part_ = true;
    return c.Expect(')', "after the parameter's number");
  }
  if (opcode == Opcode::kConstant)
    return ParseConstant(shape) && c.Expect(')', "after the literal");
  if (c.Take(')')) return true;
  size_t count = 0;
  bool has_comment = false;
  while (true) {
    if (!ParseOperand(depth)) return false;
    ++count;
    if (c.Take(')')) break;
    if (!c.Expect(',', "or ')' between operands")) return false;
    if (c.SkipSeesIndex()) has_comment = true;
  }
  if (count > 5) (has_comment ? r_.saw_list_comment : r_.saw_long_list) = true;
  has_operand_part_ = false;
  return true;
}

bool InstructionParser::ParseConstant(ShapeId shape) {
  Cursor& c = r_.cursor;
  c.Skip();
  // Texts before 2019 repeat the shape here.
  if (c.peek() != '(' && ShapeParser::LooksLikeShape(c)) {
    if (r_.shapes.ParseBeforeLiteral(c).is_none()) return false;
    r_.module().dialect.constant_shapes = true;
  }
  Text literal;
  if (!ParseLiteral(r_, shape, literal)) return false;
  operand_part_ = Attribute::OfText(AttributeKey::kLiteral, literal);
  has_operand_part_ = true;
  return true;
}

bool InstructionParser::ParseOperand(int depth) {
  Cursor& c = r_.cursor;
  c.Skip();
  if (c.peek() == '%') return ParseOperandName({});
  ShapeId shape;
  const char* begin = c.p;
  while (ShapeParser::LooksLikeShape(c)) {
    shape = r_.shapes.Parse(c);
    if (shape.is_none()) return false;
    c.Skip();
    if (c.peek() != ',' || makes_parameters_) break;
    // As XLA does, pass over a shape that belongs to no operand: add(f32[] %a, f32[], %b).
    r_.WarnOnce(begin, static_cast<size_t>(c.p - begin),
                "a shape that belongs to no operand is left out");
    ++c.p;
    c.Skip();
    begin = c.p;
    shape = {};
  }
  // `opcode(...)` is an instruction inside an operand list; a name is followed by something else.
  const char* q = c.p;
  while (IsClass(*q, kNameChar)) ++q;
  const bool is_nested = c.peek() != '%' && q != c.p && *q == '(';
  if (!is_nested) {
    if (makes_parameters_ && !shape.is_none() && q == c.p && c.peek() != '%') {
      operands_.push_back(MakeParameter({}, shape));
      return true;
    }
    if (!shape.is_none()) r_.saw_operand_shapes = true;
    return ParseOperandName(shape);
  }
  if (depth == kMaxInstructionNesting) return c.Fail("instructions are nested too deep");
  c.p = begin;
  const InstrId id = ParseBody({}, depth + 1);
  if (id.is_none()) return false;
  operands_.push_back(id);
  return true;
}

bool InstructionParser::ParseOperandName(ShapeId shape) {
  Cursor& c = r_.cursor;
  const char* begin = c.p;
  const std::string_view name = c.Name();
  if (name.empty()) return c.FailExpected("an operand");
  InstrId id = r_.FindInstruction(name);
  if (id.is_none()) {
    if (failed_.contains(name)) return false;
    if (makes_parameters_ && !shape.is_none()) {
      id = MakeParameter(name, shape);
    } else {
      return c.FailAt(begin, name.size() + static_cast<size_t>(*begin == '%'),
                      "there is no instruction '" + std::string(name) + "' above this one");
    }
  }
  if (*c.p == '#' && !ParseElementSteps(id)) return false;
  operands_.push_back(id);
  return true;
}

// `%x#1#0`: each step is a get-tuple-element that the text does not show. The same steps name the
// same instruction.
bool InstructionParser::ParseElementSteps(InstrId& id) {
  Cursor& c = r_.cursor;
  r_.saw_compact = true;
  while (*c.p == '#') {
    ++c.p;
    int64_t index = 0;
    if (!c.Integer(index)) return c.FailExpected("a tuple index");
    const hlo::ShapeTable& shapes = r_.module().shapes;
    const ShapeId tuple = r_.module().instructions[id].shape;
    if (!shapes.is_tuple(tuple) || index < 0 ||
        index >= static_cast<int64_t>(shapes.elements(tuple).size())) {
      return c.Fail("'" + std::string(r_.module().name(id)) + "' of shape " +
                    hlo::ToString(shapes, tuple) + " has no element " + std::to_string(index));
    }
    id = MakeElement(id, index);
  }
  return true;
}

InstrId InstructionParser::MakeElement(InstrId tuple, int64_t index) {
  const uint64_t key = (uint64_t{tuple.index} << 32U) | static_cast<uint32_t>(index);
  const auto [row, is_new] = elements_.try_emplace(key);
  if (!is_new) return row->second;
  const hlo::Module& m = r_.module();
  Instruction head;
  head.opcode = Opcode::kGetTupleElement;
  head.shape = m.shapes.elements(m.instructions[tuple].shape)[static_cast<size_t>(index)];
  head.name = UniqueName(std::string(m.name(tuple)) + "_" + std::to_string(index));
  head.is_implicit = true;
  const Attribute attribute = Attribute::OfNumber(AttributeKey::kIndex, index);
  const InstrId id = r_.builder.AddInstruction(head, {&tuple, 1}, {&attribute, 1});
  row->second = id;
  return id;
}

InstrId InstructionParser::MakeParameter(std::string_view name, ShapeId shape) {
  Instruction head;
  head.opcode = Opcode::kParameter;
  head.shape = shape;
  head.name = name.empty() ? UniqueName("param_" + std::to_string(made_parameters_))
                           : r_.builder.ToText(name);
  const Attribute attribute =
      Attribute::OfNumber(AttributeKey::kParameterNumber, made_parameters_++);
  const InstrId id = r_.builder.AddInstruction(head, {}, {&attribute, 1});
  const auto name_of = [&](uint32_t i) { return r_.module().name(InstrId(size_t{i})); };
  r_.instruction_names.Add(r_.module().name(id), id.index, name_of);
  return id;
}

Text InstructionParser::UniqueName(const std::string& wish) {
  std::string name = wish;
  int& next = made_names_[wish].next_suffix;
  for (; next != 0 || !r_.FindInstruction(name).is_none(); ++next) {
    if (next != 0) name = wish + "." + std::to_string(next);
    if (r_.FindInstruction(name).is_none() && made_names_[name].owner.is_none()) break;
  }
  ++next;
  made_names_[name].owner = r_.module().instructions.next_id();
  return r_.builder.AddText(name);
}

// A name that was made up is given another when the text turns out to use it.
void InstructionParser::GiveWay(std::string_view name) {
  if (made_names_.empty()) return;
  const auto row = made_names_.find(std::string(name));
  if (row == made_names_.end() || row->second.owner.is_none()) return;
  const InstrId made = row->second.owner;
  row->second.owner = InstrId();
  const Text other = UniqueName(std::string(name) + ".implicit");
  made_names_[std::string(r_.module().view(other))].owner = made;
  r_.module().instructions[made].name = other;
}

// Splits the attributes read: those of the wrapped operation go to the wrapper's root, and the
// start calls the wrapper.
bool InstructionParser::WrapAsync(Opcode wrapped, ShapeId shape, std::string_view name) {
  const hlo::ShapeTable& shapes = r_.module().shapes;
  if (!shapes.is_tuple(shape) || shapes.elements(shape).size() < 2 ||
      !shapes.is_tuple(shapes.elements(shape)[0])) {
    return false;
  }
  PendingComputation::Wrapper wrapper;
  wrapper.opcode = wrapped;
  wrapper.name = r_.builder.AddText("async_computation." + std::string(name));
  wrapper.result = shapes.elements(shape)[1];
  const std::span<const ShapeId> parameters = shapes.elements(shapes.elements(shape)[0]);
  wrapper.parameters.assign(parameters.begin(), parameters.end());
  std::vector<Attribute> own;
  for (const Attribute& attribute : attributes_.list) {
    (IsOwnOfAsync(attribute.key) ? own : wrapper.attributes).push_back(attribute);
  }
  // Both may have an aliasing: that of the async operation stands last.
  if (!wrapper.attributes.empty() &&
      wrapper.attributes.back().key == AttributeKey::kOutputToOperandAliasing) {
    own.push_back(wrapper.attributes.back());
    wrapper.attributes.pop_back();
  }
  // Both have statistics: the same, or the operation's own after those of what it wraps.
  const auto statistics = std::ranges::find(own, AttributeKey::kStatistics, &Attribute::key);
  if (statistics != own.end()) {
    wrapper.attributes.push_back(*statistics);
    if (std::ranges::count(own, AttributeKey::kStatistics, &Attribute::key) > 1)
      own.erase(statistics);
  }
  own.push_back(Attribute::OfNumber(AttributeKey::kCalls, r_.NextComputation().index));
  attributes_.list = std::move(own);
  r_.pending.push_back({.body = nullptr, .wrapper = std::move(wrapper)});
  return true;
}

// An async-start without operands and result says nothing about what it wraps; an async-update may
// bring them.
void InstructionParser::CompleteWrapper(InstrId chain, ShapeId shape) {
  const hlo::Module& m = r_.module();
  const std::span<const ShapeId> parts = m.shapes.elements(shape);
  if (parts.size() < 2 || !m.shapes.is_tuple(parts[0]) ||
      !IsAsyncHead(m.instructions[chain].opcode))
    return;
  const InstrId start = hlo::AsyncStartOf(m, chain);
  if (start.is_none() || m.called_by(start).size() != 1) return;
  const size_t read = m.computations.size();
  const CompId called = m.called_by(start)[0];
  if (called.index < read || called.index - read >= r_.pending.size()) return;
  PendingComputation& pending = r_.pending[called.index - read];
  const auto is_empty = [&](ShapeId id) {
    return m.shapes.is_tuple(id) && m.shapes.elements(id).empty();
  };
  if (pending.body != nullptr || !pending.wrapper.parameters.empty() ||
      !is_empty(pending.wrapper.result))
    return;
  const std::span<const ShapeId> parameters = m.shapes.elements(parts[0]);
  pending.wrapper.parameters.assign(parameters.begin(), parameters.end());
  pending.wrapper.result = parts[1];
}

void InstructionParser::AddWrapper(const PendingComputation::Wrapper& wrapper) {
  const CompId id = r_.builder.BeginComputation(wrapper.name);
  r_.module().computations[id].is_implicit = true;
  std::vector<InstrId> parameters;
  for (size_t i = 0; i < wrapper.parameters.size(); ++i) {
    Instruction head;
    head.opcode = Opcode::kParameter;
    head.shape = wrapper.parameters[i];
    head.name = r_.builder.AddText("param_" + std::to_string(i));
    head.is_implicit = true;
    const Attribute number =
        Attribute::OfNumber(AttributeKey::kParameterNumber, static_cast<int64_t>(i));
    parameters.push_back(r_.builder.AddInstruction(head, {}, {&number, 1}));
  }
  Instruction head;
  head.opcode = wrapper.opcode;
  head.shape = wrapper.result;
  head.name = r_.builder.AddText(std::string(r_.module().view(wrapper.name)) + ".root");
  head.is_implicit = true;
  r_.builder.EndComputation(r_.builder.AddInstruction(head, parameters, wrapper.attributes));
}

}  // namespace stowplan::text
