// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "unit/proto/proto_bytes.h"
#include "unit/proto/read_proto.h"

namespace stowplan::proto::test {
namespace {

std::string ModuleWithField(InstructionField field, const std::string& message) {
  return One(
      {"x", "add", F32({}), 1, {}, [&](auto& writer) { writer.add_message(field, message); }});
}
std::string AnnotationText(InstructionField field, const std::string& message) {
  constexpr std::string_view kBegin = "%x = f32[] add()";
  const std::string text = RootText(ModuleWithField(field, message));
  return text.substr(std::min(text.size(), kBegin.size() + (text.size() > kBegin.size() ? 2 : 0)));
}

struct Leaf {
  Ints index;
  std::string name;  // empty: no array
  Ints array_index;
};

std::string Origin(const std::vector<Leaf>& leaves) {
  return Bytes<OriginalValueField>([&](auto& value) {
    for (const Leaf& leaf : leaves) {
      value.add_message(
          OriginalValueField::kElements, Bytes<OriginalElementField>([&](auto& element) {
            AddInts(element, OriginalElementField::kShapeIndex, leaf.index);
            if (leaf.name.empty()) return;
            element.add_message(OriginalElementField::kOriginalArray,
                                Bytes<OriginalArrayField>([&](auto& array) {
                                  array.add_string(OriginalArrayField::kInstructionName, leaf.name);
                                  AddInts(array, OriginalArrayField::kShapeIndex, leaf.array_index);
                                }));
          }));
    }
  });
}
std::string OriginText(const std::vector<Leaf>& leaves) {
  return AnnotationText(InstructionField::kOriginalValue, Origin(leaves));
}

TEST(ProtoOrigin, Trees) {
  EXPECT_EQ(OriginText({{{}, "a", {}}}), "origin={{\"a\"}}");
  EXPECT_EQ(OriginText({{{}, "a", {1, 0}}}), "origin={{\"a\" {1,0}}}");
  EXPECT_EQ(OriginText({{{0}, "a", {}}, {{1}, "", {}}}), "origin={({\"a\"}, {})}");
  EXPECT_EQ(OriginText({{{0, 0}, "a", {}}, {{1, 0}, "b", {}}, {{1, 1}, "c", {}}}),
            "origin={(({\"a\"}), ({\"b\"}, {\"c\"}))}");
  // Gaps have no array; order does not matter.
  EXPECT_EQ(OriginText({{{2}, "b", {}}, {{0}, "a", {}}}), "origin={({\"a\"}, {}, {\"b\"})}");
  // XLA takes this for no value.
  EXPECT_EQ(OriginText({{{-1}, "a", {}}}), "");
  EXPECT_EQ(
      AnnotationText(InstructionField::kOriginalValue, Bytes<OriginalValueField>([](auto& value) {
                       value.add_bool(OriginalValueField::kIsSyntheticCall, true);
                     })),
      "origin={[synthetic_call]}");
}

TEST(ProtoOrigin, Hostile) {
  EXPECT_NE(
      Errors(ModuleWithField(InstructionField::kOriginalValue, Origin({{{1LL << 60U}, "a", {}}})))
          .find("lacks most of its elements"),
      std::string::npos);
  EXPECT_EQ(OriginText({{Ints(100'000, 0), "a", {}}}), "");
}

TEST(ProtoAnnotations, Statistics) {
  EXPECT_EQ(AnnotationText(InstructionField::kStatisticsViz, Bytes<StatisticsField>([](auto& viz) {
                             viz.add_int64(StatisticsField::kIndex, 1);
                             for (const char* name : {"a", "b"}) {
                               viz.add_message(StatisticsField::kStatistics,
                                               Bytes<StatisticField>([&](auto& statistic) {
                                                 statistic.add_string(StatisticField::kName, name);
                                                 statistic.add_double(StatisticField::kValue, 33);
                                               }));
                             }
                           })),
            "statistics={visualizing_index=1,a=33,b=33}");
  EXPECT_EQ(AnnotationText(InstructionField::kStatisticsViz, Bytes<StatisticsField>([](auto& viz) {
                             viz.add_int64(StatisticsField::kIndex, 1);
                           })),
            "");
}

TEST(ProtoAnnotations, ResultAccuracy) {
  using F = ResultAccuracyField;
  EXPECT_EQ(AnnotationText(InstructionField::kResultAccuracy,
                           Bytes<F>([](auto& w) { w.add_enum(F::kMode, 0); })),
            "");
  EXPECT_EQ(AnnotationText(InstructionField::kResultAccuracy,
                           Bytes<F>([](auto& w) { w.add_enum(F::kMode, 1); })),
            "result_accuracy={mode=highest}");
  EXPECT_EQ(AnnotationText(InstructionField::kResultAccuracy, Bytes<F>([](auto& w) {
                             w.add_message(F::kTolerance, Bytes<ToleranceField>([](auto& t) {
                                             t.add_double(ToleranceField::kRtol, 0.4);
                                             t.add_int64(ToleranceField::kUlps, 2);
                                           }));
                           })),
            "result_accuracy={tolerance={atol=0,rtol=0.4,ulps=2}}");
}

}  // namespace
}  // namespace stowplan::proto::test
