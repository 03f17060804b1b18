// SPDX-License-Identifier: Apache-2.0
// Donation as predicted from the program without it, against what JAX and XLA made of it: the pairs
// of dumps below explain/donate.
#include "advise/donate.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "advise/advice.h"
#include "corpus/compilers.h"
#include "corpus/recorded.h"
#include "hlo/rewriter.h"
#include "stowplan/session.h"

namespace stowplan::advise {
namespace {

// The little of JSON that meta.json needs: numbers behind keys.
class Meta {
 public:
  explicit Meta(const std::filesystem::path& file) {
    std::ifstream in(file);
    text_.assign(std::istreambuf_iterator<char>(in), {});
  }
  // The number behind the next `key` from `at` on; moves `at` behind it. False when there is none.
  bool Next(const std::string& key, size_t& at, int64_t& number) const {
    const size_t found = text_.find("\"" + key + "\":", at);
    if (found == std::string::npos) return false;
    at = found + key.size() + 3;
    number = std::stoll(text_.substr(text_.find_first_of("-0123456789", at), 20));
    return true;
  }
  [[nodiscard]] size_t Find(const std::string& key) const { return text_.find("\"" + key + "\":"); }
  // The numbers between the brackets behind `key`.
  [[nodiscard]] std::vector<int64_t> List(const std::string& key) const {
    std::vector<int64_t> numbers;
    const size_t begin = text_.find('[', Find(key));
    const size_t end = text_.find(']', begin);
    for (size_t i = text_.find_first_of("0123456789", begin); i < end;
         i = text_.find_first_of("0123456789", i)) {
      size_t length = 0;
      numbers.push_back(std::stoll(text_.substr(i, 20), &length));
      i += length;
    }
    return numbers;
  }

 private:
  std::string text_;
};

struct Told {
  int64_t temp = 0;
  int64_t argument = 0;
  int64_t output = 0;
  int64_t alias = 0;
  friend bool operator==(const Told&, const Told&) = default;
};
std::ostream& operator<<(std::ostream& out, const Told& told) {
  return out << "temp " << told.temp << ", argument " << told.argument << ", output " << told.output
             << ", alias " << told.alias;
}

Told ToldBy(const Meta& meta, const std::string& side) {
  Told told;
  for (auto [key, field] : {std::pair{"temp", &told.temp},
                            {"argument", &told.argument},
                            {"output", &told.output},
                            {"alias", &told.alias}}) {
    size_t at = meta.Find(side);
    EXPECT_TRUE(meta.Next(key, at, *field));
  }
  return told;
}
Told Of(const Figures& figures) {
  return {figures.temp, figures.argument, figures.output, figures.alias};
}

std::vector<int64_t> DonatedParameters(const Meta& meta) {
  const std::vector<int64_t> arguments = meta.List("donate_argnums");
  std::vector<int64_t> parameters;
  size_t at = meta.Find("parameters");
  for (int64_t number = 0, argument = 0;
       meta.Next("number", at, number) && meta.Next("argnum", at, argument);) {
    if (std::ranges::find(arguments, argument) != arguments.end()) parameters.push_back(number);
  }
  return parameters;
}

Setting SettingOf(const std::string& file) {
  return {RulesOf(*FindTarget(TargetOf(file)), VersionOf(file)),
          *report::FindReportStyle(VersionOf(file))};
}

// What is predicted; without a pair, nothing changes.
Result<Figures> Predict(const hlo::Module& module, const std::vector<int64_t>& parameters,
                        const Setting& setting, bool must_be_sound = true) {
  if (PairDonations(module, parameters, setting.rules.target).pairs.empty()) {
    STOWPLAN_TRY(const Plan plan, PlanOf(module, setting, std::nullopt));
    return plan.figures;
  }
  STOWPLAN_TRY(const Donated donated, Donate(module, parameters, setting));
  STOWPLAN_TRY(const Plan plan, PlanOf(donated.module, setting, std::nullopt));
  if (must_be_sound) {
    EXPECT_EQ(WhyUnsound(donated.module, plan.tried.made, setting), "");
  }
  return plan.figures;
}

// Of `donate`, whose arguments are those that the program names.
std::vector<int64_t> ParametersOf(const hlo::Module& module, const Meta& meta) {
  std::vector<int64_t> parameters;
  const std::vector<int64_t> donated = meta.List("donate_argnums");
  for (const Argument& argument : ArgumentsOf(module)) {
    if (std::ranges::find(donated, argument.position) == donated.end()) continue;
    parameters.insert(parameters.end(), argument.parameters.begin(), argument.parameters.end());
  }
  return parameters;
}

std::vector<std::string> Befores(std::string_view ending) {
  std::vector<std::string> files =
      FilesBelow(std::string(STOWPLAN_CORPUS_DIR) + "/explain/donate", ending);
  std::erase_if(files, [](const std::string& file) {
    return std::filesystem::path(file).parent_path().filename() != "before";
  });
  return files;
}

// As predicted, and all: the figures of docs/advice.md.
void ExpectInDocs(const std::string& what, const CountRow& counted) {
  CountRows table = DocTable("advice.md", "| programs | as predicted | what |");
  EXPECT_EQ(ToText(what, counted), ToText(what, table[what]));
}

void CompareAll(std::string_view ending) {
  int equal = 0;
  int saving = 0;
  std::vector<std::string> differing;
  const std::vector<std::string> files = Befores(ending);
  for (const std::string& file : files) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path().parent_path();
    const Meta meta(folder / "meta.json");
    const Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value()) << file;
    const Setting setting = SettingOf(file);
    const Result<Plan> before = PlanOf(*module, setting, std::nullopt);
    ASSERT_TRUE(before.has_value()) << file << Render(before.error());
    EXPECT_EQ(Of(before->figures), ToldBy(meta, "before")) << file;
    const Result<Figures> after = Predict(*module, DonatedParameters(meta), setting);
    ASSERT_TRUE(after.has_value()) << file << Render(after.error());
    if (Of(*after) == ToldBy(meta, "after")) {
      ++equal;
      saving += after->alias > 0 ? 1 : 0;
    } else {
      differing.push_back(folder.filename().string());
      std::cout << differing.back() << ": predicted " << Of(*after) << "; XLA "
                << ToldBy(meta, "after") << "\n";
    }
  }
  EXPECT_EQ(differing, std::vector<std::string>());
  EXPECT_EQ(saving, 23);  // with an alias
  ExpectInDocs("corpus/explain/donate", {equal, std::ssize(files)});
}

