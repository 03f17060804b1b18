// SPDX-License-Identifier: Apache-2.0
#include "stowplan/base/diagnostic.h"

#include <gtest/gtest.h>

#include "stowplan/base/source.h"

namespace stowplan {
namespace {

std::string RenderAt(std::string_view text, size_t offset, size_t length) {
  return Render(Source::FromBytes("a.hlo", text)->At(offset, length, "what"));
}

TEST(Diagnostic, PointsAtThePlace) {
  EXPECT_EQ(RenderAt("one\ntwo three\nfour", 8, 5),
            "a.hlo:2:5: error: what\n"
            "  two three\n"
            "      ^~~~~\n");
}

TEST(Diagnostic, AnUnderlineEndsWithTheLine) {
  EXPECT_EQ(RenderAt("abc\ndef", 1, 100),
            "a.hlo:1:2: error: what\n"
            "  abc\n"
            "   ^~\n");
}

TEST(Diagnostic, TheEndOfTheInputIsAPlace) {
  EXPECT_EQ(RenderAt("abc", 3, 0),
            "a.hlo:1:4: error: what\n"
            "  abc\n"
            "     ^\n");
  EXPECT_EQ(RenderAt("abc\n", 99, 0),
            "a.hlo:2:1: error: what\n"
            "\n"
            "  ^\n");
  EXPECT_EQ(RenderAt("", 0, 1),
            "a.hlo:1:1: error: what\n"
            "\n"
            "  ^\n");
}

TEST(Diagnostic, TheNewlineBelongsToItsLine) {
  EXPECT_EQ(RenderAt("ab\ncd", 2, 1),
            "a.hlo:1:3: error: what\n"
            "  ab\n"
            "    ^\n");
}

TEST(Diagnostic, CarriageReturnsAreNoPartOfALine) {
  EXPECT_EQ(RenderAt("ab\r\ncd\r\n", 4, 2),
            "a.hlo:2:1: error: what\n"
            "  cd\n"
            "  ^~\n");
}

TEST(Diagnostic, TabsKeepTheCaretAligned) {
  EXPECT_EQ(RenderAt("\tx\ty", 3, 1),
            "a.hlo:1:4: error: what\n"
            "  \tx\ty\n"
            "  \t \t^\n");
}

TEST(Diagnostic, BytesThatATerminalWouldObeyAreReplaced) {
  EXPECT_EQ(RenderAt("\x1b[31m \xc3\xa4 x", 9, 1),
            "a.hlo:1:10: error: what\n"
            "  ?[31m ?? x\n"
            "           ^\n");
  Diagnostic diagnostic;
  diagnostic.file = "a\nb";
  diagnostic.message = "name \x07";
  EXPECT_EQ(Render(diagnostic), "a?b: error: name ?\n");
  // Letters stay. Not so: no UTF-8, controls of two bytes, what turns the direction or ends a line.
  diagnostic.message =
      "\xc3\xa4\xe2\x82\xac \xff\xc3 \xc2\x9b \xe2\x80\xae\xe2\x80\xa8\xe2\x81\xa6";
  EXPECT_EQ(Render(diagnostic),
            "a?b: error: \xc3\xa4\xe2\x82\xac \xef\xbf\xbd\xef\xbf\xbd ? ???\n");
}

TEST(Diagnostic, LongMessagesAreCut) {
  Diagnostic diagnostic;
  diagnostic.message = "no `" + std::string(1'000'000, 'x') + "` here";
  EXPECT_EQ(Render(diagnostic), "stowplan: error: no `" + std::string(396, 'x') + "..." +
                                    std::string(194, 'x') + "` here\n");
  diagnostic.message = std::string(1000, 'y');
  EXPECT_EQ(Render(diagnostic), "stowplan: error: " + diagnostic.message + "\n");
}

TEST(Diagnostic, LongLinesAreCutAroundThePlace) {
  const std::string line = std::string(500, 'a') + "HERE" + std::string(500, 'b');
  const Diagnostic diagnostic = Source::FromBytes("a", line)->At(500, 4, "what");
  EXPECT_EQ(diagnostic.column, 501U);
  EXPECT_EQ(diagnostic.excerpt,
            "..." + std::string(40, 'a') + "HERE" + std::string(56, 'b') + "...");
  EXPECT_EQ(diagnostic.excerpt.substr(diagnostic.caret, diagnostic.caret_length), "HERE");
}

TEST(Diagnostic, TheEndOfALongLineShowsAWholeWindow) {
  const std::string line = std::string(500, 'a') + "END";
  const Diagnostic diagnostic = Source::FromBytes("a", line)->At(500, 3, "what");
  EXPECT_EQ(diagnostic.excerpt, "..." + std::string(97, 'a') + "END");
  EXPECT_EQ(diagnostic.excerpt.substr(diagnostic.caret, diagnostic.caret_length), "END");
}

TEST(Diagnostic, TheBeginningOfALongLineIsNotCut) {
  const std::string line = "BEGIN" + std::string(500, 'a');
  const Diagnostic diagnostic = Source::FromBytes("a", line)->At(0, 5, "what");
  EXPECT_EQ(diagnostic.excerpt, "BEGIN" + std::string(95, 'a') + "...");
  EXPECT_EQ(diagnostic.caret, 0U);
}

TEST(Diagnostic, ProtosShowByteAndPath) {
  const auto source = Source::FromBytes("m.pb", "xxxx");
  EXPECT_EQ(Render(source->AtByte(3, "computations[1].name", "bad")),
            "m.pb: byte 3: in computations[1].name: error: bad\n");
}

TEST(Diagnostic, FilesAsAWholeShowNoPlace) {
  EXPECT_EQ(Render(Fail("m", "cannot open", "look again").error()),
            "m: error: cannot open\n  hint: look again\n");
}

TEST(Diagnostic, ColorOnlyWhenAsked) {
  const Diagnostic diagnostic = Source::FromBytes("a", "x")->At(0, 1, "what");
  EXPECT_EQ(Render(diagnostic).find('\x1b'), std::string::npos);
  EXPECT_NE(Render(diagnostic, true).find("\x1b[1;31merror:\x1b[0m"), std::string::npos);
}

TEST(Diagnostic, SeverityIsNamed) {
  Diagnostic diagnostic = Source::FromBytes("a", "x")->At(0, 1, "what");
  diagnostic.severity = Severity::kWarning;
  EXPECT_TRUE(Render(diagnostic).starts_with("a:1:1: warning: what\n"));
  diagnostic.severity = Severity::kNote;
  EXPECT_TRUE(Render(diagnostic).starts_with("a:1:1: note: what\n"));
}

Result<int> Half(int x) {
  if (x % 2 != 0) return Fail("number", "odd");
  return x / 2;
}
Result<int> Quarter(int x) {
  STOWPLAN_TRY(const int half, Half(x));
  STOWPLAN_TRY(const int quarter, Half(half));
  return quarter;
}

TEST(Diagnostic, NotesMayHaveSeveralLines) {
  Diagnostic diagnostic;
  diagnostic.message = "one\ntwo\x1b";
  diagnostic.severity = Severity::kNote;
  EXPECT_EQ(Render(diagnostic), "stowplan: note: one\n  two?\n");
  diagnostic.severity = Severity::kError;
  EXPECT_EQ(Render(diagnostic), "stowplan: error: one?two?\n");
}

TEST(Diagnostic, TryHandsErrorsOn) {
  EXPECT_EQ(Quarter(8), 2);
  EXPECT_EQ(Quarter(6).error()[0].message, "odd");
}

}  // namespace
}  // namespace stowplan
