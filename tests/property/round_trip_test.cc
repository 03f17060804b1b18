// SPDX-License-Identifier: Apache-2.0
// Laws of reading and printing, on random modules.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "hlo/print.h"
#include "hlo/verify.h"
#include "property/module_generator.h"
#include "stowplan/base/source.h"
#include "stowplan/hlo/dialect.h"
#include "text/parse.h"

namespace stowplan {
namespace {

constexpr uint32_t kSeeds = 300;

Result<hlo::Module> Parse(std::string_view text) {
  return ParseText(Source::FromBytes("random.hlo", text));
}

TEST(RandomModules, PrintAsTheyWereWritten) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const std::string text = RandomModule(seed);
    const auto module = Parse(text);
    ASSERT_TRUE(module) << "seed " << seed << "\n" << Render(module.error());
    EXPECT_TRUE(module->warnings.empty()) << "seed " << seed << "\n" << Render(module->warnings);
    ASSERT_EQ(hlo::ToString(*module), text) << "seed " << seed;
  }
}

TEST(RandomModules, AreWellFormed) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const std::string text = RandomModule(seed);
    const auto module = Parse(text);
    ASSERT_TRUE(module) << "seed " << seed;
    const Diagnostics complaints = hlo::Verify(*module);
    ASSERT_TRUE(complaints.empty()) << "seed " << seed << "\n" << Render(complaints);
  }
}

// Whatever a dialect prints is read back, and shows its dialect well enough to print the same.
TEST(RandomModules, EveryDialectIsReadBack) {
  for (uint32_t seed = 0; seed < kSeeds / 5; ++seed) {
    const auto module = Parse(RandomModule(seed));
    ASSERT_TRUE(module) << "seed " << seed;
    for (const hlo::NamedDialect& named : hlo::Dialects()) {
      const std::string text = hlo::ToString(*module, named.dialect);
      const auto again = Parse(text);
      ASSERT_TRUE(again) << "seed " << seed << " in " << named.name << "\n"
                         << Render(again.error());
      ASSERT_EQ(hlo::ToString(*again), text) << "seed " << seed << " in " << named.name;
      ASSERT_EQ(hlo::ToString(*again, named.dialect), text) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace stowplan
