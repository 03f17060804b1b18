// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "order/reorder.h"
#include "session/make_plan.h"
#include "session/note.h"

namespace stowplan {
namespace {

int64_t BytesIn(const PlannedModule& planned, int64_t color) {
  int64_t sum = 0;
  for (const report::Allocation& allocation : planned.report->allocations.rows()) {
    if (allocation.color == color) sum = SaturatingAdd(sum, allocation.size);
  }
  return sum;
}

// Smaller in the main memory by what is worth a change, and in the fast one no larger.
bool IsBetter(const PlannedModule& a, const PlannedModule& b, int64_t fast) {
  const int64_t bytes = BytesIn(b, 0);
  return BytesIn(a, 0) < bytes - bytes / 1024 && (fast < 0 || BytesIn(a, fast) <= BytesIn(b, fast));
}

// The module in an order that is better by one objective; null if there is none.
struct Candidate {
  std::shared_ptr<const hlo::Module> module;
  order::ReorderedComputation entry;
};
Result<Candidate> FindCandidate(const Prepared& prepared, order::Objective objective,
                                const PlanOptions& options) {
  STOWPLAN_TRY(order::Reordered reordered, order::Reorder(*prepared.module, prepared.setting.rules,
                                                          {.overlap_loss = options.overlap_loss,
                                                           .objective = objective,
                                                           .should_stop = options.should_stop}));
  Candidate candidate = {.module = nullptr, .entry = reordered.computations.back()};
  const bool is_changed =
      std::ranges::any_of(reordered.computations, &order::ReorderedComputation::is_changed);
  if (is_changed)
    candidate.module = std::make_shared<const hlo::Module>(std::move(reordered.module));
  return candidate;
}

// The plan for the candidate; nothing if there is no sound one.
std::optional<PlannedModule> TryCandidate(const Candidate& candidate, const Prepared& prepared,
                                          const PlannedModule& given, const PlanOptions& options) {
  Result<Analysis> analysis = Analyze(*candidate.module, prepared.setting.rules.analysis);
  if (!analysis) return std::nullopt;
  const Prepared next = {.module = candidate.module,
                         .setting = prepared.setting,
                         .analysis = std::make_shared<const Analysis>(*std::move(analysis)),
                         .notes = {}};
  // XLA's places in fast memory belong to XLA's order.
  const PlannedModule program = {.name = given.name,
                                 .module = candidate.module,
                                 .report = nullptr,
                                 .origin = Origin::kGiven,
                                 .verdict = {},
                                 .target = given.target,
                                 .release = given.release};
  PlanOptions strict = options;
  strict.preset.clear();
  strict.allow_unsound = false;
  strict.allow_unchecked = false;
  Result<PlannedModule> plan = PlanPrepared({}, program, next, strict);
  if (!plan) return std::nullopt;
  return *std::move(plan);
}

}  // namespace

Result<PlannedModule> PlanInBestOrder(std::string_view lead, const PlannedModule& planned,
                                      const PlanOptions& options) {
  PlanOptions in_order = options;
  in_order.scheduler.clear();
  STOWPLAN_TRY(const Prepared prepared, Prepare(planned, in_order));
  STOWPLAN_TRY(PlannedModule best, PlanPrepared(lead, planned, prepared, in_order));
  const int64_t fast = prepared.setting.rules.preset_space;
  OrderFacts facts = {.given_bytes = BytesIn(best, 0)};
  const PlannedModule given = best;
  for (const order::Objective objective : order::kObjectives) {
    STOWPLAN_TRY(const Candidate candidate, FindCandidate(prepared, objective, options));
    // What is said about loads and the bound is about all that counts, whichever order wins.
    if (objective == order::Objective::kAll) {
      facts.given_load = facts.load = candidate.entry.given_peak;
      facts.bound = candidate.entry.bound;
      facts.overlap = candidate.entry.overlap;
      if (!candidate.entry.witness.is_none())
        facts.witness = prepared.module->name(candidate.entry.witness);
    }
    if (!candidate.module) continue;
    std::optional<PlannedModule> next = TryCandidate(candidate, prepared, given, options);
    if (!next || !IsBetter(*next, best, fast)) continue;
    best = *std::move(next);
    STOWPLAN_TRY(facts.load, order::FindPeak(*best.module, *best.analysis, prepared.setting.rules));
    facts.lost_overlap = candidate.entry.lost_overlap;
  }
  if (best.module != given.module) best.notes = given.notes;
  facts.bytes = BytesIn(best, 0);
  best.order = std::move(facts);
  return best;
}

}  // namespace stowplan
