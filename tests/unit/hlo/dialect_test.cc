// SPDX-License-Identifier: Apache-2.0
#include "stowplan/hlo/dialect.h"

#include <set>
#include <string_view>

#include <gtest/gtest.h>

namespace stowplan::hlo {
namespace {

TEST(Dialect, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (const NamedDialect& named : Dialects()) {
    EXPECT_TRUE(names.insert(named.name).second) << named.name;
    EXPECT_EQ(FindDialect(named.name), named.dialect) << named.name;
  }
}

TEST(Dialect, EveryReleaseOfTheCorpusIsKnown) {
  for (const char* name :
       {"tf-2.2",        "tf-2.4",          "tf-2.6",         "tf-2.8",        "tf-2.11",
        "jaxlib-0.4.13", "jaxlib-0.4.25",   "jaxlib-0.4.30",  "jaxlib-0.4.35", "jaxlib-0.5.0",
        "jaxlib-0.6.0",  "jaxlib-0.7.2",    "jaxlib-0.8.2",   "jaxlib-0.9.0",  "jaxlib-0.10.0",
        "jaxlib-0.10.2", "jaxlib-0.11.2",   "libtpu-0.0.2",   "libtpu-0.0.8",  "libtpu-0.0.13",
        "libtpu-0.0.51", "libtpu-0.0.32.1", "libtpu-0.0.23.1"}) {
    EXPECT_TRUE(FindDialect(name)) << name;
  }
}

TEST(Dialect, VersionsInBetweenAreThoseBefore) {
  EXPECT_EQ(KnownRelease("jaxlib-0.6.0"), "jaxlib-0.6.0");
  EXPECT_EQ(KnownRelease("jaxlib-0.6.2"), "jaxlib-0.6.0");
  EXPECT_EQ(KnownRelease("jaxlib-0.9.9"), "jaxlib-0.9.0");
  EXPECT_EQ(KnownRelease("jaxlib-0.10.1"), "jaxlib-0.10.0");
  EXPECT_EQ(KnownRelease("jaxlib-1.0.0"), "jaxlib-0.12.0");
  EXPECT_EQ(KnownRelease("libtpu-0.0.23"), "libtpu-0.0.13");
  EXPECT_EQ(KnownRelease("libtpu-0.0.24"), "libtpu-0.0.23.1");
  EXPECT_EQ(KnownRelease("tf-2.5"), "tf-2.4");
  for (const char* name : {"jaxlib-0.4.12", "jaxlib-0.10.2rc1", "jaxlib-0.10.2.", "jaxlib--1.0.0",
                           "jaxlib-99999999999999999999.0.0", "tf-2", "-0.1.2"}) {
    EXPECT_EQ(KnownRelease(name), "") << name;
  }
}

TEST(Dialect, OthersAreNot) {
  for (const char* name : {"", " ", "jaxlib", "jaxlib-0.10", "jaxlib-0.10.2 ", "JAXLIB-0.10.2"}) {
    EXPECT_FALSE(FindDialect(name)) << name;
  }
}

TEST(Dialect, TheDefaultIsTheNewestLongForm) {
  // Dumps write async operations out; to_string(), which the default follows, does not.
  EXPECT_EQ(FindDialect("jaxlib-0.10.2"), Dialect{.async_sugar = false});
}

}  // namespace
}  // namespace stowplan::hlo
