// SPDX-License-Identifier: Apache-2.0
#include "hlo/sharding.h"

#include <gtest/gtest.h>

namespace stowplan::hlo {
namespace {

std::string ToText(const Sharding& sharding) {
  std::string out;
  AppendSharding(sharding, out);
  return out;
}

TEST(Sharding, Kinds) {
  using Kind = Sharding::Kind;
  const auto of = [](Kind kind) {
    Sharding sharding;
    sharding.kind = kind;
    return ToText(sharding);
  };
  EXPECT_EQ(of(Kind::kReplicated), "{replicated}");
  EXPECT_EQ(of(Kind::kManual), "{manual}");
  EXPECT_EQ(of(Kind::kUnknown), "{unknown}");
  EXPECT_EQ(of(Kind::kUnreduced), "{unreduced}");
  EXPECT_EQ(of(Kind::kMaximal), "{maximal device=0}");
  EXPECT_EQ(of(Kind::kTuple), "{}");
}

TEST(Sharding, Tiles) {
  Sharding sharding;
  sharding.kind = Sharding::Kind::kTiled;
  sharding.tile_dims = {2, 1};
  sharding.devices = {0, 1};
  EXPECT_EQ(ToText(sharding), "{devices=[2,1]0,1}");
  sharding.devices.clear();
  sharding.iota_dims = {2};
  EXPECT_EQ(ToText(sharding), "{devices=[2,1]<=[2]}");
  sharding.iota_dims = {2, 2};
  sharding.iota_transpose = {1, 0};
  sharding.replicate_last = true;
  sharding.shard_group = "shard_as 3";
  sharding.metadata = {"op_name=\"a\""};
  EXPECT_EQ(ToText(sharding),
            "{devices=[2,1]<=[2,2]T(1,0) last_tile_dim_replicate shard_as 3 "
            "metadata={op_name=\"a\"}}");
  sharding.replicate_last = false;
  sharding.last_tile_dims = {"manual", "replicated"};
  sharding.metadata.emplace_back("op_name=\"b\"");
  EXPECT_EQ(ToText(sharding),
            "{devices=[2,1]<=[2,2]T(1,0) last_tile_dims={manual, replicated} shard_as 3 "
            "metadata={{op_name=\"a\"}, {op_name=\"b\"}}}");
}

TEST(Sharding, Tuples) {
  Sharding sharding;
  sharding.kind = Sharding::Kind::kTuple;
  sharding.elements.resize(6);
  EXPECT_EQ(ToText(sharding),
            "{{replicated}, {replicated}, {replicated}, {replicated}, {replicated}, "
            "/*index=5*/{replicated}}");
}

TEST(Sharding, Meshes) {
  Sharding sharding;
  sharding.kind = Sharding::Kind::kNamed;
  sharding.mesh.axes = {{"x", 2}, {"y", 4}};
  sharding.named = "[{'x'}, {}]";
  EXPECT_EQ(ToText(sharding), "{mesh['x'=2,'y'=4], [{'x'}, {}]}");
  sharding.mesh.device_ids = "[8]T(1,0)";
  EXPECT_EQ(ToText(sharding), "{mesh['x'=2,'y'=4], device_ids=([8]T(1,0)), [{'x'}, {}]}");
}

TEST(Sharding, DeviceGroups) {
  const auto text = [](const DeviceGroups& groups) {
    std::string out;
    AppendDeviceGroups(groups, out);
    return out;
  };
  DeviceGroups lists;
  EXPECT_EQ(text(lists), "{}");
  lists.groups = {{0, 1}, {2, 3}, {}};
  EXPECT_EQ(text(lists), "{{0,1},{2,3},{}}");
  DeviceGroups iota;
  iota.iota_groups = {2, 4};
  iota.iota_dims = {4, 2};
  iota.iota_transpose = {1, 0};
  EXPECT_EQ(text(iota), "[2,4]<=[4,2]T(1,0)");
  DeviceGroups mesh;
  mesh.has_mesh = true;
  mesh.mesh.axes = {{"x", 4}};
  mesh.axes = {{.name = "x"}, {.name = "y", .pre_size = 1, .size = 2}};
  EXPECT_EQ(text(mesh), "mesh['x'=4] {'x','y':(1)2}");
}

}  // namespace
}  // namespace stowplan::hlo