// Many small programs, each with several sets of donated arguments. In which order XLA keeps the
// users of a value stands in no file, so one or the other schedule is not foreseen.
TEST(CorpusDonate, SmallProgramsArePredicted) {
  int64_t equal = 0;
  std::vector<std::string> differing;
  const std::vector<std::string> files =
      FilesBelow(std::string(STOWPLAN_CORPUS_DIR) + "/donate", "before.txt");
  for (const std::string& file : files) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    const Meta meta(folder / "meta.json");
    const Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value()) << file;
    const Setting setting = {RulesOf(*FindTarget("cpu"), "jaxlib-0.10.2"),
                             *report::FindReportStyle("jaxlib-0.10.2")};
    const Result<Plan> before = PlanOf(*module, setting, std::nullopt);
    ASSERT_TRUE(before.has_value()) << file << Render(before.error());
    EXPECT_EQ(Of(before->figures), ToldBy(meta, "before")) << file;
    const Result<Figures> after = Predict(*module, ParametersOf(*module, meta), setting);
    ASSERT_TRUE(after.has_value()) << file << Render(after.error());
    const bool is_equal = Of(*after) == ToldBy(meta, "after");
    equal += is_equal ? 1 : 0;
    if (!is_equal) differing.push_back(folder.filename().string());
    if (!is_equal)
      std::cout << folder.filename().string() << ": predicted " << Of(*after) << "; XLA "
                << ToldBy(meta, "after") << "\n";
  }
  EXPECT_EQ(differing, std::vector<std::string>{"scalar_state_012"});
  ExpectInDocs("corpus/donate", {equal, std::ssize(files)});
}

// Programs that donate, without their donations: given again, they must be what XLA made of them.
// Only the CPU compiler's way is known through to the end.
TEST(CorpusDonate, IsTheSameWhenTakenAwayAndGivenAgain) {
  CountRows rows;  // equal, all
  for (const std::string& file : CorpusProtos()) {
    const Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value()) << file;
    if (module->header.aliases.empty()) continue;
    const Setting setting = SettingOf(file);
    const Result<Plan> given = PlanOf(*module, setting, std::nullopt);
    ASSERT_TRUE(given.has_value()) << file;
    std::vector<int64_t> parameters;
    for (const hlo::InputOutputAlias& alias : module->header.aliases)
      parameters.push_back(alias.parameter);
    hlo::Rewriter rewriter(*module);
    rewriter.header().aliases.clear();
    const hlo::Module taken = rewriter.Build();
    // Places in a TPU's fast memory are Stowplan's own here, and not always sound.
    const bool is_sound = WhyUnsound(*module, given->tried.made, setting).empty();
    const Result<Figures> again = Predict(taken, parameters, setting, is_sound);
    ASSERT_TRUE(again.has_value()) << file << Render(again.error());
    rows[ArchiveOf(file)] += {Of(*again) == Of(given->figures) ? 1 : 0, 1};
  }
  ExpectInDocs("cpu", rows["cpu"] += rows["cpu11"]);
  ExpectInDocs("gpu", rows["gpu"] += rows["scale"]);
  ExpectInDocs("tpu", rows["tpu"]);
  EXPECT_EQ(rows.size(), 5U);
}

TEST(CorpusDonate, TextsArePredicted) { CompareAll("after_optimizations.txt"); }
TEST(CorpusDonate, ProtosArePredicted) { CompareAll("after_optimizations.hlo.pb"); }

}  // namespace
}  // namespace stowplan::advise
