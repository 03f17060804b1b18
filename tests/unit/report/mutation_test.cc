// SPDX-License-Identifier: Apache-2.0
// Files that are wrong: every line of the seeds left out, doubled, or with another before it. What
// is read is written back, or named with its line.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "example_report.h"
#include "report/write.h"

namespace stowplan::report::test {
namespace {

std::vector<std::string> SeedLines(int seed) {
  const auto source = ReadSource(std::string(STOWPLAN_TESTS_DIR) + "/../examples/seeds/seed_00" +
                                 std::to_string(seed) + ".txt");
  EXPECT_TRUE(source.has_value());
  std::vector<std::string> lines;
  std::string_view text = (*source)->bytes();
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

// Errors and findings of a file, and what is written back.
struct Answer {
  bool is_read = false;
  std::string written;
  Diagnostics complaints;
  [[nodiscard]] bool names(size_t line) const {
    return std::ranges::any_of(complaints,
                               [&](const Diagnostic& found) { return found.line == line; });
  }
};

Answer Ask(const std::string& text) {
  const std::shared_ptr<const Source> source = Source::FromBytes("seed", text);
  const Result<Report> report = ReadReport({&source, 1});
  if (!report) return {.is_read = false, .written = {}, .complaints = report.error()};
  return {.is_read = true,
          .written = WriteFile(*report, *source),
          .complaints = CompareFigures(*report, *source)};
}

class MutatedSeed : public testing::TestWithParam<int> {};

TEST_P(MutatedSeed, LinesThatNobodyKnowsAreNamed) {
  const std::vector<std::string> lines = SeedLines(GetParam());
  for (const std::string_view strange :
       {"spare\n", "\n", "   \n", " spare: 1\n", "  spare\n", "    spare{}:1-2\n", "    9:spare\n",
        "allocation\n", "<9999 spare @0>\n", "HloLiveRange\n"}) {
    for (size_t i = 0; i <= lines.size(); ++i) {
      std::vector<std::string> changed = lines;
      changed.insert(changed.begin() + static_cast<ptrdiff_t>(i), std::string(strange));
      const std::string text = Joined(changed);
      const Answer answer = Ask(text);
      if (answer.is_read && answer.written == text) continue;  // kept: it was a line like others
      ASSERT_FALSE(answer.complaints.empty()) << i << strange;
      // An empty line among empty ones is any of them; a list's own numbers are checked behind it.
      const bool is_near = answer.names(i + 1) || answer.names(i + 2) ||
                           (strange == "\n" && (answer.names(i) || answer.names(i + 3)));
      EXPECT_TRUE(is_near) << "line " << i + 1 << ": " << strange << Render(answer.complaints);
    }
  }
}

TEST_P(MutatedSeed, DoubledAndMissingLinesAreNamed) {
  const std::vector<std::string> lines = SeedLines(GetParam());
  for (size_t i = 0; i < lines.size(); ++i) {
    for (const bool is_doubled : {true, false}) {
      std::vector<std::string> changed = lines;
      const auto at = changed.begin() + static_cast<ptrdiff_t>(i);
      if (is_doubled) {
        changed.insert(at, lines[i]);
      } else {
        changed.erase(at);
      }
      const std::string text = Joined(changed);
      const Answer answer = Ask(text);
      if (answer.is_read && answer.written == text) continue;
      ASSERT_FALSE(answer.complaints.empty()) << i;
      for (const Diagnostic& found : answer.complaints) EXPECT_GT(found.line, 0U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, MutatedSeed, testing::Range(0, 5));

TEST(CompareFigures, OneLineOneFinding) {
  const std::vector<std::string> lines = SeedLines(3);
  const std::string right = Joined(lines);
  const auto row = std::ranges::find(lines, "    fusion.10: 14680064 bytes\n") - lines.begin();
  const auto number = static_cast<uint32_t>(row) + 1;
  const auto changed = [&](auto change) {
    std::vector<std::string> copy = lines;
    change(copy);
    const Answer answer = Ask(Joined(copy));
    EXPECT_EQ(answer.written, right);
    return answer.complaints;
  };
  EXPECT_TRUE(changed([](auto&) {}).empty());

  Diagnostics found = changed([&](auto& copy) { copy[number - 1] = "    fusion.10: 7 bytes\n"; });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].line, number);
  EXPECT_EQ(found[0].message, "computed:     fusion.10: 14680064 bytes");
  EXPECT_EQ(found[0].severity, Severity::kWarning);

  found = changed([&](auto& copy) { copy.erase(copy.begin() + row); });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].line, number);
  EXPECT_EQ(found[0].message, "computed, before this:     fusion.10: 14680064 bytes");

  found = changed([&](auto& copy) { copy.insert(copy.begin() + row, "    spare: 1 bytes\n"); });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].line, number);
  EXPECT_EQ(found[0].message, "computed: no such line");

