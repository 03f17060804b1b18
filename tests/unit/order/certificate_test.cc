// SPDX-License-Identifier: Apache-2.0
// What a certificate claims is what the search says. tests/cli/order_certificate_test has the rest.
#include "order/certificate.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "order/reorder.h"
#include "stowplan/session.h"

namespace stowplan::order {
namespace {

// In the best order, the work goes before the start of the copy.
constexpr std::string_view kWorkAmidCopy = R"(HloModule m, is_scheduled=true

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[] parameter(0)
  zero = f32[] constant(0)
  large = f32[10000]{0} broadcast(x), dimensions={}
  start = (f32[10000]{0}, f32[10000]{0}, u32[]) copy-start(large)
  wide = f32[10000]{0} broadcast(x), dimensions={}
  work = f32[] reduce(wide, zero), dimensions={0}, to_apply=sum
  done = f32[10000]{0} copy-done(start)
  end = f32[] reduce(done, zero), dimensions={0}, to_apply=sum
  ROOT r = f32[] add(work, end)
}
)";

ReorderedComputation Certified(int64_t overlap_loss) {
  const Result<hlo::Module> module = ParseModule(Source::FromBytes("m.hlo", kWorkAmidCopy));
  EXPECT_TRUE(module);
  const Result<Reordered> reordered = Reorder(*module, RulesOf(*FindTarget("cpu"), ""),
                                              {.overlap_loss = overlap_loss, .certifies = true});
  EXPECT_TRUE(reordered);
  return reordered->computations.back();
}

TEST(OrderCertificate, HasTheClaimsOfTheSearch) {
  for (const int64_t loss : {0, 10, 100}) {
    const ReorderedComputation entry = Certified(loss);
    EXPECT_TRUE(entry.certificate.starts_with("computation e\nnode 0 0 large\n"));
    for (const auto& [word, bytes] :
         {std::pair("given", entry.given_peak), {"load", entry.peak}, {"bound", entry.bound}}) {
      const std::string line = "\n" + std::string(word) + " " + std::to_string(bytes) + "\n";
      EXPECT_NE(entry.certificate.find(line), std::string::npos) << line << entry.certificate;
    }
  }
}

// Which pairs of start and done keep their work is a choice of the search, so a bound that needs it
// is none for the orders that may lose some.
TEST(OrderCertificate, BoundsHoldForAllOrdersThatLoseSomeOverlap) {
  const ReorderedComputation kept = Certified(0);
  const ReorderedComputation some = Certified(10);
  const ReorderedComputation all = Certified(100);
  EXPECT_EQ(kept.bound, kept.peak);
  EXPECT_EQ(some.peak, kept.peak);
  EXPECT_LT(all.bound, kept.bound);
  EXPECT_EQ(some.bound, all.bound);
}

}  // namespace
}  // namespace stowplan::order
