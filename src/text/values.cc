// SPDX-License-Identifier: Apache-2.0
#include "text/values.h"

#include <algorithm>

#include "hlo/escape.h"

namespace stowplan::text {

using hlo::Metadata;
using hlo::Text;

bool ParseString(Reader& reader, Text& text) {
  Cursor& c = reader.cursor;
  c.Skip();
  const char quote = c.peek();
  if (quote != '"' && quote != '\'') return c.FailExpected("a string");
  const char* begin = c.p + 1;
  const char* close = begin;
  bool has_escapes = false;
  while (true) {
    close = static_cast<const char*>(std::memchr(close, quote, static_cast<size_t>(c.end - close)));
    if (close == nullptr) return c.Fail("this string does not end");
    // Only quotes after an even number of backslashes close.
    const char* slash = close;
    while (slash > begin && slash[-1] == '\\') --slash;
    if ((close - slash) % 2 == 0) break;
    ++close;
  }
  const std::string_view raw(begin, static_cast<size_t>(close - begin));
  has_escapes = std::memchr(raw.data(), '\\', raw.size()) != nullptr;
  if (raw.empty()) {
    text = {};
  } else if (!has_escapes) {
    text = reader.builder.ToText(raw);
  } else {
    std::string plain;
    if (!hlo::AppendUnescaped(raw, plain)) return c.Fail("a malformed escape in this string");
    text = reader.builder.AddText(plain);
  }
  c.p = close + 1;
  return true;
}

bool ParseBool(Cursor& c, bool& value) {
  c.Skip();
  if (c.TakeWord("true") || c.TakeWord("1")) {
    value = true;
    return true;
  }
  if (c.TakeWord("false") || c.TakeWord("0")) {
    value = false;
    return true;
  }
  return c.FailExpected("true or false");
}

bool ParseIntList(Cursor& c, std::vector<int64_t>& numbers) {
  if (!c.Expect('{', "of a list")) return false;
  if (c.Take('}')) return true;
  while (true) {
    int64_t n = 0;
    const size_t before = c.errors->size();
    if (!c.Integer(n)) return c.errors->size() != before ? false : c.FailExpected("a number");
    numbers.push_back(n);
    if (c.Take('}')) return true;
    if (!c.Expect(',', "or '}' in a list")) return false;
  }
}

bool ParseBalanced(Cursor& c, std::string_view& text) {
  c.Skip();
  const char* begin = c.p;
  const char* last = begin;  // one past the last character that is no blank
  std::string closers;
  while (true) {
    const char ch = *c.p;
    if (c.at_end()) {
      if (closers.empty()) break;
      c.p = begin;
      return c.Fail("the brackets opened here never close");
    }
    if (ch == '"') {
      ++c.p;
      while (c.p < c.end && *c.p != '"') c.p += *c.p == '\\' ? 2 : 1;
      if (c.p >= c.end) {
        c.p = begin;
        return c.Fail("a string in this value does not end");
      }
    } else if (ch == '/' && c.SkipComment()) {
      continue;
    } else if (ch == '{' || ch == '[' || ch == '(') {
      // What is nested is read again, level by level: without a limit, in quadratic time.
      constexpr size_t kMaxNesting = 1000;
      if (closers.size() == kMaxNesting) return c.Fail("brackets are nested too deep");
      closers += ch == '{' ? '}' : ch == '[' ? ']' : ')';
    } else if (ch == '}' || ch == ']' || ch == ')') {
      if (closers.empty()) break;
      if (closers.back() != ch) return c.FailExpected(std::string("'") + closers.back() + "'");
      closers.pop_back();
    } else if (closers.empty() && (ch == ',' || ch == '\n' || ch == '\r')) {
      break;
    }
    ++c.p;
    if (!IsClass(ch, kBlankChar)) last = c.p;
  }
  text = {begin, static_cast<size_t>(last - begin)};
  return true;
}

Text Canonical(Reader& reader, const char* begin, const std::string& canonical) {
  const Cursor& c = reader.cursor;
  if (static_cast<size_t>(c.end - begin) >= canonical.size() &&
      std::memcmp(begin, canonical.data(), canonical.size()) == 0) {
    return reader.builder.ToText({begin, canonical.size()});
  }
  return reader.builder.AddText(canonical);
}

bool ParseFrontendAttributes(Reader& reader, Range& rows) {
  Cursor& c = reader.cursor;
  if (!c.Expect('{', "of frontend_attributes")) return false;
  std::vector<std::pair<Text, Text>> pairs;
  while (!c.Take('}')) {
    if (!pairs.empty() && !c.Expect(',', "between attributes")) return false;
    c.Skip();
    const std::string_view key = c.NameHere();
    if (key.empty()) return c.FailExpected("an attribute's name");
    if (!c.Expect('=', "after the attribute's name")) return false;
    c.Skip();
    Text value;
    if (c.peek() == '{') {
      const size_t length = hlo::JsonDictionaryLength({c.p, static_cast<size_t>(c.end - c.p)});
      if (length == 0) return c.Fail("this dictionary does not end");
      value = reader.builder.ToText({c.p, length});
      c.p += length;
    } else {
      if (!ParseString(reader, value)) return false;
      if (hlo::IsJsonDictionary(reader.module().view(value))) reader.saw_quoted_frontend = true;
    }
    pairs.emplace_back(reader.builder.ToText(key), value);
  }
  std::ranges::stable_sort(pairs, {},
                           [&](const auto& pair) { return reader.module().view(pair.first); });
  std::vector<Text> texts;
  for (const auto& [key, value] : pairs) {
    texts.push_back(key);
    texts.push_back(value);
  }
  rows = reader.builder.AddTexts(texts);
  return true;
}

namespace {

bool ParseMetadataNumber(Cursor& c, int32_t& number) {
  int64_t n = 0;
  if (!c.Integer(n)) return c.FailExpected("a number");
  if (n < INT32_MIN || n > INT32_MAX) return c.Fail("the number does not fit in 32 bits");
  number = static_cast<int32_t>(n);
  return true;
}

// scheduling_name is not escaped by XLA, so its characters are taken as they are.
bool ParseRawString(Reader& reader, Text& text) {
  Cursor& c = reader.cursor;
  c.Skip();
  if (c.peek() != '"') return c.FailExpected("a string");
  const char* begin = c.p + 1;
  const auto* close =
      static_cast<const char*>(std::memchr(begin, '"', static_cast<size_t>(c.end - begin)));
  if (close == nullptr) return c.Fail("this string does not end");
  text =
      close == begin ? Text{} : reader.builder.ToText({begin, static_cast<size_t>(close - begin)});
  c.p = close + 1;
  return true;
}

bool ParseMetadataField(Reader& reader, std::string_view key, const char* at, Metadata& m) {
  Cursor& c = reader.cursor;
  if (key == "op_name") return ParseString(reader, m.op_name);
  if (key == "scheduling_name") return ParseRawString(reader, m.scheduling_name);
  if (key == "stack_frame_id") return ParseMetadataNumber(c, m.stack_frame);
  if (key == "source_file") return ParseString(reader, m.source_file);
  if (key == "source_line") return ParseMetadataNumber(c, m.source_line);
  if (key == "source_end_line") return ParseMetadataNumber(c, m.source_end_line);
  if (key == "source_column") return ParseMetadataNumber(c, m.source_column);
  if (key == "source_end_column") return ParseMetadataNumber(c, m.source_end_column);
  if (key == "op_type") return ParseString(reader, m.op_type);
  if (key == "deduplicated_name") return ParseString(reader, m.deduplicated_name);
  if (key == "metadata_payload") return ParseString(reader, m.payload);
  if (key == "profile_type") {
    std::vector<int64_t> types;
    if (!ParseIntList(c, types)) return false;
    m.profile_types = reader.builder.AddInts(types);
    return true;
  }
  // Keys that XLA read once and never printed, and those still to come: their values bear on
  // nothing here.
  reader.WarnOnce(at, key.size(), "metadata field '" + std::string(key) + "' is not kept");
  c.Skip();
  Text ignored;
  if (c.peek() == '"') return ParseString(reader, ignored);
  if (c.peek() == '{') {
    std::string_view text;
    return ParseBalanced(c, text);
  }
  if (c.NameHere().empty()) return c.FailExpected("a value");
  return true;
}

}  // namespace

bool ParseMetadata(Reader& reader, Metadata& metadata) {
  Cursor& c = reader.cursor;
  if (!c.Expect('{', "of metadata")) return false;
  while (!c.Take('}')) {
    c.Skip();
    const char* at = c.p;
    const std::string_view key = c.NameHere();
    if (key.empty()) return c.FailExpected("a metadata field");
    if (!c.Expect('=', "after the field's name")) return false;
    if (!ParseMetadataField(reader, key, at, metadata)) return false;
    c.Take(',');
  }
  return true;
}

}  // namespace stowplan::text
