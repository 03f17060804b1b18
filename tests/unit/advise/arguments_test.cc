// SPDX-License-Identifier: Apache-2.0
#include "advise/arguments.h"

#include "unit/advise/advising.h"

namespace stowplan::advise {
namespace {

hlo::Module WithPaths(const std::vector<std::string>& paths) {
  std::string text = "HloModule m, is_scheduled=true\n\nENTRY e {\n";
  std::string operands;
  for (size_t i = 0; i < paths.size(); ++i) {
    const std::string name = "p" + std::to_string(i);
    text += "  " + name + " = f32[] parameter(" + std::to_string(i) + ")";
    if (!paths[i].empty()) text += ", metadata={op_name=\"" + paths[i] + "\"}";
    text += "\n";
    operands += (i == 0 ? "" : ", ") + name;
  }
  std::string shape;
  for (size_t i = 0; i < paths.size(); ++i) shape += i == 0 ? "f32[]" : ", f32[]";
  return ParseProgram(text + "  ROOT t = (" + shape + ") tuple(" + operands + ")\n}\n");
}

TEST(Arguments, AreTreesOfParameters) {
  const std::vector<Argument> arguments =
      ArgumentsOf(WithPaths({"params['w']", "params['b']", "x", "state.mu[0]"}));
  ASSERT_EQ(arguments.size(), 3U);
  EXPECT_EQ(arguments[0].name, "params");
  EXPECT_EQ(arguments[0].parameters, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(arguments[0].paths[1], "params['b']");
  EXPECT_EQ(arguments[2].name, "state");
  EXPECT_EQ(arguments[2].position, 2);
  EXPECT_EQ(DonationSpelling({arguments[0], arguments[2]}), "donate_argnames=('params', 'state')");
  EXPECT_EQ(DonationNumbers({arguments[0]}), "donate_argnums=(0,)");
}

TEST(Arguments, OfStarArgsAreNumbered) {
  const std::vector<Argument> arguments = ArgumentsOf(WithPaths({"args[0]['w']", "args[1]"}));
  ASSERT_EQ(arguments.size(), 2U);
  EXPECT_EQ(arguments[1].name, "args[1]");
  EXPECT_EQ(DonationSpelling({arguments[1]}), "donate_argnums=(1,)");
}

TEST(Arguments, WithoutNamesAreParameters) {
  const std::vector<Argument> arguments = ArgumentsOf(WithPaths({"", ""}));
  ASSERT_EQ(arguments.size(), 2U);
  EXPECT_EQ(DonationSpelling(arguments), "donate_argnums=(0, 1)");
}

TEST(Arguments, TakeNamesThatTheProgramLacks) {
  const std::vector<std::string> names = {"args[0]['w']", "args[2]", "kwargs['x']['a']",
                                          "kwargs['x']['b']", "args[9]"};
  const std::vector<Argument> arguments =
      ArgumentsOf(WithPaths({"", "", "", "", "own['w']"}), names);
  ASSERT_EQ(arguments.size(), 4U);
  EXPECT_EQ(arguments[0].name, "args[0]");
  // JAX left out argument 1, and still says which one this is.
  EXPECT_EQ(arguments[1].position, 2);
  EXPECT_EQ(DonationSpelling({arguments[1]}), "donate_argnums=(2,)");
  EXPECT_EQ(arguments[2].name, "x");
  EXPECT_EQ(arguments[2].paths, (std::vector<std::string>{"x['a']", "x['b']"}));
  EXPECT_EQ(DonationSpelling({arguments[2]}), "donate_argnames=('x',)");
  EXPECT_EQ(arguments[3].name, "own");
}

}  // namespace
}  // namespace stowplan::advise
