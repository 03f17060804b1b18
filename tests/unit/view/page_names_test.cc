// SPDX-License-Identifier: Apache-2.0
#include "view/page_names.h"

#include <regex>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace stowplan::view {
namespace {

TEST(PageNames, AsTheModuleIsCalled) {
  PageNames names;
  EXPECT_EQ(names.NameFor("module_0003.jit_step"), "module_0003.jit_step.html");
  EXPECT_EQ(names.NameFor("module_0003.jit_step"), "module_0003.jit_step-2.html");
  EXPECT_EQ(names.NameFor("module_0003.JIT_STEP"), "module_0003.JIT_STEP-3.html");
  EXPECT_EQ(names.NameFor("run/one"), "run_one.html");
  EXPECT_EQ(names.NameFor("run_one"), "run_one-2.html");
}

TEST(PageNames, NobodyTakesAnothers) {
  PageNames names;
  EXPECT_EQ(names.NameFor("a-2"), "a-2.html");
  EXPECT_EQ(names.NameFor("a"), "a.html");
  EXPECT_EQ(names.NameFor("a"), "a-3.html");
  EXPECT_EQ(names.NameFor("index"), "index-2.html");
  EXPECT_EQ(names.NameFor("INDEX"), "INDEX-3.html");
}

TEST(PageNames, NamesThatAreNone) {
  PageNames names;
  EXPECT_EQ(names.NameFor(""), "m.html");
  EXPECT_EQ(names.NameFor(".."), "m...html");
  EXPECT_EQ(names.NameFor("-rf"), "m-rf.html");
  EXPECT_EQ(names.NameFor("../../etc/passwd"), "m.._.._etc_passwd.html");
  EXPECT_EQ(names.NameFor("\"><script>"), "m___script_.html");
  EXPECT_LE(names.NameFor(std::string(10000, 'x')).size(), 140U);
}

RC_GTEST_PROP(PageNames, SafeAndDifferent, (const std::vector<std::string>& modules)) {
  PageNames names;
  // What the page takes for a link (viewer/src/model/words.ts), and not the index.
  const std::regex safe(R"([A-Za-z0-9][A-Za-z0-9_.-]*\.html)");
  std::set<std::string> seen = {"index.html"};
  for (const std::string& module : modules) {
    std::string name = names.NameFor(module);
    RC_ASSERT(std::regex_match(name, safe));
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    RC_ASSERT(seen.insert(name).second);
  }
}

}  // namespace
}  // namespace stowplan::view
