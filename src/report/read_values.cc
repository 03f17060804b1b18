// SPDX-License-Identifier: Apache-2.0
// -buffer-assignment-values.txt: for each value where it is, who uses it, and the instruction that
// defines it.
#include "report/reader.h"

namespace stowplan::report {
namespace {

// Where a value begins in the text of the instruction before it: in 2024 XLA forgot the newline
// between them. The header is the last `<number name...>` of the line.
size_t FindHead(std::string_view line, ReportBuilder& builder) {
  if (!line.ends_with('>')) return std::string_view::npos;
  const size_t at = line.rfind('<');
  if (at == std::string_view::npos) return std::string_view::npos;
  Piece piece(line.substr(at));
  Value head;
  const size_t ints = builder.report.ints.size();
  const bool is_head = builder.TakeValueHead(piece, head) && piece.empty();
  builder.report.ints.resize(ints);
  return is_head ? at : std::string_view::npos;
}

void ReadPositions(Lines& lines, ReportBuilder& builder, Value& value) {
  Report& report = builder.report;
  value.positions.begin = static_cast<uint32_t>(report.positions.size());
  for (lines.Next(); lines.line().starts_with("  ") && !lines.at_end(); lines.Next()) {
    Piece piece(lines.line());
    piece.Take("  ");
    Position position;
    if (!piece.TakeName(position.instruction) ||
        (piece.Take(" ") && !piece.TakeIndex(report.ints, position.index)) || !piece.empty()) {
      lines.Fail("expected a position: `  name` or `  name {0}`", piece.rest());
      continue;
    }
    report.positions.push_back(position);
  }
  value.positions.count = static_cast<uint32_t>(report.positions.size()) - value.positions.begin;
}

void ReadUses(Lines& lines, ReportBuilder& builder, Value& value) {
  Report& report = builder.report;
  value.has_uses = true;
  value.uses.begin = static_cast<uint32_t>(report.uses.size());
  for (lines.Next(); lines.line().starts_with("  ") && !lines.at_end(); lines.Next()) {
    if (lines.line() == "  (none)") {
      builder.saw_none_uses = true;
      continue;
    }
    Piece piece(lines.line());
    piece.Take("  ");
    Use use;
    if (!piece.TakeName(use.instruction) || !piece.Take(", operand ") ||
        !piece.TakeNumber(use.operand) ||
        (piece.Take(" ") && !piece.TakeIndex(report.ints, use.index)) || !piece.empty()) {
      lines.Fail("expected a use: `  name, operand 0` or `  name, operand 0 {1}`", piece.rest());
      continue;
    }
    report.uses.push_back(use);
  }
  value.uses.count = static_cast<uint32_t>(report.uses.size()) - value.uses.begin;
  builder.saw_empty_uses = builder.saw_empty_uses || value.uses.count == 0;
}

// Whether the text so far leaves a bracket or a string open: then it goes on in the next line.
// Attributes of kernels may have newlines in them, and XLA prints them as they are.
struct Brackets {
  int64_t depth = 0;
  bool is_quoted = false;

