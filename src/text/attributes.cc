// SPDX-License-Identifier: Apache-2.0
#include "text/attributes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "hlo/escape.h"
#include "text/values.h"
#include "text/window.h"

namespace stowplan::text {
namespace {

using hlo::Attribute;
using hlo::AttributeKey;
using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;
using hlo::ShapeId;
using hlo::Text;
using hlo::ValueKind;

// A bare word: letters, digits and what else occurs in enum names, numbers and dimension labels.
bool ParseWord(Cursor& c, std::string_view& word) {
  c.Skip();
  const char* begin = c.p;
  while (IsClass(*c.p, kNameChar) || *c.p == '?' || *c.p == '+' ||
         (*c.p == '>' && c.p > begin && c.p[-1] == '-')) {
    ++c.p;
  }
  if (c.p == begin) return c.FailExpected("a value");
  word = {begin, static_cast<size_t>(c.p - begin)};
  return true;
}

bool ParseWords(Reader& reader, std::vector<Text>& words) {
  Cursor& c = reader.cursor;
  if (!c.Expect('{', "of a list")) return false;
  while (!c.Take('}')) {
    if (!words.empty() && !c.Expect(',', "in a list")) return false;
    std::string_view word;
    if (!ParseWord(c, word)) return false;
    words.push_back(reader.builder.ToText(word));
  }
  return true;
}

bool ParseComputation(Reader& reader, CompId& id) {
  Cursor& c = reader.cursor;
  c.Skip();
  if (c.peek() == '{') {
    // A body right here: it is read when the computation around it ends, and will then have the
    // next number.
    const char* begin = c.p;
    std::string_view body;
    if (!ParseBalanced(c, body)) return false;
    id = reader.NextComputation();
    reader.pending.push_back({.body = begin, .wrapper = {}});
    return true;
  }
  const char* begin = c.p;
  const std::string_view name = c.Name();
  if (name.empty()) return c.FailExpected("a computation's name");
  id = reader.FindComputation(name);
  if (!id.is_none()) return true;
  id = CompId(ForwardCall::kFirst + reader.forward.size());
  reader.forward.push_back({.name = name, .at = begin});
  return true;
}

bool ParseComputations(Reader& reader, AttributeKey key, Attribute& out) {
  Cursor& c = reader.cursor;
  std::vector<CompId> ids;
  if (!c.Expect('{', "of a list of computations")) return false;
  while (!c.Take('}')) {
    if (!ids.empty() && !c.Expect(',', "between computations")) return false;
    if (!ParseComputation(reader, ids.emplace_back())) return false;
  }
  out = Attribute::OfRows(key, reader.builder.AddComputations(ids));
  return true;
}

// Whether an operand is written `%x#1` somewhere in it.
bool ShowsElementSteps(std::string_view text) {
  bool is_quoted = false;
  for (size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '"') is_quoted = !is_quoted;
    if (text[k] == '\\') ++k;
    if (is_quoted || k >= text.size() || text[k] != '#') continue;
    const size_t end = text.find_first_not_of("0123456789", k + 1);
    if (end == std::string_view::npos) return false;
    const bool is_behind_name = k != 0 && !std::string_view(" \n,(").contains(text[k - 1]);
    if (is_behind_name && end != k + 1 && std::string_view(",)#").contains(text[end])) return true;
  }
  return false;
}

// The first of them may stand further down.
bool IsCompact(Reader& reader) {
  if (reader.saw_compact) return true;
  if (!reader.is_compact_ahead)
    reader.is_compact_ahead = ShowsElementSteps({reader.cursor.p, reader.cursor.end});
  return *reader.is_compact_ahead;
}

bool ParseInstructions(Reader& reader, AttributeKey key, Attribute& out) {
  Cursor& c = reader.cursor;
  std::vector<InstrId> ids;
  bool is_first = true;
  if (!c.Expect('{', "of a list of instructions")) return false;
  while (!c.Take('}')) {
    if (!std::exchange(is_first, false) && !c.Expect(',', "between instructions")) return false;
    c.Skip();
    const char* begin = c.p;
    const std::string_view name = c.Name();
    const InstrId id = name.empty() ? InstrId() : reader.FindInstruction(name);
    if (!id.is_none()) {
      ids.push_back(id);
      continue;
    }
    if (name.empty() || !IsCompact(reader)) {
      return c.FailAt(begin, name.size() + 1,
                      "there is no instruction '" + std::string(name) + "' above this one");
    }
    // A compact text does not show get-tuple-elements, nor which one has this name.
    reader.WarnOnce(begin, name.size() + 1,
                    "names a get-tuple-element that this text does not show; such edges are left "
                    "out");
  }
  out = Attribute::OfRows(key, reader.builder.AddInstructions(ids));
  return true;
}

bool ParseShapes(Reader& reader, AttributeKey key, Attribute& out) {
  Cursor& c = reader.cursor;
  std::vector<ShapeId> shapes;
  if (!c.Expect('{', "of a list of shapes")) return false;
  while (!c.Take('}')) {
    if (!shapes.empty() && !c.Expect(',', "between shapes")) return false;
    if (shapes.emplace_back(reader.shapes.Parse(c)).is_none()) return false;
  }
  out = Attribute::OfRows(key, reader.builder.AddShapes(shapes));
  return true;
}

bool ParseBools(Cursor& c, std::vector<int64_t>& flags) {
  if (!c.Expect('{', "of a list")) return false;
  while (!c.Take('}')) {
    if (!flags.empty() && !c.Expect(',', "in a list")) return false;
    bool flag = false;
    if (!ParseBool(c, flag)) return false;
    flags.push_back(flag ? 1 : 0);
  }
  return true;
}

bool ParseIntLists(Cursor& c, std::vector<int64_t>& ints) {
  if (!c.Expect('{', "of a list of lists")) return false;
  std::vector<int64_t> list;
  while (!c.Take('}')) {
    if (!ints.empty() && !c.Expect(',', "between lists")) return false;
    list.clear();
    if (!ParseIntList(c, list)) return false;
    ints.push_back(static_cast<int64_t>(list.size()));
    ints.insert(ints.end(), list.begin(), list.end());
  }
  return true;
}

bool ParseConfig(Reader& reader, Text& text) {
  Cursor& c = reader.cursor;
  c.Skip();
  if (c.peek() == '{') {
    const size_t length = hlo::JsonDictionaryLength({c.p, static_cast<size_t>(c.end - c.p)});
    if (length == 0) return c.Fail("this dictionary does not end");
    text = reader.builder.ToText({c.p, length});
    c.p += length;
    return true;
  }
  if (!ParseString(reader, text)) return false;
  if (hlo::IsJsonDictionary(reader.module().view(text))) reader.saw_quoted_config = true;
  return true;
}

bool ParseCanonical(Reader& reader, AttributeKey key, bool (*parse)(Cursor&, std::string&),
                    Attribute& out) {
  reader.cursor.Skip();
  const char* begin = reader.cursor.p;
  std::string canonical;
  if (!parse(reader.cursor, canonical)) return false;
  out = Attribute::OfText(key, Canonical(reader, begin, canonical));
  return true;
}

bool ParseInts(Reader& reader, AttributeKey key, bool (*parse)(Cursor&, std::vector<int64_t>&),
               Attribute& out) {
  reader.ints.clear();
  if (!parse(reader.cursor, reader.ints)) return false;
  out = Attribute::OfRows(key, reader.builder.AddInts(reader.ints));
  return true;
}

// literal=s32[2] {1, 2}: a shape and its literal.
bool ParseLiteralAttribute(Reader& reader, AttributeKey key, Attribute& out) {
  Cursor& c = reader.cursor;
  c.Skip();
  const char* begin = c.p;
  std::string_view raw;
  int64_t depth = 0;
  // The value ends at a comma outside brackets; unlike other values it may hold blanks.
  while (!c.at_end() && !(depth == 0 && (*c.p == ',' || *c.p == '\n'))) {
    if (*c.p == '{' || *c.p == '(' || *c.p == '[') ++depth;
    if (*c.p == '}' || *c.p == ')' || *c.p == ']') --depth;
    if (depth < 0) break;
    ++c.p;
  }
  raw = {begin, static_cast<size_t>(c.p - begin)};
  if (raw.empty() || depth > 0)
    return c.FailExpected(raw.empty() ? "a literal" : "the end of the literal");
  out = Attribute::OfText(key, reader.builder.ToText(raw));
  return true;
}

bool ParseSimpleValue(Reader& reader, AttributeKey key, Attribute& out) {
  Cursor& c = reader.cursor;
  switch (hlo::KindOf(key)) {
    case ValueKind::kInt: {
      int64_t n = 0;
      if (!c.Integer(n)) return c.FailExpected("a number");
      out = Attribute::OfNumber(key, n);
      return true;
    }
    case ValueKind::kBool: {
      bool flag = false;
      if (!ParseBool(c, flag)) return false;
      out = Attribute::OfNumber(key, flag ? 1 : 0);
      return true;
    }
    case ValueKind::kWord: {
      std::string_view word;
      if (!ParseWord(c, word)) return false;
      out = Attribute::OfText(key, reader.builder.ToText(word));
      return true;
    }
    case ValueKind::kString: {
      Text text;
      if (!ParseString(reader, text)) return false;
      out = Attribute::OfText(key, text);
      return true;
    }
    case ValueKind::kComputation: {
      CompId id;
      if (!ParseComputation(reader, id)) return false;
      out = Attribute::OfNumber(key, id.index);
      return true;
    }
    case ValueKind::kShape: {
      const ShapeId id = reader.shapes.Parse(c);
      if (id.is_none()) return false;
      out = Attribute::OfNumber(key, id.index);
      return true;
    }
    default: {  // kConfig
      Text text;
      if (!ParseConfig(reader, text)) return false;
      out = Attribute::OfText(key, text);
      return true;
    }
  }
}

bool ParseValue(Reader& reader, AttributeKey key, Attribute& out) {
  switch (hlo::KindOf(key)) {
    case ValueKind::kInts:
      return ParseInts(reader, key, ParseIntList, out);
    case ValueKind::kBools:
      return ParseInts(reader, key, ParseBools, out);
    case ValueKind::kIntLists:
      return ParseInts(reader, key, ParseIntLists, out);
    case ValueKind::kWindow:
      return ParseInts(reader, key, ParseWindow, out);
    case ValueKind::kSlices:
      return ParseInts(reader, key, ParseSlices, out);
    case ValueKind::kPadding:
      return ParseInts(reader, key, ParsePadding, out);
    case ValueKind::kAliasing:
      return ParseInts(reader, key, ParseAliasing, out);
    case ValueKind::kComputations:
      return ParseComputations(reader, key, out);
    case ValueKind::kInstructions:
      return ParseInstructions(reader, key, out);
    case ValueKind::kShapes:
      return ParseShapes(reader, key, out);
    case ValueKind::kSharding: {
      const char* const begin = reader.cursor.p;
      if (!ParseCanonical(reader, key, CanonicalSharding, out)) return false;
      reader.saw_single_device = reader.saw_single_device ||
                                 std::string_view(begin, reader.cursor.p).find("{single_device[") !=
                                     std::string_view::npos;
      return true;
    }
    case ValueKind::kDeviceGroups:
      return ParseCanonical(reader, key, CanonicalDeviceGroups, out);
    case ValueKind::kDomain:
      return ParseCanonical(reader, key, CanonicalDomain, out);
    case ValueKind::kOrigin:
      return ParseCanonical(reader, key, CanonicalOrigin, out);
    case ValueKind::kTree:
      return ParseCanonical(reader, key, CanonicalTree, out);
    case ValueKind::kLiteralAttribute:
      return ParseLiteralAttribute(reader, key, out);
    case ValueKind::kWords: {
      reader.texts.clear();
      if (!ParseWords(reader, reader.texts)) return false;
      out = Attribute::OfRows(key, reader.builder.AddTexts(reader.texts));
      return true;
    }
    case ValueKind::kFrontendAttributes: {
      Range rows;
      if (!ParseFrontendAttributes(reader, rows)) return false;
      out = Attribute::OfRows(key, rows);
      return true;
    }
    default:
      return ParseSimpleValue(reader, key, out);
  }
}

// What stands after the `=` of an attribute that is not known.
bool ParseUnknownAttribute(Reader& reader, std::string_view name, Attribute& out) {
  Cursor& c = reader.cursor;
  const char* begin = name.data();
  std::string_view value;
  if (!ParseBalanced(c, value)) return false;
  if (value.empty()) return c.FailExpected("a value");
  reader.WarnOnce(begin, name.size(),
                  "attribute '" + std::string(name) + "' is not known; kept as written");
  const std::string whole = std::string(name).append("=").append(value);
  out = Attribute::OfText(AttributeKey::kUnknown, Canonical(reader, begin, whole));
  return true;
}

// XLA does not print these values, so a module that says them equals one that does not.
bool IsDefault(const hlo::Module& m, Opcode opcode, const Attribute& a) {
  const auto is_word = [&](std::string_view word) { return m.view(a.text()) == word; };
  switch (a.key) {
    case AttributeKey::kIsStable:
      return a.number() == 0 && opcode == Opcode::kSort;
    case AttributeKey::kConstrainLayout:
    case AttributeKey::kUseGlobalDeviceIds:
    case AttributeKey::kCustomCallHasSideEffect:
    case AttributeKey::kIndicesAreSorted:
    case AttributeKey::kUniqueIndices:
    case AttributeKey::kIsHostTransfer:
    case AttributeKey::kIsReverse:
    case AttributeKey::kIsComposite:
    case AttributeKey::kLeftSide:
    case AttributeKey::kLower:
    case AttributeKey::kUnitDiagonal:
    case AttributeKey::kIsCrossProgramPrefetch:
      return a.number() == 0;
    case AttributeKey::kFeatureGroupCount:
    case AttributeKey::kBatchGroupCount:
      return a.number() == 1;
    case AttributeKey::kAsyncExecutionThread:
      return is_word("main");
    case AttributeKey::kApiVersion:
      return is_word("API_VERSION_ORIGINAL");
    case AttributeKey::kSchedule:
      return is_word("SCHEDULE_NONE");
    case AttributeKey::kPaddingType:
      return is_word("PADDING_INVALID");
    case AttributeKey::kInfeedConfig:
    case AttributeKey::kOutfeedConfig:
    case AttributeKey::kBackendConfig:
      return a.text().size == 0;
    case AttributeKey::kWindow:
      return a.rows().count == 0 && opcode == Opcode::kConvolution;
    case AttributeKey::kControlPredecessors:
    case AttributeKey::kFrontendAttributes:
    case AttributeKey::kOutputToOperandAliasing:
    case AttributeKey::kParameterReplication:
    case AttributeKey::kLhsBatchDims:
    case AttributeKey::kRhsBatchDims:
    case AttributeKey::kOperandBatchingDims:
    case AttributeKey::kStartIndicesBatchingDims:
    case AttributeKey::kInputBatchingDims:
    case AttributeKey::kScatterIndicesBatchingDims:
      return a.rows().count == 0;
    case AttributeKey::kOperandPrecision: {
      const std::span<const Text> words = hlo::Module::Rows(m.texts, a.rows());
      return std::ranges::all_of(words, [&](Text t) { return m.view(t) == "default"; });
    }
    default:
      return false;
  }
}

}  // namespace

