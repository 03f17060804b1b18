// SPDX-License-Identifier: Apache-2.0
// Mutation testing of the checker: plans of the corpus are spoiled a little, a concrete run of the
// program says whether that does harm, and the checker must say the same.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "check/check.h"
#include "corpus/compilers.h"
#include "corpus/recorded.h"
#include "corpus/report_files.h"
#include "mutate/interpreter.h"
#include "mutate/mutations.h"
#include "stowplan/session.h"

namespace stowplan::mutate {
namespace {

// Mutants of each module; the long test has more.
#ifndef STOWPLAN_MUTANTS
#define STOWPLAN_MUTANTS 8
#endif
constexpr int kMutants = STOWPLAN_MUTANTS;
// Larger modules are left to the long test: each mutant is run four times.
#ifndef STOWPLAN_MUTATED_SIZE
#define STOWPLAN_MUTATED_SIZE 400
#endif
constexpr size_t kMaxInstructions = STOWPLAN_MUTATED_SIZE;

struct Count {
  int64_t caught = 0;
  int64_t missed = 0;
  int64_t quiet = 0;  // harmless, and not called unsound
  int64_t false_alarms = 0;
  int64_t unsure = 0;
  int64_t inconsistent = 0;  // among the harmless ones
};

class MutationTest : public testing::Test {
 protected:
  void MutateModule(const std::string& file) {
    Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value()) << Render(module.error());
    if (module->instructions.size() > kMaxInstructions) {
      ++too_large_;
      return;
    }
    Result<report::Report> report =
        report::ReadAllOf(report::Sibling(file, ".hlo.pb", report::kAssignmentEnding));
    ASSERT_TRUE(report.has_value()) << Render(report.error());
    const Target target = *FindTarget(TargetOf(file));
    // XLA's plan shares what it may share.
    std::set<Sharing> accepted = Judge(*module, *report, target, {}).sharing;
    for (Judgement first = Judge(*module, *report, target, accepted);
         first.opinion == Opinion::kHarmful && first.sharing.size() > accepted.size();) {
      accepted = first.sharing;
      first = Judge(*module, *report, target, accepted);
    }
    const Judgement base = Judge(*module, *report, target, accepted);
    if (base.opinion != Opinion::kHarmless) {
      ++not_run_;
      if (std::getenv("STOWPLAN_SHOW") != nullptr)
        std::cout << "cannot run " << file << ": " << base.reason << "\n";
      return;
    }
    const Result<check::Verdict> before = check::CheckPlan(*module, *report, target);
    ASSERT_TRUE(before.has_value()) << Render(before.error());
    if (!before->is_fine()) {  // the doubt of corpus_check_test
      ++not_fine_;
      return;
    }
    ++modules_;
    Chance chance(std::hash<std::string>()(file.substr(std::string(STOWPLAN_CORPUS_DIR).size())));
    for (const Kind kind : kKinds) {
      for (int k = 0; k < kMutants; ++k) {
        const auto undo = Mutate(kind, chance, *module, *report, words_);
        if (!undo) continue;
        Compare(kind, file, *module, *report, target, accepted);
        (*undo)();
      }
    }
    const Result<check::Verdict> after = check::CheckPlan(*module, *report, target);
    EXPECT_TRUE(after.has_value() && after->is_fine()) << file << " was not restored";
  }

  void Compare(Kind kind, const std::string& file, const hlo::Module& module,
               const report::Report& report, const Target& target,
               const std::set<Sharing>& accepted) {
    Judgement judgement = Judge(module, report, target, accepted);
    const Result<check::Verdict> verdict = check::CheckPlan(module, report, target);
    ASSERT_TRUE(verdict.has_value()) << file;
    // Harm may show on a way that was not taken.
    if (judgement.opinion == Opinion::kHarmless && verdict->is_unsound())
      judgement = Judge(module, report, target, accepted, Effort::kMuch);
    ++mutants_;
    Count& count = counts_[kind];
    const bool is_unsound = verdict->is_unsound();
    const bool is_undecided = !is_unsound && !verdict->doubt.empty();
    if (judgement.opinion == Opinion::kUnsure || is_undecided) {
      ++count.unsure;
      if (std::getenv("STOWPLAN_SHOW") != nullptr)
        std::cout << "not judged (" << Name(kind) << "): " << file << ": "
                  << (is_undecided ? verdict->doubt : judgement.reason) << "\n";
      return;
    }
    const bool is_harmful = judgement.opinion == Opinion::kHarmful;
    if (is_harmful) {
      ++(is_unsound ? count.caught : count.missed);
    } else {
      ++(is_unsound ? count.false_alarms : count.quiet);
      if (!is_unsound && !verdict->is_fine()) ++count.inconsistent;
    }
    if (is_harmful == is_unsound || ++shown_[kind] > 6) return;
    std::cout << (is_harmful ? "missed" : "false alarm") << " (" << Name(kind) << "): " << file
              << "\n  " << judgement.reason << "\n"
              << words_;
    if (is_unsound) std::cout << check::Describe(verdict->findings[0]);
  }

