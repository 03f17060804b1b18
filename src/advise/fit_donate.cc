// SPDX-License-Identifier: Apache-2.0
#include "advise/fit_donate.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "advise/arguments.h"
#include "advise/donate.h"
#include "base/stable_sort.h"
#include "session/make_plan.h"
#include "session/try_module.h"

namespace stowplan::advise {
namespace {

// With more arguments than this, only donating all of them is tried: each takes two plans.
constexpr size_t kMostTried = 48;

std::vector<int64_t> ParametersOf(std::span<const Argument> arguments) {
  std::vector<int64_t> parameters;
  for (const Argument& argument : arguments)
    parameters.insert(parameters.end(), argument.parameters.begin(), argument.parameters.end());
  return parameters;
}

// The program with some arguments donated, planned and sound.
struct DonatedProgram {
  PlannedModule planned;
  std::vector<Argument> arguments;
  int64_t bytes = 0;
};

class DonationSearch {
 public:
  DonationSearch(const PlannedModule& given, const Prepared& prepared, const PlanOptions& options)
      : given_(given), prepared_(prepared), options_(options) {
    for (const hlo::InputOutputAlias& alias : prepared.module->header.aliases)
      taken_.push_back(alias.parameter);
  }

  // The donations that lower the memory the most. If none does by itself: all of them, if they do
  // not take more, because recomputation can make use of them. Nothing otherwise.
  std::optional<DonatedProgram> Find(std::vector<Argument> arguments) {
    std::erase_if(arguments, [&](const Argument& argument) { return !IsOfUse(argument); });
    std::optional<DonatedProgram> best;
    if (arguments.size() <= kMostTried) best = Try(Greedily(arguments));
    KeepPaired(arguments);
    std::optional<DonatedProgram> all = Try(std::move(arguments));
    const int64_t most = best ? best->bytes - 1 : BytesIn(given_, 0);
    if (all && all->bytes <= most) best = std::move(all);
    return best;
  }

 private:
  // Some output takes one of its parameters, and none is donated already.
  [[nodiscard]] bool IsOfUse(const Argument& argument) const {
    const bool is_taken = std::ranges::any_of(argument.parameters, [&](int64_t parameter) {
      return std::ranges::find(taken_, parameter) != taken_.end();
    });
    return !is_taken &&
           !PairDonations(*prepared_.module, argument.parameters, prepared_.setting.rules.target)
                .pairs.empty();
  }

  // One after the other, what saves the most by itself first: XLA's copies can make a donation cost
  // more than it saves.
  [[nodiscard]] std::vector<Argument> Greedily(std::span<const Argument> arguments) const {
    std::vector<std::pair<int64_t, const Argument*>> ranked;
    for (const Argument& argument : arguments) {
      const std::optional<DonatedProgram> alone = Try({argument});
      if (alone) ranked.emplace_back(alone->bytes, &argument);
    }
    StableSort(ranked, {}, [](const auto& pair) { return pair.first; });
    std::vector<Argument> chosen;
    int64_t least = BytesIn(given_, 0);
    for (const auto& [bytes, argument] : ranked) {
      std::vector<Argument> more = chosen;
      more.push_back(*argument);
      const std::optional<DonatedProgram> next = Try(more);
      if (!next || next->bytes >= least) continue;
      least = next->bytes;
      chosen = std::move(more);
    }
    return chosen;
  }

  // Without those that get no output if all are donated.
  void KeepPaired(std::vector<Argument>& arguments) const {
    const std::vector<DonatedPair> pairs =
        PairDonations(*prepared_.module, ParametersOf(arguments), prepared_.setting.rules.target)
            .pairs;
    std::erase_if(arguments, [&](const Argument& argument) {
      return std::ranges::none_of(argument.parameters, [&](int64_t parameter) {
        return std::ranges::find(pairs, parameter, &DonatedPair::parameter) != pairs.end();
      });
    });
  }

  [[nodiscard]] std::optional<DonatedProgram> Try(std::vector<Argument> arguments) const {
    if (arguments.empty() || (options_.should_stop && options_.should_stop())) return std::nullopt;
    Result<Donated> donated = Donate(*prepared_.module, ParametersOf(arguments), prepared_.setting);
    if (!donated) return std::nullopt;
    std::optional<PlannedModule> plan =
        TryModule(std::make_shared<const hlo::Module>(std::move(donated->module)),
                  prepared_.setting, given_, options_);
    if (!plan) return std::nullopt;
    plan->notes = given_.notes;
    const int64_t bytes = BytesIn(*plan, 0);
    return DonatedProgram{*std::move(plan), std::move(arguments), bytes};
  }

  const PlannedModule& given_;
  const Prepared& prepared_;
  const PlanOptions& options_;
  std::vector<int64_t> taken_;  // parameters that are donated already
};

// Whether a way to run the program is better than another: it fits into the budget for less work,
// or takes less memory.
bool IsBetter(const FitFacts& facts, const FitFacts& than, std::optional<int64_t> budget) {
  const bool do_both_fit = budget && facts.bytes <= *budget && than.bytes <= *budget;
  return do_both_fit ? facts.cost < than.cost : facts.bytes < than.bytes;
}

void AddDonations(const DonatedProgram& program, FitFacts& facts) {
  std::vector<Argument> arguments = program.arguments;
  std::ranges::sort(arguments, {}, &Argument::position);
  for (const Argument& argument : arguments)
    facts.donated.push_back({.name = argument.name, .parameters = argument.parameters});
  facts.donation_spelling = "jax.jit(f, " + DonationSpelling(arguments) + ")";
  facts.donated_bytes = program.bytes;
}

}  // namespace

Result<Fitted> FitWithDonations(const PlannedModule& planned, const FitOptions& options,
                                const std::vector<std::string>& names) {
  if (!options.uses_donation) return Fit(planned, options);
  PlanOptions in_order = options.plan;
  in_order.policy = Policy::kBest;
  in_order.scheduler.clear();
  STOWPLAN_TRY(const PlannedModule given, stowplan::Plan(planned, in_order));
  const int64_t given_bytes = BytesIn(given, 0);
  if (options.budget && given_bytes <= *options.budget) return Fit(planned, options);
  STOWPLAN_TRY(const Prepared prepared, Prepare(given, in_order));
  const std::optional<DonatedProgram> donated =
      DonationSearch(given, prepared, in_order).Find(ArgumentsOf(*prepared.module, names));
  if (!donated) return Fit(planned, options);
  STOWPLAN_TRY(Fitted fitted, Fit(donated->planned, options));
  fitted.facts.given_bytes = given_bytes;
  if (donated->bytes >= given_bytes) {
    // It changes the contract, so it must be of use in the end.
    STOWPLAN_TRY(Fitted kept, Fit(planned, options));
    if (!IsBetter(fitted.facts, kept.facts, options.budget)) return kept;
  }
  AddDonations(*donated, fitted.facts);
  return fitted;
}

}  // namespace stowplan::advise
