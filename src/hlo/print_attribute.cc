// SPDX-License-Identifier: Apache-2.0
#include "hlo/print_attribute.h"

#include <algorithm>

#include "hlo/escape.h"
#include "hlo/number.h"

namespace stowplan::hlo {
namespace {

void AppendQuoted(std::string_view text, std::string& out) {
  out += '"';
  AppendEscaped(text, out);
  out += '"';
}

// Parts of a window that are XLA's default in all dimensions are not printed.
void AppendWindow(std::span<const int64_t> ints, std::string& out) {
  const size_t dims = ints.size() / 7;
  const auto at = [&](size_t dim, size_t part) { return ints[dim * 7 + part]; };
  const auto append = [&](std::string_view name, auto is_said, auto value) {
    bool said = false;
    for (size_t d = 0; d < dims; ++d) said = said || is_said(d);
    if (!said) return;
    out += name;
    for (size_t d = 0; d < dims; ++d) {
      if (d != 0) out += 'x';
      value(d);
    }
  };
  const auto plain = [&](size_t part) {
    return [&, part](size_t d) { AppendNumber(at(d, part), out); };
  };
  const auto differs = [&](size_t part, int64_t from) {
    return [&, part, from](size_t d) { return at(d, part) != from; };
  };
  append("size=", [](size_t) { return true; }, plain(0));
  append(" stride=", differs(1, 1), plain(1));
  append(
      " pad=", [&](size_t d) { return at(d, 2) != 0 || at(d, 3) != 0; },
      [&](size_t d) {
        AppendNumber(at(d, 2), out);
        out += '_';
        AppendNumber(at(d, 3), out);
      });
  append(" lhs_dilate=", differs(5, 1), plain(5));
  append(" rhs_dilate=", differs(4, 1), plain(4));
  append(" rhs_reversal=", differs(6, 0), plain(6));
}

void AppendSlices(std::span<const int64_t> ints, std::string& out) {
  bool strides = false;
  for (size_t i = 0; i < ints.size(); i += 3) strides = strides || ints[i + 2] != 1;
  for (size_t i = 0; i < ints.size(); i += 3) {
    out += i != 0 ? ", [" : "[";
    AppendNumber(ints[i], out);
    out += ':';
    AppendNumber(ints[i + 1], out);
    if (strides) {
      out += ':';
      AppendNumber(ints[i + 2], out);
    }
    out += ']';
  }
}

void AppendPadding(std::span<const int64_t> ints, std::string& out) {
  bool interior = false;
  for (size_t i = 0; i < ints.size(); i += 3) interior = interior || ints[i + 2] != 0;
  for (size_t i = 0; i < ints.size(); i += 3) {
    if (i != 0) out += 'x';
    AppendNumber(ints[i], out);
    out += '_';
    AppendNumber(ints[i + 1], out);
    if (interior) {
      out += '_';
      AppendNumber(ints[i + 2], out);
    }
  }
}

void AppendIntLists(std::span<const int64_t> ints, std::string& out) {
  for (size_t i = 0; i < ints.size();) {
    const auto length = static_cast<size_t>(ints[i]);
    out += i != 0 ? ",{" : "{";
    AppendNumbers(ints.subspan(i + 1, length), ",", out);
    out += '}';
    i += 1 + length;
  }
}

void AppendAliasing(std::span<const int64_t> ints, std::string& out) {
  for (size_t i = 0; i < ints.size();) {
    if (i != 0) out += ", ";
    const auto output_length = static_cast<size_t>(ints[i]);
    AppendIndex(ints.subspan(i + 1, output_length), out);
    i += 1 + output_length;
    out += ": (";
    AppendNumber(ints[i], out);
    out += ", ";
    const auto operand_length = static_cast<size_t>(ints[i + 1]);
    AppendIndex(ints.subspan(i + 2, operand_length), out);
    out += ')';
    i += 2 + operand_length;
  }
}

// Elements in braces; `append` writes one.
template <class T, class Append>
void AppendList(std::span<const T> rows, std::string_view separator, std::string& out,
                Append append) {
  out += '{';
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i != 0) out += separator;
    append(rows[i]);
  }
  out += '}';
}

