// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "unit/proto/proto_bytes.h"
#include "unit/proto/read_proto.h"

namespace stowplan::proto::test {
namespace {

using hlo::ElementType;
using FillLiteral = std::function<void(Writer<LiteralField>&)>;

std::string Literal(const std::string& shape, const FillLiteral& fill) {
  return Bytes<LiteralField>([&](auto& writer) {
    writer.add_message(LiteralField::kShape, shape);
    if (fill) fill(writer);
  });
}

std::string ConstantModule(const std::string& shape, const std::string& literal) {
  return One({"c", "constant", shape, 1, {}, [&](auto& writer) {
                writer.add_message(InstructionField::kLiteral, literal);
              }});
}

// What stands in constant(...).
std::string Constant(ElementType type, const Ints& dims, const FillLiteral& fill) {
  const std::string shape = Array(type, dims);
  const std::string text = RootText(ConstantModule(shape, Literal(shape, fill)));
  constexpr std::string_view kBegin = "constant(";
  const size_t at = text.find(kBegin);
  return at == std::string::npos
             ? text
             : text.substr(at + kBegin.size(), text.size() - at - kBegin.size() - 1);
}

FillLiteral Raw(LiteralField field, std::string bytes) {
  return [field, bytes](auto& writer) { writer.add_bytes(field, bytes); };
}

TEST(ProtoLiteral, Integers) {
  const auto ints = [](LiteralField field, const Ints& numbers) {
    return [=](Writer<LiteralField>& writer) { AddInts(writer, field, numbers); };
  };
  EXPECT_EQ(Constant(ElementType::kS32, {}, ints(LiteralField::kS32s, {-5})), "-5");
  EXPECT_EQ(Constant(ElementType::kS64, {2}, ints(LiteralField::kS64s, {INT64_MIN, INT64_MAX})),
            "{-9223372036854775808, 9223372036854775807}");
  EXPECT_EQ(Constant(ElementType::kU32, {1}, ints(LiteralField::kU32s, {4294967295})),
            "{4294967295}");
  EXPECT_EQ(Constant(ElementType::kU64, {1}, ints(LiteralField::kU64s, {-1})),
            "{18446744073709551615}");
  EXPECT_EQ(Constant(ElementType::kS8, {2}, Raw(LiteralField::kS8s, "\xff\x7f")), "{-1, 127}");
  EXPECT_EQ(Constant(ElementType::kU8, {2}, Raw(LiteralField::kU8s, "\xff\x7f")), "{255, 127}");
  EXPECT_EQ(Constant(ElementType::kS16, {1}, Raw(LiteralField::kS16s, "\xfe\xff")), "{-2}");
  EXPECT_EQ(Constant(ElementType::kU16, {1}, Raw(LiteralField::kU16s, "\xfe\xff")), "{65534}");
  EXPECT_EQ(Constant(ElementType::kPred, {}, ints(LiteralField::kPreds, {1})), "true");
  EXPECT_EQ(Constant(ElementType::kPred, {2}, ints(LiteralField::kPreds, {0, 1})), "{0, 1}");
}

// A byte each in newer versions of XLA, packed in older ones.
TEST(ProtoLiteral, SmallIntegers) {
  EXPECT_EQ(Constant(ElementType::kS4, {3}, Raw(LiteralField::kS4s, "\xff\x07\xf8")),
            "{-1, 7, -8}");
  EXPECT_EQ(Constant(ElementType::kS4, {3}, Raw(LiteralField::kS4s, "\x7f\x08")), "{-1, 7, -8}");
  EXPECT_EQ(Constant(ElementType::kU4, {2}, Raw(LiteralField::kU4s, "\xf1")), "{1, 15}");
  EXPECT_EQ(Constant(ElementType::kS2, {4}, Raw(LiteralField::kS2s, "\xe4")), "{0, 1, -2, -1}");
  EXPECT_EQ(Constant(ElementType::kU2, {4}, Raw(LiteralField::kU2s, "\xe4")), "{0, 1, 2, 3}");
  EXPECT_EQ(Constant(ElementType::kU1, {3}, Raw(LiteralField::kU1s, "\x05")), "{1, 0, 1}");
  EXPECT_EQ(Constant(ElementType::kS1, {3}, Raw(LiteralField::kS1s, "\x05")), "{-1, 0, -1}");
}

TEST(ProtoLiteral, Floats) {
  const auto f32 = [](LiteralField field, const std::vector<float>& numbers) {
    return [=](Writer<LiteralField>& writer) {
      writer.add_packed_float(field, numbers.begin(), numbers.end());
    };
  };
  const auto f64 = [](LiteralField field, const std::vector<double>& numbers) {
    return [=](Writer<LiteralField>& writer) {
      writer.add_packed_double(field, numbers.begin(), numbers.end());
    };
  };
  EXPECT_EQ(Constant(ElementType::kF32, {2}, f32(LiteralField::kF32s, {1, 0.1F})), "{1, 0.1}");
  EXPECT_EQ(Constant(ElementType::kF64, {}, f64(LiteralField::kF64s, {0.1})), "0.1");
  EXPECT_EQ(Constant(ElementType::kC64, {2}, f32(LiteralField::kC64s, {1, 2, 3, -4})),
            "{(1, 2), (3, -4)}");
  EXPECT_EQ(Constant(ElementType::kC128, {}, f64(LiteralField::kC128s, {1, 0.5})), "(1, 0.5)");
  EXPECT_EQ(Constant(ElementType::kF16, {1}, Raw(LiteralField::kF16s, std::string("\x00\x3c", 2))),
            "{1}");
  EXPECT_EQ(Constant(ElementType::kBf16, {1}, Raw(LiteralField::kBf16s, "\x80\x3f")), "{1}");
}

TEST(ProtoLiteral, TinyFloats) {
  const auto one = [](ElementType type, LiteralField field, char bits) {
    return Constant(type, {}, Raw(field, std::string(1, bits)));
  };
  EXPECT_EQ(one(ElementType::kF8e5m2, LiteralField::kF8e5m2s, 0x3c), "1");
  EXPECT_EQ(one(ElementType::kF8e4m3, LiteralField::kF8e4m3s, 0x38), "1");
  EXPECT_EQ(one(ElementType::kF8e4m3fn, LiteralField::kF8e4m3fns, 0x38), "1");
  EXPECT_EQ(one(ElementType::kF8e4m3b11fnuz, LiteralField::kF8e4m3b11fnuzs, 0x58), "1");
  EXPECT_EQ(one(ElementType::kF8e4m3fnuz, LiteralField::kF8e4m3fnuzs, 0x40), "1");
  EXPECT_EQ(one(ElementType::kF8e5m2fnuz, LiteralField::kF8e5m2fnuzs, 0x40), "1");
  EXPECT_EQ(one(ElementType::kF8e3m4, LiteralField::kF8e3m4s, 0x30), "1");
  EXPECT_EQ(one(ElementType::kF8e8m0fnu, LiteralField::kF8e8m0fnus, 0x7f), "1");
  EXPECT_EQ(one(ElementType::kF4e2m1fn, LiteralField::kF4e2m1fns, 0x2), "1");
  EXPECT_EQ(one(ElementType::kF6e3m2fn, LiteralField::kF6e3m2fns, 0xc), "1");
  EXPECT_EQ(one(ElementType::kF6e2m3fn, LiteralField::kF6e2m3fns, 0x8), "1");
  EXPECT_EQ(Constant(ElementType::kF6e2m3fn, {4}, Raw(LiteralField::kF6e2m3fns, "\x08\x82\x20")),
            "{1, 1, 1, 1}");
}

TEST(ProtoLiteral, Nesting) {
  const auto bytes = [](size_t count) {
    std::string numbers;
    for (size_t i = 0; i < count; ++i) numbers += static_cast<char>(i);
    return Raw(LiteralField::kU8s, numbers);
  };
  EXPECT_EQ(Constant(ElementType::kU8, {2, 2}, bytes(4)), "{ { 0, 1 }, { 2, 3 } }");
  EXPECT_EQ(Constant(ElementType::kU8, {2, 1}, bytes(2)), "{ {0}, {1} }");
  EXPECT_EQ(Constant(ElementType::kU8, {1, 2, 1, 2}, bytes(4)),
            "{ { /*i0=0*/ { /*i1=0*/ { 0, 1 } }, { /*i1=1*/ { 2, 3 } } } }");
  EXPECT_EQ(Constant(ElementType::kU8, {0}, {}), "{}");
  EXPECT_EQ(Constant(ElementType::kU8, {2, 0}, {}), "{ {}, {} }");
  EXPECT_EQ(Constant(ElementType::kU8, {10}, bytes(10)), "{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}");
  EXPECT_EQ(Constant(ElementType::kU8, {11}, bytes(11)), "{...}");
  EXPECT_EQ(Constant(ElementType::kU8, {1'000'000'000'000, 0}, {}), "{...}");
  EXPECT_EQ(Constant(ElementType::kU8, {1LL << 40U, 1LL << 40U}, {}), "{...}");
}

// Elements lie in memory as the literal's own layout says, whatever the instruction's.
TEST(ProtoLiteral, ColumnMajor) {
  const std::string shape = Bytes<ShapeField>([](auto& writer) {
    writer.add_enum(ShapeField::kElementType, static_cast<int32_t>(ElementType::kU8));
    AddInts(writer, ShapeField::kDimensions, {2, 3});
    writer.add_message(ShapeField::kLayout, Bytes<LayoutField>([](auto& layout) {
                         AddInts(layout, LayoutField::kMinorToMajor, {0, 1});
                       }));
  });
  const std::string literal = Literal(shape, Raw(LiteralField::kU8s, "\x01\x02\x03\x04\x05\x06"));
  EXPECT_EQ(RootText(ConstantModule(Array(ElementType::kU8, {2, 3}), literal)),
            "%c = u8[2,3]{1,0} constant({ { 1, 3, 5 }, { 2, 4, 6 } })");
}

TEST(ProtoLiteral, TuplesAndMissingLiterals) {
  const std::string tuple = Tuple({F32({})});
  EXPECT_EQ(RootText(ConstantModule(tuple, Literal(tuple, {}))), "%c = (f32[]) constant({...})");
  EXPECT_EQ(RootText(One({"c", "constant", F32({2}), 1, {}, {}})),
            "%c = f32[2]{0} constant({...})");
}

TEST(ProtoLiteral, OfACustomCall) {
  const std::string tuple = Tuple({Array(ElementType::kU8, {2}), Array(ElementType::kPred, {})});
  const std::string literal = Literal(tuple, [](auto& writer) {
    writer.add_message(LiteralField::kTupleLiterals,
                       Literal(Array(ElementType::kU8, {2}), Raw(LiteralField::kU8s, "\x07\x08")));
    writer.add_message(LiteralField::kTupleLiterals,
                       Literal(Array(ElementType::kPred, {}),
                               [](auto& pred) { AddInts(pred, LiteralField::kPreds, {1}); }));
  });
  EXPECT_EQ(RootText(One({"c",
                          "custom-call",
                          F32({}),
                          1,
                          {},
                          [&](auto& writer) {
                            writer.add_message(InstructionField::kLiteral, literal);
                            writer.add_string(InstructionField::kCustomCallTarget, "f");
                            writer.add_enum(InstructionField::kCustomCallApiVersion, 1);
                          }})),
            "%c = f32[] custom-call(), custom_call_target=\"f\", literal=( u8[2]{0} {7, 8}, pred[] "
            "true )");
}

TEST(ProtoLiteral, Errors) {
  const std::string path = "computations[0].instructions[0].literal: ";
  const std::string shape = Array(ElementType::kU8, {3});
  EXPECT_EQ(Errors(ConstantModule(shape, Literal(shape, Raw(LiteralField::kU8s, "\x01\x02")))),
            path + "the literal has 2 elements, but its shape 3\n");
  EXPECT_EQ(Errors(ConstantModule(shape, Literal(F32({3}), {}))),
            path + "the literal's shape is not the instruction's\n");
  std::string deep = Literal(Tuple({}), {});
  for (int i = 0; i < 100; ++i) {
    deep = Literal(Tuple({}),
                   [&](auto& writer) { writer.add_message(LiteralField::kTupleLiterals, deep); });
  }
  const std::string call = One({"c", "custom-call", F32({}), 1, {}, [&](auto& writer) {
                                  writer.add_message(InstructionField::kLiteral, deep);
                                }});
  EXPECT_NE(Errors(call).find("tuple literals nest more than 64 deep"), std::string::npos);
}

}  // namespace
}  // namespace stowplan::proto::test
