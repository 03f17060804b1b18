// SPDX-License-Identifier: Apache-2.0
#include "pack/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/pack/random_problem.h"

namespace stowplan::pack {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<Pool> kPools = {{"fast", 64}, {"slow", 1024}};

Result<Table> Read(std::string_view text, std::vector<Pool> pools = {}) {
  return ReadTable(Source::FromBytes("problem.csv", text), std::move(pools));
}

std::vector<std::string_view> All(const Names& names) {
  std::vector<std::string_view> all;
  for (size_t k = 0; k < names.size(); ++k) all.push_back(names[k]);
  return all;
}

template <class T>
std::string FirstError(const Result<T>& result) {
  if (result) return "no error";
  const Diagnostic& first = result.error().front();
  return std::to_string(first.line) + ":" + std::to_string(first.column) + ": " + first.message;
}

// The first error, as "line:column: message".
std::string ErrorOf(std::string_view text) { return FirstError(Read(text, kPools)); }

TEST(PackCsv, ReadsColumnsInAnyOrder) {
  const Result<Table> table = Read("size,id,upper,lower,alignment\r\n16, a ,7,3,8\n\n2,b,4,0,1");
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->problem, (Problem{.buffers = {{16, 3, 7, 8}, {2, 0, 4, 1}}}));
  EXPECT_THAT(All(table->ids), ElementsAre("a", "b"));
}

TEST(PackCsv, KnowsMinimallocsOtherNames) {
  const Result<Table> table = Read(
      "\xEF\xBB\xBF"
      "buffer,start,end,size,gaps\nx,3,6,16,4-4\n");
  ASSERT_TRUE(table.has_value()) << FirstError(table);
  // `end` is the last moment, not the one behind it.
  EXPECT_EQ(table->problem.buffers, (std::vector<Buffer>{{16, 3, 7}}));
  EXPECT_THAT(table->problem.gaps, ElementsAre(Gap{0, 4, 5, 0, 0}));
  EXPECT_EQ(Read("buffer_id,begin,upper,size\nx,3,6,16\n")->problem.buffers,
            (std::vector<Buffer>{{16, 3, 6}}));
}