void AppendConfig(std::string_view text, bool raw, std::string& out) {
  if (raw && IsJsonDictionary(text)) {
    out += text;
  } else {
    AppendQuoted(text, out);
  }
}

// Modules keep the older word for a mesh of one device.
void AppendShardingText(std::string_view text, const Dialect& dialect, std::string& out) {
  constexpr std::string_view kOld = "{maximal_mesh[";
  while (dialect.single_device) {
    const size_t at = text.find(kOld);
    if (at == std::string_view::npos) break;
    out.append(text.substr(0, at)).append("{single_device[");
    text.remove_prefix(at + kOld.size());
  }
  out += text;
}

void AppendAttributeRows(const Module& m, const Attribute& attribute, const Dialect& dialect,
                         std::string& out) {
  const Range rows = attribute.rows();
  const auto ints = [&] { return Module::Rows(m.ints, rows); };
  switch (KindOf(attribute.key)) {
    case ValueKind::kInts:
      AppendIndex(ints(), out);
      break;
    case ValueKind::kBools:
      AppendList(ints(), ",", out, [&](int64_t b) { out += b != 0 ? "true" : "false"; });
      break;
    case ValueKind::kWords:
      AppendList(Module::Rows(m.texts, rows), ",", out, [&](Text t) { out += m.view(t); });
      break;
    case ValueKind::kIntLists:
      out += '{';
      AppendIntLists(ints(), out);
      out += '}';
      break;
    case ValueKind::kComputations:
      AppendList(Module::Rows(m.computation_pool, rows), ", ", out,
                 [&](CompId c) { AppendName(m.name(c), dialect, out); });
      break;
    case ValueKind::kInstructions:
      AppendList(Module::Rows(m.instruction_pool, rows), ", ", out,
                 [&](InstrId i) { AppendName(m.name(i), dialect, out); });
      break;
    case ValueKind::kShapes:
      AppendList(Module::Rows(m.shape_pool, rows), ", ", out, [&](ShapeId s) {
        AppendShape(m.shapes, s, {.index_comments = dialect.index_comments}, out);
      });
      break;
    case ValueKind::kWindow:
      out += '{';
      AppendWindow(ints(), out);
      out += '}';
      break;
    case ValueKind::kSlices:
      out += '{';
      AppendSlices(ints(), out);
      out += '}';
      break;
    case ValueKind::kPadding:
      AppendPadding(ints(), out);
      break;
    case ValueKind::kAliasing:
      out += '{';
      AppendAliasing(ints(), out);
      out += '}';
      break;
    case ValueKind::kFrontendAttributes:
      AppendFrontendAttributes(m, rows, dialect, out);
      break;
    default:
      break;
  }
}

}  // namespace

void AppendIndex(std::span<const int64_t> index, std::string& out) {
  out += '{';
  AppendNumbers(index, ",", out);
  out += '}';
}

void AppendName(std::string_view name, const Dialect& dialect, std::string& out) {
  if (dialect.long_form) out += '%';
  out += name;
}

void AppendFrontendAttributes(const Module& m, Range rows, const Dialect& dialect,
                              std::string& out) {
  const std::span<const Text> texts = Module::Rows(m.texts, rows);
  out += '{';
  for (size_t i = 0; i + 1 < texts.size(); i += 2) {
    if (i != 0) out += ',';
    out += m.view(texts[i]);
    out += '=';
    AppendConfig(m.view(texts[i + 1]), dialect.raw_frontend, out);
  }
  out += '}';
}