  found = changed([](auto& copy) { copy.resize(copy.size() - 2); });
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].message, "computed, after this:     p0.1: 4 bytes");
  EXPECT_EQ(found[1].line, lines.size() - 1);
}

TEST(ReadReport, ATreeOfSeveralTops) {
  const std::string list(kLiveRanges.substr(0, kLiveRanges.find("  Stack trace")));
  const std::string text =
      list +
      "  Stack trace breakdown for peak usage: 52 bytes\n"
      "    main (69.2%, total: 36 bytes, current: 0 bytes, remaining: 52 bytes)\n"
      "  │   └── x (69.2%, total: 36 bytes, current: 36 bytes, remaining: 16 bytes)\n"
      "    other (30.8%, total: 16 bytes, current: 16 bytes, remaining: 0 bytes)\n";
  const Answer answer = Ask(text);
  EXPECT_TRUE(answer.is_read) << Render(answer.complaints);
  EXPECT_EQ(answer.written, text);

  std::string huge = text;
  for (const std::string_view figure : {"current: 36", "current: 16"}) {
    huge.replace(huge.find(figure), figure.size(), "current: 9 223 372 036 854 775 807");
  }
  const Answer too_much = Ask(huge);
  EXPECT_FALSE(too_much.is_read);
  EXPECT_TRUE(too_much.names(static_cast<size_t>(std::ranges::count(text, '\n'))));
}

// Each of many wrong lines is found, and finding them is linear in their number.
TEST(CompareFigures, ManyWrongLines) {
  constexpr int kRows = 100000;
  std::string text =
      "BufferAssignment:\nallocation 0: size 4, maybe-live-out:\n"
      " value: <0 p @0> (size=4,offset=0): f32[]\n";
  text +=
      "\nTotal bytes used: 4 (4B)\n\nUsed values:\n<0 p @0>\n positions:\n  p\n uses:\n"
      " from instruction: %p = f32[] parameter(0)\n\n\n"
      "HloLiveRange (max 1):\n  InstructionSequence:\n    0:p\n  BufferLiveRange:\n"
      "    p{}:0-1\n  Live ranges at 0 (peak):\n    p: 4 bytes\n";
  for (int i = 0; i < kRows; ++i) text += "    spare: 1 bytes\n";
  const Answer answer = Ask(text);
  ASSERT_TRUE(answer.is_read) << Render(answer.complaints);
  EXPECT_EQ(answer.complaints.size(), kRows);
  EXPECT_EQ(answer.complaints.back().line, static_cast<uint32_t>(std::ranges::count(text, '\n')));
}

// The attributes of a kernel may have newlines in them: the instruction ends with its brackets.
TEST(ReadReport, InstructionsOfSeveralLines) {
  const std::string text =
      "BufferAssignment:\nallocation 0: size 4, maybe-live-out:\n"
      " value: <0 p @0> (size=4,offset=0): f32[]\n"
      " value: <1 k @0> (size=4,offset=0): f32[]\n"
      "\nTotal bytes used: 4 (4B)\n\nUsed values:\n<0 p @0>\n positions:\n  p\n uses:\n"
      "  k, operand 0\n from instruction: %p = f32[] custom-call(), "
      "frontend_attributes={kernel_metadata={\n\"note\":\"{\\\"a\\\": 1, }\"\n\n}}\n"
      "<1 k @0>\n positions:\n  k\n uses:\n from instruction: %k = f32[] copy(%p)\n\n\n"
      "HloLiveRange (max 1):\n  InstructionSequence:\n    0:p\n    1:k\n  BufferLiveRange:\n"
      "    p{}:0-1\n    k{}:1-2\n  Live ranges at 0 (peak):\n    p: 4 bytes\n";
  const Answer answer = Ask(text);
  EXPECT_TRUE(answer.is_read) << Render(answer.complaints);
  EXPECT_NE(answer.written.find("metadata={\n\"note\":\"{\\\"a\\\": 1, }\"\n\n}}\n<1 k @0>\n"),
            std::string::npos)
      << answer.written;
  // A line more than its brackets have is named.
  std::string longer = text;
  longer.replace(longer.find("}}\n<1"), 3, "}}\nspare\n");
  EXPECT_FALSE(Ask(longer).is_read);
  // As in 2024, without the newline before the next value.
  std::string glued = text;
  glued.erase(glued.find("}}\n<1") + 2, 1);
  const Answer again = Ask(glued);
  EXPECT_TRUE(again.is_read) << Render(again.complaints);
  EXPECT_NE(again.written.find("}}<1 k @0>\n positions:"), std::string::npos) << again.written;
}

}  // namespace
}  // namespace stowplan::report::test
