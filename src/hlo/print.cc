// SPDX-License-Identifier: Apache-2.0
#include "hlo/print.h"

#include <algorithm>
#include <unordered_set>

#include "hlo/async.h"
#include "hlo/escape.h"
#include "hlo/number.h"
#include "hlo/print_attribute.h"
#include "hlo/print_frames.h"

namespace stowplan::hlo {
namespace {

void AppendIndexComment(size_t i, std::string& out) {
  if (i == 0 || i % 5 != 0) return;
  out += "/*index=";
  AppendNumber(static_cast<int64_t>(i), out);
  out += "*/";
}

// An operand, in the compact form through its get-tuple-elements: gte(gte(x, 2), 0) is `%x#2#0`.
void AppendOperand(const Module& m, InstrId id, const Dialect& dialect, std::string& out) {
  if (dialect.operand_shapes) {
    AppendShape(m.shapes, m.instructions[id].shape, {.index_comments = dialect.index_comments},
                out);
    out += ' ';
  }
  if (!dialect.compact_tuples) {
    AppendName(m.name(id), dialect, out);
    return;
  }
  std::vector<int64_t> steps;
  while (m.instructions[id].opcode == Opcode::kGetTupleElement &&
         m.instructions[id].operands.count == 1 && m.operands_of(id)[0] < id) {
    steps.push_back(m.NumberOr(id, AttributeKey::kIndex, 0));
    id = m.operands_of(id)[0];
  }
  AppendName(m.name(id), dialect, out);
  for (size_t i = steps.size(); i-- > 0;) {
    out += '#';
    AppendNumber(steps[i], out);
  }
}

void AppendOperands(const Module& m, InstrId id, const Dialect& dialect, std::string& out) {
  const Opcode opcode = m.instructions[id].opcode;
  if (opcode == Opcode::kParameter) {
    AppendNumber(m.NumberOr(id, AttributeKey::kParameterNumber, 0), out);
    return;
  }
  if (const Attribute* literal = m.FindAttribute(id, AttributeKey::kLiteral)) {
    if (dialect.constant_shapes) {
      AppendShape(m.shapes, m.instructions[id].shape, {.layouts = false}, out);
      out += ' ';
    }
    out += m.view(literal->text());
    return;
  }
  const std::span<const InstrId> operands = m.operands_of(id);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i != 0) out += ", ";
    if (dialect.index_comments) AppendIndexComment(i, out);
    AppendOperand(m, operands[i], dialect, out);
  }
}

// The operand part is printed between the parentheses.
bool IsOperandPart(AttributeKey key) {
  return key == AttributeKey::kParameterNumber || key == AttributeKey::kLiteral;
}

bool IsCommon(AttributeKey key) { return key >= AttributeKey::kSharding; }

// Own attributes of `id`, each with a comma in front.
void AppendOwnAttributes(const Module& m, InstrId id, const Dialect& dialect, std::string& out) {
  for (const Attribute& attribute : m.attributes_of(id)) {
    if (IsCommon(attribute.key)) break;
    if (IsOperandPart(attribute.key)) continue;
    out += ", ";
    AppendAttribute(m, attribute, dialect, out);
  }
}

// The attributes of an async operation in its short form: those of the wrapped instruction stand
// between its own.
void AppendShortAsync(const Module& m, InstrId id, InstrId wrapped, const Dialect& dialect,
                      std::string& out) {
  const auto own = [&](AttributeKey key) {
    const Attribute* attribute = m.FindAttribute(id, key);
    if (attribute == nullptr) return;
    out += ", ";
    AppendAttribute(m, *attribute, dialect, out);
  };
  own(AttributeKey::kAsyncGroupId);
  own(AttributeKey::kAsyncExecutionThread);
  if (m.instructions[id].opcode == Opcode::kAsyncStart) {
    AppendOwnAttributes(m, wrapped, dialect, out);
    for (const Attribute& attribute : m.attributes_of(wrapped)) {
      if (attribute.key < AttributeKey::kSharding || attribute.key > AttributeKey::kStatistics)
        continue;
      // Its own comes later. XLA writes statistics twice.
      if (attribute.key != AttributeKey::kStatistics &&
          m.FindAttribute(id, attribute.key) != nullptr)
        continue;
      out += ", ";
      AppendAttribute(m, attribute, dialect, out);
    }
  }
  own(AttributeKey::kOutputToOperandAliasing);
}

