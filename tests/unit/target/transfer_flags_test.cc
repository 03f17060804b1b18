// SPDX-License-Identifier: Apache-2.0
#include "target/transfer_flags.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "text/parse.h"

namespace stowplan {
namespace {

hlo::Module ParseModule(std::string_view text) {
  Result<hlo::Module> module = ParseText(Source::FromBytes("test.hlo", text));
  EXPECT_TRUE(module.has_value()) << Render(module.error());
  return *std::move(module);
}

std::string ShapeOf(const hlo::Module& module, std::string_view name) {
  for (const hlo::Instruction& instruction : module.instructions.rows()) {
    if (module.view(instruction.name) == name) return ToString(module.shapes, instruction.shape);
  }
  return {};
}

// As `hlo_modules()` of an executable has it.
constexpr std::string_view kSend = R"(HloModule m, is_scheduled=true

ENTRY main {
  p = f32[8]{0:T(128)} parameter(0)
  t = token[] after-all()
  s = (f32[8]{0:T(128)}, u32[], token[]) send(p, t), channel_id=1, is_host_transfer=true
  u = (f32[8]{0:T(128)}, u32[]{:T(128)S(2)}, token[]) recv(t), channel_id=2, is_host_transfer=true
  d = token[] send-done(s), channel_id=1, is_host_transfer=true
  n = u32[] constant(1)
  ROOT r = (f32[8]{0:T(128)}, token[]) recv-done(u), channel_id=2, is_host_transfer=true
}
)";

TEST(TransferFlags, OfTpusAreSyncFlags) {
  const hlo::Module module = WithTransferFlags(ParseModule(kSend), *FindTarget("tpu-v5e"));
  EXPECT_EQ(ShapeOf(module, "s"), "(f32[8]{0:T(128)}, u32[]{:S(2)}, token[])");
  EXPECT_EQ(ShapeOf(module, "u"), "(f32[8]{0:T(128)}, u32[]{:T(128)S(2)}, token[])");
  EXPECT_EQ(ShapeOf(module, "n"), "u32[]");
}

TEST(TransferFlags, OthersAreAsTheyAre) {
  const hlo::Module module = WithTransferFlags(ParseModule(kSend), *FindTarget("gpu"));
  EXPECT_EQ(ShapeOf(module, "s"), "(f32[8]{0:T(128)}, u32[], token[])");
}

}  // namespace
}  // namespace stowplan
