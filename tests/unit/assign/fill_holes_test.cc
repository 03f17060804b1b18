// SPDX-License-Identifier: Apache-2.0
// Plain values in the holes of collective memory, against a plain rule that looks at everything.
#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "assign/assignment.h"
#include "assign/rules.h"
#include "unit/planning.h"

namespace stowplan {
namespace {

// Each reads two of the last values, half of them in collective memory; some have no bytes, some
// are made in place.
std::string RandomProgram(std::mt19937& random, size_t count) {
  std::string text = "HloModule m, is_scheduled=true\nENTRY e {\n  v0 = f32[64]{0} parameter(0)\n";
  constexpr int kSizes[] = {0, 0, 1, 32, 64, 65, 128, 128, 200, 320, 511};
  std::string last = "f32[64]{0}";
  for (size_t k = 1; k < count; ++k) {
    const auto operand = [&] {
      return "v" + std::to_string(k - 1 - random() % std::min<size_t>(k, 9));
    };
    const std::string name = "  v" + std::to_string(k) + " = ";
    if (random() % 6 == 0) {
      text += name + last + " negate(v" + std::to_string(k - 1) + ")\n";
      continue;
    }
    last = "f32[" + std::to_string(kSizes[random() % std::size(kSizes)]) + "]{0" +
           (random() % 2 == 0 ? ":S(1)}" : "}");
    const std::string a = operand();
    text += name + last + " custom-call(" + a + ", " + operand() + "), custom_call_target=\"f\"\n";
  }
  return text + "  ROOT r = f32[8]{0} custom-call(v" + std::to_string(count - 1) +
         "), custom_call_target=\"f\"\n}\n";
}

struct Chunk {
  LiveRange live;
  int64_t begin = 0;
  int64_t end = 0;
};

// The lowest of the smallest holes before something that is alive with one of the ranges.
std::optional<int64_t> FindHole(const std::vector<Chunk>& chunks,
                                const std::vector<LiveRange>& ranges, int64_t heap, int64_t size) {
  std::vector<std::pair<int64_t, int64_t>> blocking;
  for (const Chunk& chunk : chunks) {
    if (std::ranges::any_of(ranges, [&](const LiveRange& range) {
          return range.start <= chunk.live.end && chunk.live.start <= range.end;
        }))
      blocking.emplace_back(chunk.begin, chunk.end);
  }
  // Of two that begin together the one that came first: nothing may lie between them.
  std::ranges::stable_sort(blocking, {}, &std::pair<int64_t, int64_t>::first);
  blocking.emplace_back(heap, heap);
  std::optional<std::pair<int64_t, int64_t>> best;
  int64_t free = 0;
  for (const auto& [begin, end] : blocking) {
    const int64_t offset = (free + 255) / 256 * 256;
    if (begin - offset >= size && (!best || begin - offset < best->first))
      best = {begin - offset, offset};
    free = std::max(free, end);
  }
  return best ? std::optional(best->second) : std::nullopt;
}

// Says how many values are in holes.
int CompareWithThePlainRule(const std::string& text) {
  const Rules rules = RulesOf(*FindTarget("gpu"), "jaxlib-0.11.2");
  const Program program = AnalyzeProgram(text, rules.analysis);
  const Result<Assignment> made = Assign(program.module, program.analysis, rules, std::nullopt);
  EXPECT_TRUE(made.has_value());
  if (!made) return 0;
  const BufferSet& buffers = program.analysis.buffers;
  const auto place_of = [&](ValueId id) { return made->places[id.index]; };
  AllocationId lender;
  for (size_t a = 0; a < made->allocations.size(); ++a) {
    const Allocation& allocation = made->allocations[AllocationId(a)];
    if (allocation.color == 1 && allocation.is_temp()) lender = AllocationId(a);
  }
  if (lender.is_none()) return 0;
  std::vector<Chunk> chunks;
  std::vector<std::pair<int64_t, BufferId>> candidates;
  for (size_t b = 0; b < buffers.size(); ++b) {
    for (const ValueId id : buffers.values_of(BufferId(b))) {
      const Place place = place_of(id);
      if (place.allocation.is_none() || !made->allocations[place.allocation].is_temp()) break;
      if (made->colors[id.index] == 1) {
        chunks.push_back({program.analysis.live.of(id), place.offset, place.offset + place.size});
      } else if (id == buffers.values_of(BufferId(b))[0]) {
        candidates.emplace_back(-place.size, b);
      }
    }
  }
  std::ranges::sort(candidates);
  int guests = 0;
  for (const auto& [minus_size, buffer] : candidates) {
    std::vector<LiveRange> ranges;
    for (const ValueId id : buffers.values_of(buffer))
      ranges.push_back(program.analysis.live.of(id));
    const std::optional<int64_t> hole =
        FindHole(chunks, ranges, made->allocations[lender].size, -minus_size);
    for (const ValueId id : buffers.values_of(buffer)) {
      const Place place = place_of(id);
      EXPECT_EQ(place.allocation == lender, hole.has_value()) << text << "value " << id.index;
      if (!hole) continue;
      EXPECT_EQ(place.offset, *hole) << text << "value " << id.index;
      chunks.push_back({program.analysis.live.of(id), *hole, *hole - minus_size});
      ++guests;
    }
  }
  EXPECT_TRUE(FindOverlaps(program.module, program.analysis, *made).empty()) << text;
  return guests;
}

TEST(FillHoles, EqualsThePlainRule) {
  std::mt19937 random(1);
  int guests = 0;
  for (int round = 0; round < 200 && !testing::Test::HasFailure(); ++round)
    guests += CompareWithThePlainRule(RandomProgram(random, 5 + random() % 40));
  // The compilers evaluate arguments in different orders, so clang draws other problems.
#ifdef __clang__
  EXPECT_GT(guests, 1000);
#else
  EXPECT_EQ(guests, 1186);
#endif
}
// Heaps with many values find their holes in another way.
TEST(FillHoles, EqualsThePlainRuleInLargeHeaps) {
  std::mt19937 random(2);
  int guests = 0;
  for (int round = 0; round < 10 && !testing::Test::HasFailure(); ++round)
    guests += CompareWithThePlainRule(RandomProgram(random, 400));
  // The compilers evaluate arguments in different orders, so clang draws other problems.
#ifdef __clang__
  EXPECT_GT(guests, 1000);
#else
  EXPECT_EQ(guests, 1501);
#endif
}

// x lies where b begins, and is no place for y: b, which came first, leaves no room behind it.
TEST(FillHoles, NothingLiesBetweenTwoThatBeginTogether) {
  const std::string text = R"(HloModule m, is_scheduled=true
ENTRY e {
  p = f32[64]{0} parameter(0)
  c = f32[256]{0:S(1)} custom-call(p), custom_call_target="f"
  a = f32[128]{0:S(1)} custom-call(p), custom_call_target="f"
  b = f32[64]{0:S(1)} custom-call(c, a), custom_call_target="f"
  x = f32[0]{0} custom-call(a), custom_call_target="f"
  y = f32[0]{0} custom-call(p), custom_call_target="f"
  ROOT r = f32[1]{0} custom-call(b, x, y), custom_call_target="f"
}
)";
  EXPECT_EQ(CompareWithThePlainRule(text), 2);
  const std::string plan = AssignmentOf(text, "gpu");
  EXPECT_NE(plan.find("b @1> (size=256,offset=1536)"), std::string::npos) << plan;
  EXPECT_NE(plan.find("x @0> (size=0,offset=1536)"), std::string::npos) << plan;
  EXPECT_NE(plan.find("y @0> (size=0,offset=1792)"), std::string::npos) << plan;
}

// As many heaps as values: neither pays for all of the others. (Once half a minute, and 4 GiB.)
TEST(FillHoles, ManyHeaps) {
  constexpr size_t kCount = 10000;
  std::string text = "HloModule m, is_scheduled=true\nENTRY e {\n  p = f32[64]{0} parameter(0)\n";
  for (size_t k = 0; k < kCount; ++k) {
    const std::string number = std::to_string(k);
    text += "  a" + number + " = f32[" + std::to_string(1 + k * 7919 % 97) +
            "]{0:S(1)} custom-call(p), custom_call_target=\"f\"\n";
    text += "  b" + number + " = f32[" + std::to_string(1 + k * 104729 % 89) +
            "]{0} custom-call(a" + number + "), custom_call_target=\"f\"\n";
  }
  text += "  ROOT r = f32[1]{0} custom-call(b" + std::to_string(kCount - 1) +
          "), custom_call_target=\"f\"\n}\n";
  Rules rules = RulesOf(*FindTarget("gpu"), "jaxlib-0.11.2");
  rules.heap_limit = 1;
  const Program program = AnalyzeProgram(text, rules.analysis);
  const Result<Assignment> made = Assign(program.module, program.analysis, rules, std::nullopt);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(std::ranges::count(made->allocations.rows(), 1, &Allocation::color), kCount);
}

}  // namespace
}  // namespace stowplan