// `frames` renumbers stack frames; nullptr leaves them as they are.
void AppendCommonAttributes(const Module& m, InstrId id, const Dialect& dialect,
                            const PrintedFrames* frames, std::string& out) {
  const Metadata* metadata = m.metadata_of(id);
  Metadata renumbered;
  if (metadata != nullptr && frames != nullptr && metadata->stack_frame != 0) {
    renumbered = *metadata;
    const auto frame = static_cast<size_t>(metadata->stack_frame);
    renumbered.stack_frame =
        metadata->stack_frame > 0 && frame < frames->numbers.size() ? frames->numbers[frame] : 0;
    metadata = &renumbered;
  }
  if (metadata != nullptr && !HasPrintedMetadata(*metadata)) metadata = nullptr;
  const auto append_metadata = [&] {
    if (metadata == nullptr) return;
    out += ", ";
    AppendMetadata(m, *metadata, dialect, out);
    metadata = nullptr;
  };
  for (const Attribute& attribute : m.attributes_of(id)) {
    if (!IsCommon(attribute.key)) continue;
    if (attribute.key >= AttributeKey::kBackendConfig) append_metadata();
    out += ", ";
    AppendAttribute(m, attribute, dialect, out);
  }
  append_metadata();
}

std::string_view AsyncSuffix(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAsyncStart:
      return "-start";
    case Opcode::kAsyncUpdate:
      return "-update";
    default:
      return "-done";
  }
}

bool IsAsync(Opcode opcode) {
  return opcode == Opcode::kAsyncStart || opcode == Opcode::kAsyncUpdate ||
         opcode == Opcode::kAsyncDone;
}

void AppendHeader(const Module& m, const Dialect& dialect, std::string& out) {
  const Header& h = m.header;
  out.append("HloModule ").append(m.view(h.name));
  if (h.is_scheduled) out += ", is_scheduled=true";
  if (!h.aliases.empty()) {
    out += ", input_output_alias={ ";
    for (size_t i = 0; i < h.aliases.size(); ++i) {
      const InputOutputAlias& alias = h.aliases[i];
      if (i != 0) out += ", ";
      AppendIndex(alias.output_index, out);
      out += ": (";
      AppendNumber(alias.parameter, out);
      out += ", ";
      AppendIndex(alias.parameter_index, out);
      if (alias.kind == AliasKind::kMay) out += ", may-alias";
      if (alias.kind == AliasKind::kMust) out += ", must-alias";
      out += ')';
    }
    out += " }";
  }
  if (!h.donors.empty() && dialect.buffer_donors) {
    out += ", buffer_donor={ ";
    for (size_t i = 0; i < h.donors.size(); ++i) {
      out += i != 0 ? ", (" : "(";
      AppendNumber(h.donors[i].parameter, out);
      out += ", ";
      AppendIndex(h.donors[i].parameter_index, out);
      out += ')';
    }
    out += " }";
  }
  if (h.alias_passthrough_params) out += ", alias_passthrough_params=true";
  if (h.entry_layout && dialect.entry_layout) {
    const ShapeStyle style{.index_comments = dialect.index_comments};
    out += ", entry_computation_layout={(";
    for (size_t i = 0; i < h.entry_layout->parameters.size(); ++i) {
      if (i != 0) out += dialect.spaced_entry_layout ? ", " : ",";
      if (dialect.index_comments && dialect.spaced_entry_layout) AppendIndexComment(i, out);
      AppendShape(m.shapes, h.entry_layout->parameters[i], style, out);
    }
    out += ")->";
    AppendShape(m.shapes, h.entry_layout->result, style, out);
    out += '}';
  }
}

