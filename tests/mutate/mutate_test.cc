// SPDX-License-Identifier: Apache-2.0
// Mutation testing of the checker: plans of the corpus are spoiled a little, a concrete run of the
// program says whether that does harm, and the checker must say the same.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "check/check.h"
#include "corpus/compilers.h"
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
    if (!module || module->instructions.size() > kMaxInstructions) return;
    Result<report::Report> report =
        report::ReadAllOf(report::Sibling(file, ".hlo.pb", report::kAssignmentEnding));
    if (!report) return;
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
    if (!before.has_value() || !before->is_fine()) return;  // the finding of corpus_check_test
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
    if (judgement.opinion == Opinion::kHarmless && !verdict->is_sound())
      judgement = Judge(module, report, target, accepted, Effort::kMuch);
    ++mutants_;
    Count& count = counts_[kind];
    if (judgement.opinion == Opinion::kUnsure) {
      ++count.unsure;
      return;
    }
    const bool is_harmful = judgement.opinion == Opinion::kHarmful;
    const bool is_unsound = !verdict->is_sound();
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

  void Finish() {
    std::cout << fmt::format("{:22}{:>9}{:>9}{:>9}{:>14}{:>9}{:>14}\n", "mutation", "caught",
                             "missed", "quiet", "false alarms", "unsure", "inconsistent");
    for (const auto& [kind, count] : counts_) {
      std::cout << fmt::format("{:22}{:>9}{:>9}{:>9}{:>14}{:>9}{:>14}\n", Name(kind), count.caught,
                               count.missed, count.quiet, count.false_alarms, count.unsure,
                               count.inconsistent);
      EXPECT_EQ(count.missed, 0) << Name(kind);
      EXPECT_EQ(count.false_alarms, 0) << Name(kind);
    }
    std::cout << mutants_ << " mutants of " << modules_ << " modules; " << not_run_
              << " modules are not for the interpreter\n";
  }

  std::string words_;  // what was changed; said when STOWPLAN_SHOW is set
  std::map<Kind, Count> counts_;
  std::map<Kind, int> shown_;
  int64_t mutants_ = 0;
  int64_t modules_ = 0;
  int64_t not_run_ = 0;
};

TEST_F(MutationTest, HarmfulMutantsAreUnsoundAndHarmlessOnesAreNot) {
  const char* only = std::getenv("STOWPLAN_ONLY");  // a part of the name
  for (const std::string& file : FilesBelow(STOWPLAN_CORPUS_DIR, ".hlo.pb")) {
    if (only != nullptr && file.find(only) == std::string::npos) continue;
    if (std::filesystem::exists(report::Sibling(file, ".hlo.pb", report::kAssignmentEnding)))
      MutateModule(file);
  }
  Finish();
}

}  // namespace
}  // namespace stowplan::mutate
