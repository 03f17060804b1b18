// SPDX-License-Identifier: Apache-2.0
#include "text/header.h"

#include "text/values.h"

namespace stowplan::text {
namespace {

using hlo::Header;
using hlo::ShapeId;
using hlo::StackFrames;

bool ParseAliases(Reader& reader, Header& header) {
  Cursor& c = reader.cursor;
  if (!c.Expect('{', "of input_output_alias")) return false;
  while (!c.Take('}')) {
    if (!header.aliases.empty() && !c.Expect(',', "between aliases")) return false;
    hlo::InputOutputAlias& alias = header.aliases.emplace_back();
    alias.kind = hlo::AliasKind::kUnsaid;
    if (!ParseIntList(c, alias.output_index) || !c.Expect(':', "in an alias")) return false;
    if (c.Take('(')) {
      if (!c.Integer(alias.parameter)) return c.FailExpected("a parameter's number");
      if (c.Take(',')) {
        c.Skip();
        if (c.peek() == '{' && !ParseIntList(c, alias.parameter_index)) return false;
        if (c.Take(',')) {
          if (c.TakeWord("may-alias")) {
            alias.kind = hlo::AliasKind::kMay;
          } else if (c.TakeWord("must-alias")) {
            alias.kind = hlo::AliasKind::kMust;
          } else {
            return c.FailExpected("may-alias or must-alias");
          }
        }
      }
      if (!c.Expect(')', "of an alias")) return false;
    } else if (!c.Integer(alias.parameter)) {
      return c.FailExpected("a parameter's number");
    }
  }
  return true;
}

bool ParseDonors(Reader& reader, Header& header) {
  Cursor& c = reader.cursor;
  if (!c.Expect('{', "of buffer_donor")) return false;
  while (!c.Take('}')) {
    if (!header.donors.empty() && !c.Expect(',', "between donors")) return false;
    hlo::BufferDonor& donor = header.donors.emplace_back();
    if (!c.Expect('(', "of a donor")) return false;
    if (!c.Integer(donor.parameter)) return c.FailExpected("a parameter's number");
    if (!c.Expect(',', "in a donor") || !ParseIntList(c, donor.parameter_index) ||
        !c.Expect(')', "of a donor")) {
      return false;
    }
  }
  return true;
}

bool ParseEntryLayout(Reader& reader, Header& header) {
  Cursor& c = reader.cursor;
  hlo::EntryLayout layout;
  if (!c.Expect('{', "of entry_computation_layout") || !c.Expect('(', "of the parameters' shapes"))
    return false;
  while (!c.Take(')')) {
    if (!layout.parameters.empty()) {
      if (!c.Expect(',', "between shapes")) return false;
      const char* behind = c.p;
      c.Skip();
      // One comma without a blank is enough: more blanks than XLA writes may stand anywhere.
      if (c.p == behind) reader.module().dialect.spaced_entry_layout = false;
    }
    if (layout.parameters.emplace_back(reader.shapes.Parse(c)).is_none()) return false;
  }
  if (!c.TakeMark("->")) return c.FailExpected("'->'");
  layout.result = reader.shapes.Parse(c);
  if (layout.result.is_none()) return false;
  header.entry_layout = std::move(layout);
  return c.Expect('}', "of entry_computation_layout");
}

// {true,false}, or a bare flag as the first versions wrote it.
bool ParseFlags(Cursor& c, std::vector<uint8_t>& flags, bool& is_bare) {
  bool flag = false;
  c.Skip();
  if (c.peek() != '{') {
    if (!ParseBool(c, flag)) return false;
    is_bare = true;
    flags.push_back(flag ? 1 : 0);
    return true;
  }
  ++c.p;
  while (!c.Take('}')) {
    if (!flags.empty() && !c.Expect(',', "between flags")) return false;
    if (!ParseBool(c, flag)) return false;
    flags.push_back(flag ? 1 : 0);
  }
  return true;
}

bool ParseUnknownHeaderField(Reader& reader, std::string_view name, const char* begin) {
  Cursor& c = reader.cursor;
  std::string_view value;
  if (!ParseBalanced(c, value)) return false;
  if (value.empty()) return c.FailExpected("a value");
  // Blocks of several lines end with their line.
  const char* last = value.data() + value.size();
  if (std::string_view(begin, static_cast<size_t>(last - begin)).find('\n') !=
          std::string_view::npos &&
      *last == '\n' && name == "origin_recovery_table") {
    ++last;
  }
  reader.WarnOnce(begin, name.size(),
                  "header attribute '" + std::string(name) + "' is not known; kept as written");
  const std::string_view whole(begin, static_cast<size_t>(last - begin));
  reader.module().header.unknown.push_back(reader.builder.ToText(whole));
  return true;
}

bool ParseHeaderAttribute(Reader& reader, std::string_view name, const char* begin) {
  Cursor& c = reader.cursor;
  Header& h = reader.module().header;
  bool is_bare = false;
  if (name == "is_scheduled") return ParseBool(c, h.is_scheduled);
  if (name == "input_output_alias") return ParseAliases(reader, h);
  if (name == "buffer_donor") return ParseDonors(reader, h);
  if (name == "alias_passthrough_params") return ParseBool(c, h.alias_passthrough_params);
  if (name == "entry_computation_layout") return ParseEntryLayout(reader, h);
  if (name == "allow_spmd_sharding_propagation_to_parameters") {
    return ParseFlags(c, h.propagate_to_parameters, is_bare);
  }
  if (name == "allow_spmd_sharding_propagation_to_output") {
    if (!ParseFlags(c, h.propagate_to_output, is_bare)) return false;
    reader.module().dialect.bare_output_propagation = is_bare;
    return true;
  }
  if (name == "replica_count" || name == "num_partitions") {
    int64_t& count = name == "replica_count" ? h.replica_count : h.num_partitions;
    return c.Integer(count) || c.FailExpected("a number");
  }
  if (name == "frontend_attributes") return ParseFrontendAttributes(reader, h.frontend_attributes);
  return ParseUnknownHeaderField(reader, name, begin);
}

// Rows are numbered from 1 without gaps.
bool ParseRowNumber(Cursor& c, size_t expected) {
  int64_t number = 0;
  const char* begin = c.p;
  if (!c.Integer(number)) return c.FailExpected("a row's number");
  if (number != static_cast<int64_t>(expected)) {
    return c.FailAt(
        begin, 1, "expected row " + std::to_string(expected) + ", found " + std::to_string(number));
  }
  return true;
}

bool ParseNames(Reader& reader, std::vector<hlo::Text>& names) {
  Cursor& c = reader.cursor;
  for (c.Skip(); IsClass(c.peek(), kDigitChar); c.Skip()) {
    if (!ParseRowNumber(c, names.size() + 1) || !ParseString(reader, names.emplace_back()))
      return false;
  }
  return true;
}

using Field = std::pair<std::string_view, int32_t*>;
bool ParseRow(Cursor& c, std::span<const Field> fields) {
  if (!c.Expect('{', "of a row")) return false;
  while (!c.Take('}')) {
    c.Skip();
    const char* begin = c.p;
    const std::string_view name = c.NameHere();
    int64_t value = 0;
    if (name.empty()) return c.FailExpected("a field");
    if (!c.Expect('=', "in a row")) return false;
    if (!c.Integer(value)) return c.FailExpected("a number");
    if (value < 0 || value > INT32_MAX) return c.Fail("the number is out of range");
    bool found = false;
    for (const auto& [key, target] : fields) {
      if (key != name) continue;
      *target = static_cast<int32_t>(value);
      found = true;
    }
    if (!found) return c.FailAt(begin, name.size(), "unknown field '" + std::string(name) + "'");
  }
  return true;
}

}  // namespace

bool ParseHeader(Reader& reader) {
  Cursor& c = reader.cursor;
  const std::string_view name = c.Name();
  if (name.empty()) return c.FailExpected("the module's name");
  reader.module().header.name = reader.builder.ToText(name);
  c.Take(':');
  while (c.Take(',')) {
    c.Skip();
    const char* begin = c.p;
    const std::string_view key = c.NameHere();
    if (key.empty()) return c.FailExpected("a header attribute");
    if (!c.Expect('=', "after the attribute's name")) return false;
    if (!ParseHeaderAttribute(reader, key, begin)) return false;
  }
  return true;
}

bool ParseStackFrames(Reader& reader) {
  Cursor& c = reader.cursor;
  StackFrames& frames = reader.module().stack_frames;
  if (c.TakeWord("FileNames") && !ParseNames(reader, frames.files)) return false;
  if (c.TakeWord("FunctionNames") && !ParseNames(reader, frames.functions)) return false;
  if (c.TakeWord("FileLocations")) {
    for (c.Skip(); IsClass(c.peek(), kDigitChar); c.Skip()) {
      if (!ParseRowNumber(c, frames.locations.size() + 1)) return false;
      StackFrames::Location& row = frames.locations.emplace_back();
      const Field fields[] = {{"file_name_id", &row.file}, {"function_name_id", &row.function},
                              {"line", &row.line},         {"end_line", &row.end_line},
                              {"column", &row.column},     {"end_column", &row.end_column}};
      if (!ParseRow(c, fields)) return false;
    }
  }
  if (c.TakeWord("StackFrames")) {
    for (c.Skip(); IsClass(c.peek(), kDigitChar); c.Skip()) {
      if (!ParseRowNumber(c, frames.frames.size() + 1)) return false;
      StackFrames::Frame& row = frames.frames.emplace_back();
      const Field fields[] = {{"file_location_id", &row.location},
                              {"parent_frame_id", &row.parent}};
      if (!ParseRow(c, fields)) return false;
      // Text counts from one.
      if (row.parent != 0) --row.parent;
    }
  }
  return true;
}

}  // namespace stowplan::text