  void Read(std::string_view line) {
    for (size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (is_quoted && c == '\\') {
        ++i;
      } else if (c == '"') {
        is_quoted = !is_quoted;
      } else if (!is_quoted) {
        depth += c == '{' || c == '(' ? 1 : 0;
        depth -= c == '}' || c == ')' ? 1 : 0;
      }
    }
  }
  [[nodiscard]] bool is_open() const { return is_quoted || depth > 0; }
};

// Joins the lines of an instruction's text; ends after the last, or before a head that is glued to
// it.
std::string_view ReadText(Lines& lines, ReportBuilder& builder, std::string_view text) {
  Brackets brackets;
  for (std::string_view line = text;; line = lines.line()) {
    const auto end_at = [&](std::string_view last) {
      text = {text.data(), static_cast<size_t>(last.data() + last.size() - text.data())};
    };
    end_at(line);
    if (!lines.has_newline()) builder.report.dialect.from_instruction = FromInstruction::kGlued;
    lines.Next();
    if (lines.at_end()) return text;
    const size_t head = FindHead(lines.line(), builder);
    brackets.Read(line);
    if (head == 0 || !brackets.is_open()) return text;
    if (head == std::string_view::npos) continue;
    end_at(lines.line().substr(0, head));
    builder.report.dialect.from_instruction = FromInstruction::kGlued;
    lines.SkipTo(text.data() + text.size());
    return text;
  }
}

// The text after `from instruction:`, and whether the next value follows on the same line.
void ReadInstruction(Lines& lines, ReportBuilder& builder, Value& value) {
  Piece piece(lines.line());
  piece.Take(" from instruction:");
  const bool is_tight = !piece.Take(" ");
  std::string_view text = piece.rest();
  size_t glued = FindHead(text, builder);
  if (glued == 0) glued = std::string_view::npos;  // there is no text before it
  ReportDialect& dialect = builder.report.dialect;
  if (glued != std::string_view::npos) {
    text = text.substr(0, glued);
    dialect.from_instruction = FromInstruction::kGlued;
  } else if (dialect.from_instruction != FromInstruction::kGlued) {
    dialect.from_instruction = is_tight ? FromInstruction::kTight : FromInstruction::kLine;
  }
  if (glued == std::string_view::npos) {
    text = ReadText(lines, builder, text);
  } else {
    lines.SkipTo(text.data() + text.size());
  }
  value.instruction_text = text;
}

void ReadValue(Lines& lines, ReportBuilder& builder) {
  Piece piece(lines.line());
  Value head;
  if (!builder.TakeValueHead(piece, head) || !piece.empty()) {
    lines.Fail("expected a value: `<12 name @0>`", piece.rest());
    lines.Next();
    return;
  }
  Report& report = builder.report;
  const ValueId id = builder.FindOrAddByNumber(head);
  Value value = report.values[id];
  if (value.is_listed) lines.Fail("this value is already listed");
  value.is_listed = true;
  lines.Next();
  if (lines.line() != " positions:") {
    lines.Fail("expected ` positions:`");
  } else {
    ReadPositions(lines, builder, value);
  }
  if (lines.line() == " uses:") {
    ReadUses(lines, builder, value);
  } else if (lines.line() == " uses are not initialized yet.") {
    lines.Next();
  } else {
    lines.Fail("expected ` uses:`");
  }
  if (lines.line().starts_with(" from instruction:")) {
    ReadInstruction(lines, builder, value);
  } else if (!lines.at_end() && !lines.line().empty() && lines.line()[0] != '<') {
    lines.Fail("expected ` from instruction:` or the next value");
  }
  report.values[id] = value;
  report.value_list.push_back(id);
}

}  // namespace

// From the line `Total bytes used: ...` on.
void ReadValueListSection(Lines& lines, ReportBuilder& builder) {
  Report& report = builder.report;
  ReportDialect& dialect = report.dialect;
  report.has_value_list = true;
  dialect.from_instruction = FromInstruction::kAbsent;
  dialect.human_total = lines.line().ends_with(')');
  // The total itself follows from the allocations.
  Piece total(lines.line());
  int64_t bytes = 0;
  if (!total.Take("Total bytes used: ") || !total.TakeNumber(bytes)) {
    lines.Fail("expected `Total bytes used: N`");
  }
  report.said_total = bytes;
  lines.Next();
  if (!lines.line().empty()) lines.Fail("expected an empty line");
  lines.Next();
  if (lines.line() != "Used values:") {
    lines.Fail("expected `Used values:`");
    return;
  }
  lines.Next();
  while (!lines.at_end() && !lines.is_full()) {
    if (lines.line().empty() || lines.line()[0] != '<') break;
    ReadValue(lines, builder);
  }
  dialect.none_uses = builder.saw_none_uses || !builder.saw_empty_uses;
}

}  // namespace stowplan::report
