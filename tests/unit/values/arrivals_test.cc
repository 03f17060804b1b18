// SPDX-License-Identifier: Apache-2.0
#include "values/arrivals.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stowplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<ValueId> Ids(std::initializer_list<size_t> numbers) {
  std::vector<ValueId> ids;
  for (const size_t number : numbers) ids.emplace_back(number);
  return ids;
}

TEST(ValueRows, RowsThatGrowShareAList) {
  ValueRows rows;
  EXPECT_TRUE(rows.Make({}).is_none());
  EXPECT_EQ(rows.Make(Ids({7})), ValueId(7));
  const ValueId two = rows.Make(Ids({3, 5}));
  const ValueId three = rows.Grow(two, Ids({4}));
  EXPECT_THAT(rows.Of(two), ElementsAre(ValueId(3), ValueId(5)));
  EXPECT_THAT(rows.Of(three), ElementsAre(ValueId(3), ValueId(5), ValueId(4)));
  EXPECT_EQ(rows.Of(two).data(), rows.Of(three).data());
  EXPECT_TRUE(rows.IsBeginning(two, three));
  EXPECT_FALSE(rows.IsBeginning(three, two));
  // The list goes on behind `two` already.
  const ValueId other = rows.Grow(two, Ids({9}));
  EXPECT_THAT(rows.Of(other), ElementsAre(ValueId(3), ValueId(5), ValueId(9)));
  EXPECT_THAT(rows.Of(three), ElementsAre(ValueId(3), ValueId(5), ValueId(4)));
  EXPECT_FALSE(rows.IsBeginning(three, other));
  EXPECT_FALSE(rows.Equal(three, other));
  EXPECT_FALSE(rows.Equal(two, three));
  EXPECT_TRUE(rows.Equal(three, rows.Make(Ids({3, 4, 5}))));
}

TEST(Arrivals, AreCountedInAndOut) {
  ValueRows rows;
  Arrivals arrivals(3);
  arrivals.Update(rows, 1, ValueId(8), 1);
  arrivals.Finish();
  EXPECT_EQ(arrivals.total(), 1U);
  EXPECT_EQ(arrivals.only(), ValueId(8));
  // It comes once more, twice; that is nothing new.
  arrivals.Update(rows, 0, ValueId(8), 2);
  arrivals.Finish();
  EXPECT_EQ(arrivals.total(), 3U);
  EXPECT_FALSE(arrivals.has_changed());
  const ValueId row = rows.Make(Ids({2, 8}));
  arrivals.Update(rows, 2, row, 1);
  arrivals.Finish();
  EXPECT_THAT(arrivals.added(), ElementsAre(ValueId(2)));
  EXPECT_FALSE(arrivals.has_lost());
  arrivals.Update(rows, 2, rows.Grow(row, Ids({5, 3})), 1);
  arrivals.Finish();
  EXPECT_THAT(arrivals.added(), ElementsAre(ValueId(3), ValueId(5)));
  EXPECT_EQ(arrivals.total(), 7U);
  EXPECT_THAT(arrivals.InOrder(rows), ElementsAre(ValueId(8), ValueId(2), ValueId(3), ValueId(5)));
  EXPECT_THAT(arrivals.Sorted(), ElementsAre(ValueId(2), ValueId(3), ValueId(5), ValueId(8)));
  // A phi takes the place of the row; 8 still comes from the others.
  arrivals.Update(rows, 2, ValueId(9), 1);
  arrivals.Finish();
  EXPECT_THAT(arrivals.added(), ElementsAre(ValueId(9)));
  EXPECT_TRUE(arrivals.has_lost());
  EXPECT_THAT(arrivals.Sorted(), ElementsAre(ValueId(8), ValueId(9)));
  // One input gives what another takes.
  arrivals.Update(rows, 0, ValueId(9), 2);
  arrivals.Update(rows, 1, ValueId(9), 1);
  arrivals.Update(rows, 2, ValueId(8), 1);
  arrivals.Finish();
  EXPECT_FALSE(arrivals.has_changed());
  EXPECT_THAT(arrivals.added(), IsEmpty());
}

}  // namespace
}  // namespace stowplan