void AppendBools(std::string_view name, const std::vector<uint8_t>& flags, std::string& out) {
  if (flags.empty()) return;
  out.append(", ").append(name).append("={");
  for (size_t i = 0; i < flags.size(); ++i) {
    if (i != 0) out += ',';
    out += flags[i] != 0 ? "true" : "false";
  }
  out += '}';
}

void AppendHeaderRest(const Module& m, const Dialect& dialect, std::string& out) {
  const Header& h = m.header;
  AppendBools("allow_spmd_sharding_propagation_to_parameters", h.propagate_to_parameters, out);
  if (dialect.bare_output_propagation && h.propagate_to_output.size() == 1) {
    out += ", allow_spmd_sharding_propagation_to_output=";
    out += h.propagate_to_output[0] != 0 ? "true" : "false";
  } else {
    AppendBools("allow_spmd_sharding_propagation_to_output", h.propagate_to_output, out);
  }
  if (dialect.replica_counts && h.replica_count != 1) {
    out += ", replica_count=";
    AppendNumber(h.replica_count, out);
  }
  if (dialect.replica_counts && h.num_partitions != 1) {
    out += ", num_partitions=";
    AppendNumber(h.num_partitions, out);
  }
  if (h.frontend_attributes.count != 0) {
    out += ", frontend_attributes=";
    AppendFrontendAttributes(m, h.frontend_attributes, dialect, out);
  }
  for (const Text unknown : h.unknown) {
    const std::string_view text = m.view(unknown);
    // XLA begins a new line for this one.
    out.append(text.starts_with("debug_attributes=") ? ",\n" : ", ").append(text);
  }
}

void AppendStackFrames(const Module& m, const StackFrames& frames, std::string& out) {
  const auto names = [&](std::string_view title, const std::vector<Text>& rows) {
    out.append("\n").append(title).append("\n");
    for (size_t i = 0; i < rows.size(); ++i) {
      AppendNumber(static_cast<int64_t>(i + 1), out);
      out += " \"";
      AppendEscaped(m.view(rows[i]), out);
      out += "\"\n";
    }
  };
  out += "\n";
  names("FileNames", frames.files);
  names("FunctionNames", frames.functions);
  out += "\nFileLocations\n";
  const auto field = [&](std::string_view name, int64_t value) {
    out += name;
    AppendNumber(value, out);
  };
  for (size_t i = 0; i < frames.locations.size(); ++i) {
    const StackFrames::Location& location = frames.locations[i];
    AppendNumber(static_cast<int64_t>(i + 1), out);
    field(" {file_name_id=", location.file);
    field(" function_name_id=", location.function);
    field(" line=", location.line);
    field(" end_line=", location.end_line);
    field(" column=", location.column);
    field(" end_column=", location.end_column);
    out += "}\n";
  }
  out += "\nStackFrames\n";
  for (size_t i = 0; i < frames.frames.size(); ++i) {
    AppendNumber(static_cast<int64_t>(i + 1), out);
    field(" {file_location_id=", frames.frames[i].location);
    field(" parent_frame_id=", int64_t{frames.frames[i].parent} + 1);
    out += "}\n";
  }
}

void AppendProgramShape(const Module& m, CompId id, const Dialect& dialect, std::string& out) {
  const ShapeStyle style{.layouts = false, .index_comments = dialect.index_comments};
  out += '(';
  const std::span<const InstrId> parameters = m.parameters_of(id);
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i != 0) out += ", ";
    out.append(m.name(parameters[i])).append(": ");
    AppendShape(m.shapes, m.instructions[parameters[i]].shape, style, out);
  }
  out += ") -> ";
  if (!m.computations[id].root.is_none()) {
    AppendShape(m.shapes, m.instructions[m.computations[id].root].shape, style, out);
  }
  out += ' ';
}

