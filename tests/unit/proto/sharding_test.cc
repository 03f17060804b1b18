// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "unit/proto/proto_bytes.h"
#include "unit/proto/read_proto.h"

namespace stowplan::proto::test {
namespace {

using F = ShardingField;
using Fill = std::function<void(Writer<F>&)>;

std::string Op(const Fill& fill) { return Bytes<F>(fill); }

std::string ModuleWith(const std::string& sharding, const std::string& shape = F32({4})) {
  return One({"x", "add", shape, 1, {}, [&](auto& writer) {
                writer.add_message(InstructionField::kSharding, sharding);
              }});
}

// What stands behind sharding=.
std::string ShardingText(const std::string& sharding, const std::string& shape = F32({4})) {
  const std::string text = RootText(ModuleWith(sharding, shape));
  constexpr std::string_view kBegin = "sharding=";
  const size_t at = text.find(kBegin);
  return at == std::string::npos ? text : text.substr(at + kBegin.size());
}

Fill Type(int32_t type, const Fill& more = {}) {
  return [=](auto& writer) {
    writer.add_enum(F::kType, type);
    if (more) more(writer);
  };
}

TEST(ProtoSharding, Words) {
  EXPECT_EQ(ShardingText(""), "{replicated}");
  EXPECT_EQ(ShardingText(Op(Type(4))), "{manual}");
  EXPECT_EQ(ShardingText(Op(Type(5))), "{unknown}");
  EXPECT_EQ(ShardingText(Op(Type(6))), "{unreduced}");
  EXPECT_EQ(ShardingText(Op(Type(1, [](auto& w) { AddInts(w, F::kTileAssignmentDevices, {3}); }))),
            "{maximal device=3}");
}

TEST(ProtoSharding, Tiled) {
  EXPECT_EQ(ShardingText(Op(Type(3,
                                 [](auto& w) {
                                   AddInts(w, F::kTileAssignmentDimensions, {2, 1});
                                   AddInts(w, F::kTileAssignmentDevices, {1, 0});
                                 }))),
            "{devices=[2,1]1,0}");
  EXPECT_EQ(ShardingText(Op(Type(3,
                                 [](auto& w) {
                                   AddInts(w, F::kTileAssignmentDimensions, {2, 2});
                                   AddInts(w, F::kIotaReshapeDims, {4});
                                   AddInts(w, F::kIotaTransposePerm, {0});
                                   w.add_bool(F::kReplicateOnLastTileDim, true);
                                   w.add_bool(F::kIsShardGroup, true);
                                   w.add_int64(F::kShardGroupId, 7);
                                   w.add_enum(F::kShardGroupType, 1);
                                 }))),
            "{devices=[2,2]<=[4] last_tile_dim_replicate shard_like 7}");
  EXPECT_EQ(ShardingText(Op(Type(3,
                                 [](auto& w) {
                                   AddInts(w, F::kTileAssignmentDimensions, {1, 2, 2});
                                   AddInts(w, F::kIotaReshapeDims, {2, 2});
                                   AddInts(w, F::kIotaTransposePerm, {1, 0});
                                   AddInts(w, F::kLastTileDims, {4, 0});
                                   w.add_message(F::kMetadata,
                                                 Bytes<MetadataField>([](auto& metadata) {
                                                   metadata.add_string(MetadataField::kOpName, "a");
                                                 }));
                                 }))),
            "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual, replicated} "
            "metadata={op_name=\"a\"}}");
  // One device is no tiling.
  EXPECT_EQ(ShardingText(Op(Type(3,
                                 [](auto& w) {
                                   AddInts(w, F::kTileAssignmentDimensions, {1});
                                   AddInts(w, F::kTileAssignmentDevices, {0});
                                 }))),
            "{replicated}");
}

TEST(ProtoSharding, Tuples) {
  const std::string tuple = Tuple({F32({4}), Tuple({F32({4}), F32({4})})});
  EXPECT_EQ(ShardingText(Op(Type(2,
                                 [](auto& w) {
                                   for (int32_t type : {0, 4, 0})
                                     w.add_message(F::kTupleShardings, Op(Type(type)));
                                 })),
                         tuple),
            "{{replicated}, {manual}, {replicated}}");
  // XLA gives each leaf the one sharding there is.
  EXPECT_EQ(ShardingText(Op(Type(4)), tuple), "{{manual}, {manual}, {manual}}");
  EXPECT_EQ(ShardingText(Op(Type(4)), Tuple({})), "{{manual}}");
  EXPECT_EQ(ShardingText("", Tuple(std::vector<std::string>(6, F32({})))),
            "{{replicated}, {replicated}, {replicated}, {replicated}, {replicated}, "
            "/*index=5*/{replicated}}");
}

TEST(ProtoSharding, Named) {
  const auto axis_ref = [](int64_t index, int64_t pre_size = 0, int64_t size = 0) {
    return Bytes<AxisRefField>([=](auto& w) {
      w.add_int64(AxisRefField::kMeshAxisIndex, index);
      if (size == 0) return;
      w.add_message(AxisRefField::kSubAxisInfo, Bytes<SubAxisField>([=](auto& part) {
                      part.add_int64(SubAxisField::kPreSize, pre_size);
                      part.add_int64(SubAxisField::kSize, size);
                    }));
    });
  };
  const std::string mesh = Bytes<MeshField>([](auto& w) {
    const auto axis = [&](const std::string& name, int64_t size) {
      w.add_message(MeshField::kAxes, Bytes<MeshAxisField>([&](auto& a) {
                      a.add_string(MeshAxisField::kName, name);
                      a.add_int64(MeshAxisField::kSize, size);
                    }));
    };
    axis("x", 8);
    axis("y", 2);
  });
  using N = NamedShardingField;
  const auto named = [&](const std::function<void(Writer<N>&)>& fill) {
    return Op([&](auto& w) {
      w.add_message(F::kNamedSharding, Bytes<N>([&](auto& n) {
                      // Axes may come before the mesh that they belong to.
                      fill(n);
                      n.add_message(N::kMesh, mesh);
                    }));
    });
  };
  EXPECT_EQ(ShardingText(named([](auto&) {})), "{mesh['x'=8,'y'=2], replicated}");
  EXPECT_EQ(ShardingText(named([&](auto& n) {
              n.add_message(N::kDimShardings, Bytes<DimensionShardingField>([&](auto& d) {
                              d.add_message(DimensionShardingField::kAxes, axis_ref(0, 2, 4));
                              d.add_message(DimensionShardingField::kAxes, axis_ref(1));
                            }));
              n.add_message(N::kDimShardings, Bytes<DimensionShardingField>([](auto& d) {
                              d.add_bool(DimensionShardingField::kIsClosed, true);
                            }));
              n.add_message(N::kReplicatedAxes, axis_ref(0));
            })),
            "{mesh['x'=8,'y'=2], [{'x':(2)4, 'y', ?}, {}], replicated={'x'}}");
  EXPECT_EQ(ShardingText(named([&](auto& n) {
              n.add_message(N::kUnreducedAxes, axis_ref(0));
              n.add_message(N::kUnreducedAxes, axis_ref(1));
            })),
            "{mesh['x'=8,'y'=2], unreduced}");
  EXPECT_NE(Errors(ModuleWith(named([&](auto& n) {
              n.add_message(N::kManualAxes, axis_ref(9));
            }))).find("the mesh has no axis 9"),
            std::string::npos);
}

TEST(ProtoSharding, Hostile) {
  std::string deep = Op(Type(2));
  for (int i = 0; i < 100; ++i)
    deep = Op(Type(2, [&](auto& w) { w.add_message(F::kTupleShardings, deep); }));
  EXPECT_NE(Errors(ModuleWith(deep)).find("tuple shardings nest more than 8 deep"),
            std::string::npos);
  EXPECT_NE(Errors(ModuleWith(Op(Type(77)))).find("unknown sharding type 77"), std::string::npos);
  // A long sharding for each of many leaves.
  const std::string wide = Tuple(std::vector<std::string>(20'000, F32({})));
  const std::string devices = Op(Type(3, [](auto& w) {
    AddInts(w, F::kTileAssignmentDimensions, {20'000});
    AddInts(w, F::kTileAssignmentDevices, Ints(20'000, 1));
  }));
  EXPECT_NE(Errors(ModuleWith(devices, wide)).find("the sharding is too large"), std::string::npos);
}

}  // namespace
}  // namespace stowplan::proto::test