TEST(PackCsv, ReadsEveryColumn) {
  const Result<Table> table = Read(
      "id,lower,upper,size,alignment,gaps,hint,group,apart,pools,offset\n"
      "a,0,10,16,4,6-8 1-3@4:8,32,g,c,slow fast,-1\n"
      "b,0,10,16,1,,-1,g,,fast,\n"
      "c,2,9,8,1,,,,a,,24\n",
      kPools);
  ASSERT_TRUE(table.has_value()) << FirstError(table);
  const Problem& problem = table->problem;
  EXPECT_THAT(problem.gaps, ElementsAre(Gap{0, 1, 3, 4, 8}, Gap{0, 6, 8, 0, 0}));
  EXPECT_THAT(problem.hints, ElementsAre(Spot{0, 32}));
  EXPECT_THAT(problem.pins, ElementsAre(Spot{2, 24}));
  EXPECT_THAT(problem.groups, ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(All(table->groups), ElementsAre("g"));
  EXPECT_THAT(problem.apart, ElementsAre(std::pair(0U, 2U)));
  EXPECT_THAT(problem.choices, ElementsAre(PoolChoice{0, {1, 0}}, PoolChoice{1, {0}}));
  EXPECT_EQ(problem.pools, kPools);
}

TEST(PackCsv, WritesWhatItReads) {
  for (const std::string text :
       {"id,lower,upper,size,offset\na,3,7,16,0\nb,0,4,2,16\n", "id,lower,upper,size\na,3,7,16\n",
        "id,lower,upper,size,alignment,gaps,hint,group,apart,pools,offset\n"
        "a,0,10,16,4,1-3@4:8 6-8,32,g,c,slow fast,-1\n"
        "b,0,10,16,1,,-1,g,,fast,-1\n"
        "c,2,9,8,1,,-1,,,,24\n"}) {
    const Result<Table> table = Read(text, kPools);
    ASSERT_TRUE(table.has_value()) << FirstError(table);
    EXPECT_EQ(WriteTable(*table), text);
  }
}

TEST(PackCsv, RandomProblemsComeBack) {
  ProblemMaker maker(7);
  for (int round = 0; round < 2000; ++round) {
    Table table;
    table.problem = maker.Make(static_cast<size_t>(maker.Below(8)), 9, 9, kEveryFeature);
    const std::string text = WriteTable(table);
    const Result<Table> again = Read(text, table.problem.pools);
    ASSERT_TRUE(again.has_value()) << FirstError(again) << "\n" << text;
    // Ids and groups' names are numbers now, and groups are in the order of their first members.
    Problem expected = table.problem;
    std::ranges::sort(expected.groups);
    ASSERT_EQ(again->problem, expected) << text;
    ASSERT_EQ(WriteTable(*Read(WriteTable(*again), table.problem.pools)), WriteTable(*again));
  }
}

TEST(PackCsv, ReadsAPlanByItsIds) {
  const Result<Table> table = Read("id,lower,upper,size\na,0,2,4\nb,1,3,2\n", kPools);
  const auto plan = [&](std::string_view text) {
    return ReadPlan(Source::FromBytes("plan.csv", text), *table);
  };
  const Result<Plan> sound = plan("id,offset,pool\nb,4,slow\na,0,fast\n");
  ASSERT_TRUE(sound.has_value()) << FirstError(sound);
  EXPECT_EQ(*sound, (Plan{.offsets = {0, 4}, .pools = {0, 1}, .height = 6}));
  EXPECT_EQ(ReadPlan(Source::FromBytes("plan.csv", WriteTable(*table, *sound)), *table), sound);
  EXPECT_EQ(FirstError(plan("id,pool\nb,slow\n")), "1:1: the column `offset` is missing");
  EXPECT_EQ(FirstError(plan("id,offset,pool\nb,4,slow\n")),
            "0:0: the plan has no row for buffer `a`");
  EXPECT_EQ(FirstError(plan("id,offset,pool\nb,4,slow\nb,4,slow\n")), "3:1: `b` is there twice");
  EXPECT_EQ(FirstError(plan("id,offset,pool\nx,4,slow\n")), "2:1: the problem has no such buffer");
  EXPECT_EQ(FirstError(plan("id,offset,pool\na,4,host\n")), "2:5: there is no pool `host`");
  EXPECT_EQ(FirstError(plan("id,offset,pool\na,,fast\n")), "2:3: a whole number is wanted here");
  EXPECT_EQ(FirstError(plan("id,size,offset,pool\na,5,0,fast\n")),
            "2:1: in the problem this buffer has 4 bytes in [0, 2)");
}

TEST(PackCsv, RowsWithoutIdsAreNumbers) {
  const Result<Table> table = Read("lower,upper,size\n0,2,4\n1,3,2\n");
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(IdOf(*table, 1), "1");
  EXPECT_EQ(WriteTable(*table), "id,lower,upper,size\n0,0,2,4\n1,1,3,2\n");
  const Plan plan = {.offsets = {0, 4}, .height = 6};
  EXPECT_EQ(ReadPlan(Source::FromBytes("plan.csv", "id,offset\n1,4\n0,0\n"), *table), plan);
  EXPECT_EQ(ReadPlan(Source::FromBytes("plan.csv", "offset\n0\n4\n"), *table), plan);
}

TEST(PackCsv, NamesWhatIsWrong) {
  EXPECT_EQ(ErrorOf(""), "1:1: there is no header: id,lower,upper,size");
  EXPECT_EQ(ErrorOf("\n  \n"), "1:1: there is no header: id,lower,upper,size");
  EXPECT_EQ(ErrorOf("id,lower,upper\n"), "1:1: the column `size` is missing");
  EXPECT_EQ(ErrorOf("id,lower,upper,size,color\n"), "1:21: there is no column `color`");
  EXPECT_EQ(ErrorOf("id,lower,lower,size\n"), "1:10: the column `lower` is there twice");
  EXPECT_EQ(ErrorOf("id,upper,end,size\n"), "1:10: the column `upper` is there twice");
  const auto row = [](const std::string& text) {
    return ErrorOf("id,lower,upper,size\n" + text + "\n");
  };
  EXPECT_EQ(row("a,0,2"), "2:1: 3 fields, where the header has 4");
  EXPECT_EQ(row("a,0,2,4,"), "2:1: 5 fields, where the header has 4");
  for (const std::string word : {"x", "nan", "NaN", "1e5", "1.5", "", "+1", "0x10", "1 2", "--1"})
    EXPECT_EQ(row("a,0," + word + ",4"), "2:5: a whole number is wanted here") << word;
  EXPECT_EQ(row("a,2,2,4"), "2:1: its life [2, 2) is empty");
  EXPECT_EQ(row("a,3,2,4"), "2:1: its life [3, 2) ends before it starts");
  EXPECT_EQ(
      row("a,-9223372036854775808,9223372036854775807,4"),
      "2:1: its life [-9223372036854775808, 9223372036854775807) is longer than 64 bits can count");
  EXPECT_EQ(row("a,0,2,-4"), "2:7: the size -4 is negative");
  EXPECT_EQ(row("a,0,2,99999999999999999999"), "2:7: the number does not fit in 64 bits");
  EXPECT_EQ(row("a,0,2,4\nb,0,2,4\na,0,2,4"), "4:1: `a` is there twice");
  EXPECT_EQ(row(",0,2,4"), "2:1: an id is missing");
  EXPECT_EQ(row("a,0,2,9223372036854775807"),
            "2:7: the sizes up to here do not fit in 64 bits together");
  EXPECT_EQ(row(std::string("a\0b,0,2,4", 9)), "2:1: an id has no control characters");
  EXPECT_EQ(row(std::string("a,0,2\0,4", 8)), "2:5: a whole number is wanted here");
  EXPECT_EQ(ErrorOf("id,lower,end,size\na,0,9223372036854775807,4\n"),
            "2:5: the number does not fit in 64 bits");
}

TEST(PackCsv, NamesWhatIsWrongInFurtherColumns) {
  const auto field = [](const std::string& name, const std::string& text) {
    return ErrorOf("id,lower,upper,size," + name + "\na,0,9,8," + text + "\n");
  };
  EXPECT_EQ(field("alignment", "0"), "2:9: the alignment 0 is not positive");
  EXPECT_EQ(field("gaps", "x"), "2:9: a gap is wanted here");
  EXPECT_EQ(field("gaps", "1-2@"), "2:9: a gap is wanted here");
  EXPECT_EQ(field("gaps", "1-2 3-4@1:2x"), "2:13: a gap is wanted here");
  EXPECT_EQ(field("gaps", "1-99999999999999999999"), "2:9: a gap is wanted here");
  EXPECT_EQ(field("gaps", "2-2"), "2:9: a gap ends before it begins");
  EXPECT_EQ(field("gaps", "1-10"), "2:9: a gap is not within the buffer's life");
  EXPECT_EQ(field("gaps", "1-3 2-4"), "2:9: two gaps overlap, or are not in the order of time");
  EXPECT_EQ(field("gaps", "1-3@0:9"), "2:9: what is in use in a gap is not within the buffer");
  EXPECT_EQ(field("hint", "-7"), "2:9: the offset -7 is negative");
  EXPECT_EQ(field("hint", "x"), "2:9: a whole number is wanted here");
  EXPECT_EQ(field("offset", "-7"), "2:9: the offset -7 is negative");
  EXPECT_EQ(field("offset", "9223372036854775807"), "2:9: the buffer would end beyond 64 bits");
  EXPECT_EQ(field("apart", "b"), "2:9: there is no buffer `b`");
  EXPECT_EQ(field("apart", "a"), "2:9: a buffer cannot be apart from itself");
  EXPECT_EQ(field("pools", "fast host"), "2:14: there is no pool `host`");
  EXPECT_EQ(field("pools", "fast fast"), "2:9: a pool is named twice");
  EXPECT_EQ(ErrorOf("lower,upper,size,apart\n0,2,4,x\n"),
            "2:7: there are no ids that this could mean");
  EXPECT_EQ(FirstError(Read("id,lower,upper,size,offset\na,0,9,8,0\nb,8,9,8,4\n")),
            "3:9: pinned to where buffer `a` is pinned, and both are alive at time 8");
  EXPECT_EQ(ErrorOf("id,lower,upper,size,offset,group\na,0,9,8,0,g\nb,8,9,8,4,g\n"),
            "3:9: pinned to 4, where another of its group is pinned to 0");
}

TEST(PackCsv, HostileFilesAreRefusedSoon) {
  const std::string commas(1000000, ',');
  EXPECT_EQ(ErrorOf("id,lower,upper,size\n" + commas), "2:1: an id is missing");
  EXPECT_EQ(ErrorOf("id,lower,upper,size" + commas), "1:21: there is no column ``");
  std::string columns = "id,lower,upper,size";
  for (int i = 0; i < 1000000; ++i) columns += ",c" + std::to_string(i);
  EXPECT_EQ(ErrorOf(columns), "1:21: there is no column `c0`");
  EXPECT_EQ(ErrorOf("id,lower,upper,size\na,0,2," + std::string(1000000, '9')),
            "2:7: the number does not fit in 64 bits");
  EXPECT_EQ(ErrorOf("id," + std::string(1000000, 'x')),
            "1:4: there is no column `" + std::string(40, 'x') + "`");
  // One error, however many columns another kind of file seems to have.
  for (const std::string& other : {std::string(1000000, 'x'), std::string(1000000, '\0'), commas})
    EXPECT_EQ(ErrorOf(other), "1:1: this line has none of the columns: id,lower,upper,size");
  const std::string gaps = "id,lower,upper,size,gaps\na,0,2,4,";
  EXPECT_EQ(ErrorOf(gaps + std::string(1000000, '-')), "2:9: a gap is wanted here");
}

TEST(PackCsv, StopsAfterTwentyErrors) {
  std::string text = "id,lower,upper,size\n";
  for (int i = 0; i < 100; ++i) text += "x\n";
  EXPECT_EQ(Read(text).error().size(), kMaxErrors);
  std::string sizes = "lower,upper,size\n";
  for (int i = 0; i < 100; ++i) sizes += "0,1,-1\n";
  EXPECT_EQ(Read(sizes).error().size(), kMaxErrors);
}

TEST(PackCsv, TablesOwnWhatTheyName) {
  Result<Table> table = Read("id,lower,upper,size,group\nfirst,0,2,4,together\n");
  const Table moved = std::move(*table);
  table = Read("id,lower,upper,size\nx,0,2,4\n");
  EXPECT_THAT(All(moved.ids), ElementsAre("first"));
  EXPECT_THAT(All(moved.groups), ElementsAre("together"));
  EXPECT_THAT(moved.problem.pins, IsEmpty());
}

}  // namespace
}  // namespace stowplan::pack