// Collects output and hands it on in pieces.
class Writer {
 public:
  explicit Writer(const Sink& sink) : sink_(sink) { buffer.reserve(kPiece + kPiece / 4); }
  // False once the sink has had enough.
  bool Flush(bool all = false) {
    if (!is_open_ || (!all && buffer.size() < kPiece)) return is_open_;
    is_open_ = sink_(buffer);
    buffer.clear();
    return is_open_;
  }
  std::string buffer;

 private:
  static constexpr size_t kPiece = 1 << 16;
  const Sink& sink_;
  bool is_open_ = true;
};

// `hidden` has the wrappers that are not printed; without it, all that XLA hides are.
void AppendInstructionWith(const Module& m, InstrId id, const Dialect& dialect,
                           const PrintedFrames* frames, const std::vector<bool>* hidden,
                           std::string& out) {
  const Instruction& instr = m.instructions[id];
  AppendName(m.name(id), dialect, out);
  out += " = ";
  AppendShape(m.shapes, instr.shape, {.index_comments = dialect.index_comments}, out);
  out += ' ';
  InstrId wrapped;
  if (dialect.async_sugar && IsAsync(instr.opcode)) wrapped = WrappedInstruction(m, id);
  if (!wrapped.is_none() && hidden != nullptr && !(*hidden)[m.instructions[wrapped].parent.index])
    wrapped = {};
  if (wrapped.is_none()) {
    out += m.opcode_name(id);
  } else {
    out.append(m.opcode_name(wrapped)).append(AsyncSuffix(instr.opcode));
  }
  out += '(';
  AppendOperands(m, id, dialect, out);
  out += ')';
  if (wrapped.is_none()) {
    AppendOwnAttributes(m, id, dialect, out);
  } else {
    AppendShortAsync(m, id, wrapped, dialect, out);
  }
  AppendCommonAttributes(m, id, dialect, frames, out);
}

bool PrintComputation(const Module& m, CompId id, const Dialect& dialect,
                      const PrintedFrames* frames, const std::vector<bool>& hidden,
                      Writer& writer) {
  std::string& out = writer.buffer;
  const Computation& computation = m.computations[id];
  if (id == m.entry) out += "ENTRY ";
  AppendName(m.name(id), dialect, out);
  out += ' ';
  if (dialect.long_form) AppendProgramShape(m, id, dialect, out);
  out += "{\n";
  // A get-tuple-element that a control edge names must have its line.
  std::vector<InstrId> named;
  for (uint32_t i = 0; dialect.compact_tuples && i < computation.count; ++i) {
    const InstrId instr(computation.first.index + size_t{i});
    if (const Attribute* edges = m.FindAttribute(instr, AttributeKey::kControlPredecessors)) {
      const std::span<const InstrId> rows = Module::Rows(m.instruction_pool, edges->rows());
      named.insert(named.end(), rows.begin(), rows.end());
    }
  }
  std::ranges::sort(named);
  const auto print = [&](InstrId instr) {
    const bool is_root = instr == computation.root;
    const bool is_hidden = m.instructions[instr].opcode == Opcode::kGetTupleElement && !is_root &&
                           !std::ranges::binary_search(named, instr);
    if (dialect.compact_tuples && is_hidden) return true;
    out += is_root ? "  ROOT " : "  ";
    AppendInstructionWith(m, instr, dialect, frames, &hidden, out);
    out += '\n';
    return writer.Flush();
  };
  if (computation.is_scheduled()) {
    for (const InstrId instr : m.schedule_of(id)) {
      if (!print(instr)) return false;
    }
  } else {
    for (uint32_t i = 0; i < computation.count; ++i) {
      if (!print(InstrId(computation.first.index + i))) return false;
    }
  }
  out += '}';
  if (computation.execution_thread.size != 0) {
    out += ", execution_thread=\"";
    AppendEscaped(m.view(computation.execution_thread), out);
    out += '"';
  }
  if (dialect.closing_names && computation.count > 5) out.append(" // ").append(m.name(id));
  out += "\n\n";
  return writer.Flush();
}