void AppendAttribute(const Module& m, const Attribute& attribute, const Dialect& dialect,
                     std::string& out) {
  if (attribute.key == AttributeKey::kUnknown) {
    out += m.view(attribute.text());
    return;
  }
  out += Name(attribute.key);
  out += '=';
  switch (KindOf(attribute.key)) {
    case ValueKind::kInt:
      AppendNumber(attribute.number(), out);
      break;
    case ValueKind::kBool:
      out += attribute.number() != 0 ? "true" : "false";
      break;
    case ValueKind::kString:
      AppendQuoted(m.view(attribute.text()), out);
      break;
    case ValueKind::kConfig:
      AppendConfig(m.view(attribute.text()), dialect.raw_config, out);
      break;
    case ValueKind::kComputation:
      AppendName(m.name(CompId(static_cast<size_t>(attribute.number()))), dialect, out);
      break;
    case ValueKind::kShape:
      AppendShape(m.shapes, ShapeId(static_cast<size_t>(attribute.number())),
                  {.index_comments = dialect.index_comments}, out);
      break;
    case ValueKind::kSharding:
      AppendShardingText(m.view(attribute.text()), dialect, out);
      break;
    case ValueKind::kWord:
    case ValueKind::kDeviceGroups:
    case ValueKind::kDomain:
    case ValueKind::kOrigin:
    case ValueKind::kTree:
    case ValueKind::kLiteral:
    case ValueKind::kLiteralAttribute:
    case ValueKind::kVerbatim:
      out += m.view(attribute.text());
      break;
    default:
      AppendAttributeRows(m, attribute, dialect, out);
  }
}

bool HasPrintedMetadata(const Metadata& metadata) {
  return metadata.op_type.size != 0 || metadata.op_name.size != 0 ||
         metadata.source_file.size != 0 || metadata.scheduling_name.size != 0 ||
         metadata.stack_frame != 0 || metadata.payload.size != 0;
}

void AppendMetadata(const Module& m, const Metadata& metadata, const Dialect& dialect,
                    std::string& out) {
  out += "metadata={";
  const size_t begin = out.size();
  const auto name = [&](std::string_view key) {
    if (out.size() != begin) out += ' ';
    out += key;
  };
  const auto text = [&](std::string_view key, Text value) {
    if (value.size == 0) return;
    name(key);
    AppendQuoted(m.view(value), out);
  };
  const auto number = [&](std::string_view key, int64_t value) {
    if (value == 0) return;
    name(key);
    AppendNumber(value, out);
  };
  text("op_type=", metadata.op_type);
  text("op_name=", metadata.op_name);
  Metadata place = metadata;
  // Older dialects name the place itself instead of a row of the tables.
  const auto frame = static_cast<size_t>(metadata.stack_frame) - 1;
  if (!dialect.stack_frames && metadata.source_file.size == 0 &&
      frame < m.stack_frames.frames.size()) {
    const auto row = static_cast<size_t>(m.stack_frames.frames[frame].location) - 1;
    if (row < m.stack_frames.locations.size()) {
      const StackFrames::Location& location = m.stack_frames.locations[row];
      const auto file = static_cast<size_t>(location.file) - 1;
      if (file < m.stack_frames.files.size()) place.source_file = m.stack_frames.files[file];
      place.source_line = location.line;
      place.source_end_line = location.end_line;
      place.source_column = location.column;
      place.source_end_column = location.end_column;
    }
  }
  text("source_file=", place.source_file);
  number("source_line=", place.source_line);
  if (dialect.metadata_ends) {
    number("source_end_line=", place.source_end_line);
    number("source_column=", place.source_column);
    number("source_end_column=", place.source_end_column);
  }
  if (metadata.profile_types.count != 0) {
    name("profile_type=");
    AppendIndex(Module::Rows(m.ints, metadata.profile_types), out);
  }
  text("deduplicated_name=", metadata.deduplicated_name);
  // XLA does not escape this one.
  if (metadata.scheduling_name.size != 0) {
    name("scheduling_name=\"");
    out.append(m.view(metadata.scheduling_name)).append("\"");
  }
  if (dialect.stack_frames) number("stack_frame_id=", metadata.stack_frame);
  text("metadata_payload=", metadata.payload);
  out += '}';
}

}  // namespace stowplan::hlo
