// SPDX-License-Identifier: Apache-2.0
// Modules that no reader made.
#include "stowplan/hlo/module_builder.h"

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hlo/print.h"

namespace stowplan::hlo {
namespace {

// Instructions of one shape, one after the other.
class Sketch {
 public:
  Sketch() : shape_(b.module().shapes.AddArray(ElementType::kF32, {}, {}, {})) {}

  InstrId Add(std::string_view name, Opcode opcode, const std::vector<InstrId>& operands = {},
              const std::vector<Attribute>& attributes = {}) {
    Instruction head;
    head.name = b.AddText(name);
    head.shape = shape_;
    head.opcode = opcode;
    return b.AddInstruction(head, operands, attributes);
  }
  InstrId Parameter(std::string_view name, int64_t number) {
    return Add(name, Opcode::kParameter, {},
               {Attribute::OfNumber(AttributeKey::kParameterNumber, number)});
  }
  // A computation of one parameter.
  CompId Identity(std::string_view name) {
    const CompId id = b.BeginComputation(b.AddText(name));
    Parameter("p." + std::string(name), 0);
    b.EndComputation({});
    return id;
  }

  ModuleBuilder b{nullptr, Format::kText};

 private:
  ShapeId shape_;
};

TEST(ModuleBuilder, MakesAModuleFromNothing) {
  Sketch sketch;
  sketch.b.module().header.name = sketch.b.AddText("m");
  const CompId entry = sketch.b.BeginComputation(sketch.b.AddText("main"));
  const InstrId p = sketch.Parameter("p", 0);
  const InstrId add = sketch.Add("add", Opcode::kAdd, {p, p});
  sketch.Add("mul", Opcode::kMultiply, {add, p});
  sketch.b.EndComputation({});
  const Module module = std::move(sketch.b).Build(entry);
  EXPECT_EQ(ToString(module),
            "HloModule m\n\nENTRY %main (p: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n"
            "  %add = f32[] add(%p, %p)\n  ROOT %mul = f32[] multiply(%add, %p)\n}\n\n");
}

TEST(ModuleBuilder, TextsOfTheSourceAreNotCopied) {
  const auto source = Source::FromBytes("s", "abc def");
  ModuleBuilder builder(source, Format::kText);
  const Text def = builder.ToText(source->bytes().substr(4));
  EXPECT_EQ(def.offset, 4U);
  EXPECT_EQ(builder.module().view(def), "def");
  EXPECT_TRUE(builder.module().made_texts.empty());
  const std::string elsewhere = "ghi";
  const Text ghi = builder.ToText(elsewhere);
  const Text jk = builder.AddText("jk");
  EXPECT_EQ(builder.module().view(ghi), "ghi");
  EXPECT_EQ(builder.module().view(jk), "jk");
  EXPECT_EQ(builder.module().view(Text{}), "");
  EXPECT_EQ(builder.module().view(builder.AddText("")), "");
}

TEST(ModuleBuilder, AttributesAreSorted) {
  Sketch sketch;
  sketch.b.BeginComputation(sketch.b.AddText("c"));
  const Attribute config = Attribute::OfText(AttributeKey::kBackendConfig, sketch.b.AddText("x"));
  const Attribute stable = Attribute::OfNumber(AttributeKey::kIsStable, 1);
  const std::array<int64_t, 1> zero = {0};
  const Attribute dims = Attribute::OfRows(AttributeKey::kDimensions, sketch.b.AddInts(zero));
  const InstrId id = sketch.Add("s", Opcode::kSort, {}, {config, stable, dims});
  sketch.b.EndComputation({});
  const auto attributes = sketch.b.module().attributes_of(id);
  ASSERT_EQ(attributes.size(), 3U);
  EXPECT_EQ(attributes[0].key, AttributeKey::kDimensions);
  EXPECT_EQ(attributes[1].key, AttributeKey::kIsStable);
  EXPECT_EQ(attributes[2].key, AttributeKey::kBackendConfig);
  EXPECT_EQ(sketch.b.module().NumberOr(id, AttributeKey::kIsStable, 0), 1);
  EXPECT_EQ(sketch.b.module().NumberOr(id, AttributeKey::kIndex, 7), 7);
  EXPECT_EQ(sketch.b.module().FindAttribute(id, AttributeKey::kIndex), nullptr);
}

TEST(ModuleBuilder, CalledComputationsAreTakenFromAttributes) {
  Sketch sketch;
  const CompId body = sketch.Identity("body");
  const CompId condition = sketch.Identity("condition");
  const CompId entry = sketch.b.BeginComputation(sketch.b.AddText("main"));
  const InstrId p = sketch.Parameter("p", 0);
  const auto call = [](AttributeKey key, CompId id) { return Attribute::OfNumber(key, id.index); };
  // The body comes first, whatever the order of the attributes.
  const InstrId one =
      sketch.Add("one", Opcode::kWhile, {p},
                 {call(AttributeKey::kCondition, condition), call(AttributeKey::kBody, body)});
  const InstrId two =
      sketch.Add("two", Opcode::kWhile, {p},
                 {call(AttributeKey::kBody, body), call(AttributeKey::kCondition, condition)});
  const std::array both = {condition, body};
  const InstrId three = sketch.Add(
      "three", Opcode::kConditional, {p},
      {Attribute::OfRows(AttributeKey::kBranchComputations, sketch.b.AddComputations(both))});
  sketch.b.EndComputation({});
  const Module module = std::move(sketch.b).Build(entry);
  const auto called = [&](InstrId id) {
    const auto ids = module.called_by(id);
    return std::vector<CompId>(ids.begin(), ids.end());
  };
  EXPECT_EQ(called(p), std::vector<CompId>());
  EXPECT_EQ(called(one), (std::vector{body, condition}));
  EXPECT_EQ(called(two), (std::vector{body, condition}));
  EXPECT_EQ(called(three), (std::vector{condition, body}));
}

TEST(ModuleBuilder, ParametersAreInTheOrderOfTheirNumbers) {
  Sketch sketch;
  const CompId entry = sketch.b.BeginComputation(sketch.b.AddText("main"));
  const InstrId two = sketch.Parameter("two", 2);
  const InstrId zero = sketch.Parameter("zero", 0);
  const InstrId one = sketch.Parameter("one", 1);
  sketch.b.EndComputation(zero);
  const Module module = std::move(sketch.b).Build(entry);
  const auto parameters = module.parameters_of(entry);
  EXPECT_EQ(std::vector(parameters.begin(), parameters.end()), (std::vector{zero, one, two}));
  EXPECT_EQ(module.computations[entry].root, zero);
  EXPECT_EQ(module.computations[entry].count, 3U);
}

}  // namespace
}  // namespace stowplan::hlo