// Whether the shape of an async-start or -update, ((operands), result, contexts), says what the
// wrapped instruction works on, so that a reader of the short form can make the wrapper again. Work
// for a TPU's SparseCore gets its operands only by the update.
bool ShowsWrapper(const Module& m, InstrId id, InstrId wrapped) {
  const auto is_empty = [&](ShapeId shape) {
    return m.shapes.is_tuple(shape) && m.shapes.elements(shape).empty();
  };
  const std::span<const ShapeId> parts = m.shapes.elements(m.instructions[id].shape);
  if (parts.size() < 2 || !m.shapes.is_tuple(parts[0])) return false;
  const std::span<const InstrId> parameters = m.parameters_of(m.instructions[wrapped].parent);
  return m.shapes.elements(parts[0]).size() == parameters.size() &&
         is_empty(parts[1]) == is_empty(m.instructions[wrapped].shape) &&
         std::ranges::equal(m.operands_of(wrapped), parameters);
}

// Wrappers of async operations in the short form are not printed, unless they would be lost.
std::vector<bool> HiddenComputations(const Module& m, const Dialect& dialect) {
  std::vector<bool> hidden(m.computations.size(), false);
  if (!dialect.async_sugar) return hidden;
  std::vector<InstrId> starts;
  std::unordered_set<uint32_t> shown;  // starts whose chain shows the wrapper
  for (size_t i = 0; i < m.instructions.size(); ++i) {
    const InstrId id(i);
    const Opcode opcode = m.instructions[id].opcode;
    if (opcode != Opcode::kAsyncStart && opcode != Opcode::kAsyncUpdate) continue;
    const InstrId wrapped = WrappedInstruction(m, id);
    if (wrapped.is_none()) continue;
    if (opcode == Opcode::kAsyncStart) {
      starts.push_back(id);
      hidden[m.instructions[wrapped].parent.index] = true;
    }
    if (ShowsWrapper(m, id, wrapped)) shown.insert(AsyncStartOf(m, id).index);
  }
  for (const InstrId start : starts) {
    if (!shown.contains(start.index)) hidden[m.called_by(start)[0].index] = false;
  }
  return hidden;
}

}  // namespace

void AppendInstruction(const Module& m, InstrId id, const Dialect& dialect, std::string& out) {
  AppendInstructionWith(m, id, dialect, /*frames=*/nullptr, /*hidden=*/nullptr, out);
}

void PrintModule(const Module& m, const Dialect& dialect, const Sink& sink) {
  Writer writer(sink);
  AppendHeader(m, dialect, writer.buffer);
  AppendHeaderRest(m, dialect, writer.buffer);
  PrintedFrames frames;
  const bool renumbers = m.format == Format::kProto && dialect.stack_frames;
  if (renumbers) frames = RenumberFrames(m);
  const StackFrames& table = renumbers ? frames.table : m.stack_frames;
  if (dialect.stack_frames && !table.empty()) AppendStackFrames(m, table, writer.buffer);
  writer.buffer += "\n\n";
  const std::vector<bool> hidden = HiddenComputations(m, dialect);
  for (const CompId id : PrintOrder(m)) {
    if (!hidden[id.index] &&
        !PrintComputation(m, id, dialect, renumbers ? &frames : nullptr, hidden, writer))
      return;
  }
  writer.Flush(/*all=*/true);
}

std::string ToString(const Module& module, const Dialect& dialect) {
  std::string out;
  PrintModule(module, dialect, [&](std::string_view piece) {
    out += piece;
    return true;
  });
  return out;
}

std::string ToString(const Module& module) { return ToString(module, module.dialect); }

}  // namespace stowplan::hlo
