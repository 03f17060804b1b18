// SPDX-License-Identifier: Apache-2.0
#include "gate/lock.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace stowplan::gate {
namespace {

TEST(Lock, LinesInOrder) {
  const std::string text = WriteLock(
      {{"jit_g", 0, 7}, {"jit_f #2", 1, 5}, {"jit_f #2", 0, 6}, {"jit_f", std::nullopt, 9}},
      "peak");
  EXPECT_EQ(text,
            "# stowplan lock 1: peak\n"
            "# bytes, memory space, module; written by `stowplan gate --update --lock=FILE INPUT`\n"
            "6 0 jit_f #2\n"
            "5 1 jit_f #2\n"
            "7 0 jit_g\n");
  const auto back = ReadLock("x", text, "peak");
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->size(), 3U);
  EXPECT_EQ(WriteLock(*back, "peak"), text);
}

TEST(Lock, BadFiles) {
  const std::string head = "# stowplan lock 1: peak\n";
  EXPECT_FALSE(ReadLock("x", "", "peak").has_value());
  EXPECT_FALSE(ReadLock("x", "5 0 f\n", "peak").has_value());
  EXPECT_FALSE(ReadLock("x", head, "footprint").has_value());
  EXPECT_TRUE(ReadLock("x", head + "5 0 f\r\n\n# a remark\n", "peak").has_value());
  for (const std::string_view line : {"5", "5 0", "5 0 ", "-5 0 f", "f 0 5", "5  0 f", "5 0x f",
                                      "99999999999999999999 0 f", "5 0 f\n6 0 f"})
    EXPECT_FALSE(ReadLock("x", head + std::string(line), "peak").has_value()) << line;
  // No more than twenty, and with their lines.
  std::string bad = head;
  for (int i = 0; i < 50; ++i) bad += "nonsense\n";
  const auto many = ReadLock("x", bad, "peak");
  ASSERT_FALSE(many.has_value());
  EXPECT_EQ(many.error().size(), kMaxErrors);
  EXPECT_EQ(many.error()[0].line, 2U);
}

RC_GTEST_PROP(Lock, AnyTextIsReadOrRefused, (const std::string& text)) {
  (void)ReadLock("x", "# stowplan lock 1: peak\n" + text, "peak");
}

}  // namespace
}  // namespace stowplan::gate