bool ParseAttributes(Reader& reader, Opcode opcode, AsyncForm form, AttributeList& out) {
  Cursor& c = reader.cursor;
  out.list.clear();
  out.has_metadata = false;
  while (c.Take(',')) {
    c.Skip();
    const char* begin = c.p;
    const std::string_view name = c.NameHere();
    if (name.empty()) return c.FailExpected("an attribute");
    if (!c.Expect('=', "after the attribute's name")) return false;
    if (name == "metadata") {
      out.metadata = {};
      out.has_metadata = true;
      if (!ParseMetadata(reader, out.metadata)) return false;
      continue;
    }
    std::optional<AttributeKey> key = hlo::FindAttributeKey(name);
    if (key == AttributeKey::kSliceSizes && opcode != Opcode::kGather)
      key = AttributeKey::kPermuteSliceSizes;
    if (!key) {
      if (!ParseUnknownAttribute(reader, name, out.list.emplace_back())) return false;
      continue;
    }
    const auto is_same = [&](const Attribute& other) { return other.key == *key; };
    const auto count = std::ranges::count_if(out.list, is_same);
    const bool may_repeat = *key == AttributeKey::kStatistics && form == AsyncForm::kShort;
    if (count > (may_repeat ? 1 : 0)) {
      return c.FailAt(begin, name.size(),
                      "attribute '" + std::string(name) + "' stands here twice");
    }
    Attribute attribute;
    if (!ParseValue(reader, *key, attribute)) return false;
    if (!IsDefault(reader.module(), opcode, attribute)) out.list.push_back(attribute);
  }
  return true;
}

}  // namespace stowplan::text