  // None is judged wrongly. The sums are those of docs/check.md, in the row `what`.
  void Finish(const std::string& what) {
    Count all;
    for (const auto& [kind, count] : counts_) {
      EXPECT_EQ(count.missed, 0) << Name(kind);
      EXPECT_EQ(count.false_alarms, 0) << Name(kind);
      all.caught += count.caught;
      all.missed += count.missed;
      all.quiet += count.quiet;
      all.false_alarms += count.false_alarms;
      all.unsure += count.unsure;
    }
    CountRows table = DocTable("check.md",
                               "| mutants | modules | mutants | caught | missed | harmless | false "
                               "alarms | not judged |");
    const CountRow sum = {modules_,  mutants_,         all.caught, all.missed,
                          all.quiet, all.false_alarms, all.unsure};
    EXPECT_EQ(ToText(what, sum), ToText(what, table[what]));
  }

  // Of each kind of mutant: caught, quiet, of these inconsistent, not judged.
  [[nodiscard]] CountRows Kinds() const {
    CountRows rows;
    for (const auto& [kind, count] : counts_)
      rows[std::string(Name(kind))] = {count.caught, count.quiet, count.inconsistent, count.unsure};
    return rows;
  }
  // Those with mutants; too large; not for the interpreter; with a finding of their own.
  [[nodiscard]] CountRows Modules() const {
    return {{"modules", {modules_, too_large_, not_run_, not_fine_}}};
  }

  std::string words_;  // what was changed; said when STOWPLAN_SHOW is set
  std::map<Kind, Count> counts_;
  std::map<Kind, int> shown_;
  int64_t mutants_ = 0;
  int64_t modules_ = 0;
  int64_t too_large_ = 0;
  int64_t not_run_ = 0;   // not for the interpreter
  int64_t not_fine_ = 0;  // with a finding before anything is changed
};

TEST_F(MutationTest, HarmfulMutantsAreUnsoundAndHarmlessOnesAreNot) {
  const char* only = std::getenv("STOWPLAN_ONLY");  // a part of the name
  for (const std::string& file : FilesBelow(STOWPLAN_CORPUS_DIR, ".hlo.pb")) {
    if (only != nullptr && file.find(only) == std::string::npos) continue;
    if (!std::filesystem::exists(report::Sibling(file, ".hlo.pb", report::kAssignmentEnding)))
      continue;
    ASSERT_NO_FATAL_FAILURE(MutateModule(file)) << file;
  }
  if (only != nullptr) return;
  if (kMutants != 8) {
    Finish("long test");
    return;
  }
  Finish("fixed sample");
  ExpectRows(Modules(), {
                            {"modules", {985, 102, 6, 1}},
                        });
  ExpectRows(Kinds(), {
                          {"add an alias", {7359, 75, 0, 0}},
                          {"change a color", {7024, 856, 812, 0}},
                          {"copy to bitcast", {2122, 1177, 799, 13}},
                          {"drop a donation", {1314, 758, 0, 0}},
                          {"move a place", {2838, 780, 0, 67}},
                          {"move a value", {2840, 705, 0, 115}},
                          {"overlap constants", {2583, 172, 0, 0}},
                          {"reorder", {1056, 825, 604, 0}},
                          {"shorten a range", {0, 7880, 0, 0}},
                          {"shrink an allocation", {7823, 2, 0, 0}},
                          {"swap two values", {3287, 2305, 216, 65}},
                      });
}

}  // namespace
}  // namespace stowplan::mutate
