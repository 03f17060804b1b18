// SPDX-License-Identifier: Apache-2.0
#include "session/fit_lines.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "session/fit_uses.h"

namespace stowplan {
namespace {

std::string Parts(const std::vector<std::string>& op_names) { return PartsOf(op_names); }

TEST(FitLines, NamesLayersAsTheProgramDoes) {
  EXPECT_EQ(Parts({"jit(f)/layer_3/dot", "jit(f)/layer_4/dot", "jit(f)/layer_5/exp"}),
            "layers 3 to 5");
  EXPECT_EQ(Parts({"jit(f)/jvp(layer_3)/dot", "jit(f)/transpose(jvp(layer_7))/dot"}),
            "layers 3 and 7");
  EXPECT_EQ(Parts({"jit(f)/layers_2/dot"}), "layer 2");
  EXPECT_EQ(Parts({"f/Block_0/a/dot", "f/Block_1/a/dot", "f/Block_2/a/dot", "f/Block_9/a/dot"}),
            "Block_0 to Block_2 and Block_9");
}

TEST(FitLines, InventsNoLayers) {
  EXPECT_EQ(Parts({}), "");
  EXPECT_EQ(Parts({"jit(f)/dot", "jit(f)/exp"}), "");
  EXPECT_EQ(Parts({"jit(f)/while/body/dot"}), "");
  // The last part is the operation.
  EXPECT_EQ(Parts({"jit(f)/relu6", "jit(f)/relu7"}), "");
  EXPECT_EQ(Parts({"jit(f)/encoder/layer_1/dot", "jit(f)/decoder/layer_2/dot"}), "");
  EXPECT_EQ(Parts({"jit(f)/layer_1/dot", "dot"}), "");
  EXPECT_EQ(Parts({"jit(f)/layer_99999999999999999999/dot"}), "");
}

TEST(FitLines, ANumberThatNeverChangesIsNotALayer) {
  EXPECT_EQ(Parts({"net_v2/layer_1/dot", "net_v2/layer_2/dot"}), "layers 1 and 2");
  EXPECT_EQ(Parts({"net_v2/dot", "net_v2/dot"}), "net_v2");
}

TEST(FitLines, AreGroupedBySource) {
  const std::vector<FitRepeat> repeats = {
      {.instruction = "fusion.1",
       .source = "a.py:7",
       .function = "mlp",
       .op_name = "f/layer_0/exp",
       .times = 1,
       .bytes = 10,
       .freed = 10,
       .cost = 0.25},
      {.instruction = "dot.4",
       .source = "a.py:9",
       .function = "mlp",
       .op_name = "f/layer_0/dot",
       .times = 2,
       .bytes = 100,
       .freed = 50,
       .cost = 0.5},
      {.instruction = "fusion.2",
       .source = "a.py:7",
       .function = "mlp",
       .op_name = "f/layer_1/exp",
       .times = 1,
       .bytes = 10,
       .freed = 0,
       .cost = 0.25},
      {.instruction = "copy.3", .times = 1, .bytes = 5, .freed = 0, .cost = 0.125},
      // Without a line, what is done counts; the op_name of an argument does not say it.
      {.instruction = "fusion.5", .op_name = "f/transpose", .times = 1, .bytes = 2},
      {.instruction = "fusion.6", .op_name = "f/transpose", .times = 1, .bytes = 2},
      {.instruction = "copy.9", .op_name = "params['w']", .times = 1, .bytes = 3},
  };
  const std::vector<FitLine> lines = LinesOf(repeats);
  ASSERT_EQ(lines.size(), 5);
  EXPECT_EQ(lines[0].source, "a.py:9");
  EXPECT_EQ(lines[0].parts, "layer 0");
  EXPECT_EQ(lines[1].source, "a.py:7");
  EXPECT_EQ(lines[1].operations, "exp");
  EXPECT_EQ(lines[1].parts, "layers 0 and 1");
  EXPECT_EQ(lines[1].instructions, 2);
  EXPECT_EQ(lines[1].bytes, 20);
  EXPECT_EQ(lines[1].freed, 10);
  EXPECT_EQ(lines[1].cost, 0.5);
  EXPECT_EQ(lines[1].function, "mlp");
  EXPECT_EQ(lines[2].source, "");
  EXPECT_EQ(lines[2].operations, "copy.3");
  EXPECT_EQ(lines[3].operations, "transpose");
  EXPECT_EQ(lines[3].instructions, 2);
  EXPECT_EQ(lines[4].operations, "copy.9");
}

TEST(FitLines, PointsAreSpreadOverTheMemory) {
  std::vector<FitPoint> curve;
  for (int64_t i = 0; i <= 1000; ++i)
    curve.push_back({.cost = static_cast<double>(i), .bytes = 5000 - i});
  const std::vector<size_t> rows = SpreadPoints(curve, 10);
  EXPECT_EQ(rows.size(), 11);
  EXPECT_EQ(rows.front(), 0);
  EXPECT_EQ(rows.back(), 1000);
  EXPECT_EQ(SpreadPoints({}, 10).size(), 0);
  EXPECT_EQ(SpreadPoints(std::span(curve).first(1), 10).size(), 1);
  EXPECT_EQ(SpreadPoints(std::span(curve).first(3), 10).size(), 3);
}

TEST(FitUses, AreWords) {
  FitOptions options;
  EXPECT_EQ(ReadUses("pack", options), std::nullopt);
  EXPECT_FALSE(options.uses_order || options.uses_recompute || options.uses_donation);
  EXPECT_EQ(ReadUses("recompute,donate", options), std::nullopt);
  EXPECT_TRUE(options.uses_recompute && options.uses_donation && !options.uses_order);
  EXPECT_EQ(ReadUses("order,offload", options), "offload");
  EXPECT_EQ(ReadUses("", options), "");
  EXPECT_EQ(ReadUses("pack,,order", options), "");
}

TEST(FitUses, RatesHaveUnits) {
  EXPECT_EQ(ParseRate("495T"), 495e12);
  EXPECT_EQ(ParseRate("3.5G"), 3.5e9);
  EXPECT_EQ(ParseRate("2e12"), 2e12);
  for (const char* wrong : {"", "T", "0", "-1", "nan", "inf", "1e400", "1TB", "1 T", "x"})
    EXPECT_EQ(ParseRate(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace stowplan
