// SPDX-License-Identifier: Apache-2.0
#include "cost/machine.h"

#include <gtest/gtest.h>

namespace stowplan::cost {
namespace {

TEST(Machine, EveryNameIsFound) {
  for (const std::string_view name : MachineNames()) {
    const std::optional<Machine> machine = FindMachine(name);
    ASSERT_TRUE(machine.has_value()) << name;
    EXPECT_EQ(machine->name, name);
    EXPECT_GT(machine->bytes_per_second, 1e10) << name;
    EXPECT_GT(machine->flops_per_second, machine->bytes_per_second) << name;
  }
  EXPECT_FALSE(FindMachine("h99").has_value());
  EXPECT_FALSE(FindMachine("").has_value());
}

TEST(Machine, TargetsHaveOne) {
  EXPECT_EQ(MachineOf(*FindTarget("cpu")).name, "cpu");
  EXPECT_EQ(MachineOf(*FindTarget("gpu")).name, "h100");
  EXPECT_EQ(MachineOf(*FindTarget("tpu-v4")).name, "v4");
  EXPECT_EQ(MachineOf(*FindTarget("tpu-v6e")).name, "v6e");
  for (const Target& target : Targets()) EXPECT_FALSE(MachineOf(target).name.empty());
}

TEST(Machine, FiguresCanBeReplaced) {
  const Target gpu = *FindTarget("gpu");
  const Machine plain = Chosen({}, gpu);
  EXPECT_EQ(plain.bytes_per_second, MachineOf(gpu).bytes_per_second);
  const Machine own = Chosen({.name = "a100", .bytes_per_second = 1e12}, gpu);
  EXPECT_EQ(own.bytes_per_second, 1e12);
  EXPECT_EQ(own.flops_per_second, FindMachine("a100")->flops_per_second);
  // Work that is bound by memory takes longer on the slower one.
  const Work work = {.bytes = 1e12, .flops = 1e9};
  EXPECT_GT(SecondsOf(work, own), SecondsOf(work, plain));
}

}  // namespace
}  // namespace stowplan::cost
