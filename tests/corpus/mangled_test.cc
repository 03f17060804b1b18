// SPDX-License-Identifier: Apache-2.0
// White space and comments mean nothing: dumped texts with more of it print as they were dumped.
#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "corpus/corpus_files.h"
#include "hlo/escape.h"
#include "hlo/print.h"
#include "stowplan/base/source.h"
#include "text/parse.h"

namespace stowplan {
namespace {

bool IsWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_.-+%#").find(c) != std::string_view::npos;
}

// The length of the token that begins at `at`: a word, a string, a value that holds JSON, a
// comment, or one mark. Blanks count as marks.
size_t TokenLength(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  const std::string_view before = text.substr(0, at);
  const char c = rest[0];
  if (c == '"' || c == '\'') {
    size_t end = 1;
    while (end < rest.size() && rest[end] != c) end += rest[end] == '\\' ? 2U : 1U;
    return end + 1;
  }
  const bool is_verbatim =
      before.ends_with("backend_config=") || before.ends_with("frontend_attributes=");
  if (c == '{' && is_verbatim) return hlo::JsonDictionaryLength(rest);
  if (rest.starts_with("/*")) return rest.find("*/") + 2;
  if (rest.starts_with("//")) return rest.find('\n');
  for (const std::string_view mark : {"->", "<=", "..."}) {
    if (rest.starts_with(mark)) return mark.size();
  }
  size_t end = 0;
  while (end < rest.size() && IsWordChar(rest[end])) {
    // `f32[2]->f32[2]`: the arrow is a mark, but in dim_labels it joins.
    if (rest.substr(end).starts_with("->")) {
      if (!before.ends_with("dim_labels=")) break;
      ++end;
    }
    ++end;
  }
  // nan(0x7f)
  if (rest.substr(0, end).ends_with("nan") && rest.substr(end).starts_with("(0x")) {
    end = rest.find(')') + 1;
  }
  return std::max<size_t>(end, 1);
}

// `name=` and `name:` belong together, and ` // name` behind a computation is read as a mark, to
// the end of its line.
bool MayInsert(std::string_view before, std::string_view after) {
  if (before.substr(before.rfind('\n') + 1).contains(" // ")) return false;
  if (after.starts_with("//") || after.starts_with(" //")) return false;
  if (before.ends_with("/") || after.starts_with("/")) return false;
  return !(IsWordChar(before.back()) && (after[0] == '=' || after[0] == ':'));
}

std::string Mangled(std::string_view text, uint32_t seed) {
  constexpr std::array<std::string_view, 8> kInsertions = {
      " ", "\n", "\t", "\r\n", "  \n ", " /* a, (b} = */ ", "/**/", " // %c = d\n"};
  std::mt19937 random(seed);
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (at != 0 && random() % 6 == 0 && MayInsert(text.substr(0, at), text.substr(at))) {
      out += kInsertions[random() % kInsertions.size()];
    }
    const size_t length = TokenLength(text, at);
    out += text.substr(at, length);
    at += length;
  }
  return out;
}

TEST(CorpusMangled, BlanksAndCommentsMeanNothing) {
  int tried = 0;
  int too_large = 0;
  int without_blanks = 0;
  uint32_t seed = 1;
  for (const std::string& file : CorpusTexts()) {
    ++seed;
    if (std::filesystem::file_size(file) > 1'000'000) {
      ++too_large;
      continue;
    }
    const auto source = ReadSource(file);
    ASSERT_TRUE(source) << Render(source.error());
    const auto module = ParseText(*source);
    ASSERT_TRUE(module) << Render(module.error());
    // In this dialect the lack of blanks is what shows the dialect.
    if (!module->dialect.spaced_entry_layout) {
      ++without_blanks;
      continue;
    }
    ++tried;
    const std::string mangled = Mangled((*source)->bytes(), seed);
    const auto again = ParseText(Source::FromBytes(file + " mangled", mangled));
    if (!again) {
      ADD_FAILURE() << Render(again.error()[0]);
      continue;
    }
    const std::string printed = hlo::ToString(*again);
    if (printed == (*source)->bytes()) continue;
    const auto [a, b] = std::ranges::mismatch((*source)->bytes(), printed);
    ADD_FAILURE() << file
                  << "\n  dumped:  " << std::string(a, std::min(a + 120, (*source)->bytes().end()))
                  << "\n  printed: " << std::string(b, std::min(b + 120, printed.end()));
  }
  EXPECT_EQ(tried, 517);
  EXPECT_EQ(too_large, 13);
  EXPECT_EQ(without_blanks, 4);
}

}  // namespace
}  // namespace stowplan
