// SPDX-License-Identifier: Apache-2.0
#include "session/best_order.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "order/certificate.h"
#include "order/reorder.h"
#include "schedule/make_schedule.h"
#include "session/make_plan.h"
#include "session/try_module.h"

namespace stowplan {
namespace {

// With more instructions than this outside of fusions, the glance would take longer than everything
// else on a page.
constexpr size_t kMostGlanced = 50'000;

// Whether `a` takes less main memory than `best`, and no more fast memory.
bool IsBetter(const PlannedModule& a, const PlannedModule& best, int64_t fast) {
  return BytesIn(a, 0) < BytesIn(best, 0) && (fast < 0 || BytesIn(a, fast) <= BytesIn(best, fast));
}

// The module in an order that is better by one of the objectives; `module` is null without one.
struct Candidate {
  std::shared_ptr<const hlo::Module> module;
  order::ReorderedComputation entry;
  std::string certificate;  // a section for each computation
};
Result<Candidate> FindCandidate(const Prepared& prepared, order::Objective objective,
                                const PlanOptions& options, bool certifies) {
  STOWPLAN_TRY(order::Reordered reordered, order::Reorder(*prepared.module, prepared.setting.rules,
                                                          {.overlap_loss = options.overlap_loss,
                                                           .objective = objective,
                                                           .should_stop = options.should_stop,
                                                           .certifies = certifies}));
  Candidate candidate = {
      .module = nullptr, .entry = reordered.computations.back(), .certificate = {}};
  for (const order::ReorderedComputation& done : reordered.computations)
    candidate.certificate += done.certificate;
  const bool is_changed =
      std::ranges::any_of(reordered.computations, &order::ReorderedComputation::is_changed);
  if (is_changed)
    candidate.module = std::make_shared<const hlo::Module>(std::move(reordered.module));
  return candidate;
}

// The sections of the search. The orders before and after get sections of their own if the search's
// do not cover them: it knows callees only in their new orders, and another objective may have won.
Result<std::string> WriteCertificate(const Prepared& prepared, const PlannedModule& best,
                                     const Candidate& searched, const OrderFacts& facts) {
  const Rules& rules = prepared.setting.rules;
  std::string out(order::kOrderCertificateHead);
  out += searched.certificate;
  if (facts.given_load != searched.entry.given_peak) {
    STOWPLAN_TRY(const std::string section,
                 order::WritePeakSection("before", *prepared.module, *prepared.analysis, rules));
    out += section;
  }
  if (facts.load != searched.entry.peak && best.module != prepared.module) {
    STOWPLAN_TRY(const std::string section,
                 order::WritePeakSection("after", *best.module, *best.analysis, rules));
    out += section;
  }
  out += fmt::format("answer {} {} {}\nend\n", facts.given_load, facts.load, facts.bound);
  return out;
}

// The plan for a different order; absent if none is sound, or if the load exceeds `most_load`.
std::optional<PlannedModule> TryOrder(std::shared_ptr<const hlo::Module> module,
                                      const Prepared& prepared, const PlannedModule& given,
                                      const PlanOptions& options, int64_t most_load) {
  const Rules& rules = prepared.setting.rules;
  const Result<Analysis> analysis = Analyze(*module, rules.analysis);
  if (!analysis || order::FindPeak(*module, *analysis, rules).value_or(most_load + 1) > most_load)
    return std::nullopt;
  return TryModule(std::move(module), prepared.setting, given, options);
}

// Of two orders with about the same load, the simpler one may pack better. Simple orders are
// planned if they keep what must be kept and their load is close to the best.
void TrySimpleOrders(const Prepared& prepared, const PlannedModule& given,
                     const PlanOptions& options, PlannedModule& best, OrderFacts& facts) {
  const Rules& rules = prepared.setting.rules;
  // A new order loses XLA's places in fast memory, and Stowplan's own take more of it.
  if (rules.preset_space >= 0) return;
  for (const Scheduler scheduler : kSchedulers) {
    if (options.should_stop && options.should_stop()) return;
    auto module = std::make_shared<const hlo::Module>(
        WithSchedule(*prepared.module, scheduler, rules.target));
    if (!order::KeepsWhatIsKept(*prepared.module, *module)) continue;
    std::optional<PlannedModule> next =
        TryOrder(module, prepared, given, options, SaturatingAdd(facts.load, facts.load / 100));
    if (!next || !IsBetter(*next, best, rules.preset_space)) continue;
    const Result<int64_t> load = order::FindPeak(*next->module, *next->analysis, rules);
    // The bound does not hold for such an order.
    if (!load || *load < facts.bound) continue;
    best = *std::move(next);
    facts.load = *load;
    facts.lost_overlap = 0;
  }
}

}  // namespace

Result<BestOrder> FindBestOrder(std::string_view lead, const PlannedModule& planned,
                                const PlanOptions& options, bool certifies) {
  PlanOptions in_order = options;
  in_order.scheduler.clear();
  // Several plans will be made, so the first must not use up all the time.
  in_order.searches_on = false;
  STOWPLAN_TRY(const Prepared prepared, Prepare(planned, in_order));
  STOWPLAN_TRY(PlannedModule best, PlanPrepared(lead, planned, prepared, in_order));
  const Rules& rules = prepared.setting.rules;
  STOWPLAN_TRY(const int64_t given_load,
               order::FindPeak(*prepared.module, *prepared.analysis, rules));
  OrderFacts facts = {
      .given_load = given_load, .load = given_load, .given_bytes = BytesIn(best, 0)};
  const PlannedModule given = best;
  Candidate searched;
  for (const order::Objective objective : order::kObjectives) {
    // Whichever order wins, loads and the bound come from the objective that counts everything.
    const bool is_all = objective == order::Objective::kAll;
    STOWPLAN_TRY(Candidate candidate,
                 FindCandidate(prepared, objective, options, certifies && is_all));
    if (is_all) {
      facts.bound = candidate.entry.bound;
      facts.overlap = candidate.entry.overlap;
      if (!candidate.entry.witness.is_none())
        facts.witness = prepared.module->name(candidate.entry.witness);
    }
    if (candidate.module) {
      std::optional<PlannedModule> next =
          TryModule(candidate.module, prepared.setting, given, in_order);
      if (next && IsBetter(*next, best, rules.preset_space)) {
        best = *std::move(next);
        STOWPLAN_TRY(facts.load, order::FindPeak(*best.module, *best.analysis, rules));
        facts.lost_overlap = candidate.entry.lost_overlap;
      }
    }
    if (is_all) searched = std::move(candidate);
  }
  TrySimpleOrders(prepared, given, in_order, best, facts);
  if (best.module != given.module) best.notes = given.notes;
  facts.bytes = BytesIn(best, 0);
  BestOrder found = {.planned = std::move(best), .given_heaps = given.heaps, .certificate = {}};
  if (certifies) {
    STOWPLAN_TRY(found.certificate, WriteCertificate(prepared, found.planned, searched, facts));
  }
  found.planned.order = std::move(facts);
  return found;
}

Result<PlannedModule> PlanInBestOrder(std::string_view lead, const PlannedModule& planned,
                                      const PlanOptions& options) {
  STOWPLAN_TRY(BestOrder found, FindBestOrder(lead, planned, options, false));
  return std::move(found.planned);
}

OrderGlance GlanceAtOrder(const PlannedModule& planned, const PlanOptions& options) {
  if (!planned.module || !IsScheduled(*planned.module)) return {};
  size_t size = 0;
  for (const hlo::Computation& computation : planned.module->computations.rows())
    size += computation.schedule.count;
  if (size > kMostGlanced)
    return {.facts = {},
            .reason = fmt::format(
                "no better order of instructions was looked for: there are {} of them", size)};
  PlanOptions in_order = options;
  in_order.scheduler.clear();
  const Result<Prepared> prepared = Prepare(planned, in_order);
  if (!prepared) return {};
  const Rules& rules = prepared->setting.rules;
  const Result<int64_t> given_load = order::FindPeak(*prepared->module, *prepared->analysis, rules);
  const Result<order::Reordered> reordered = order::Reorder(*prepared->module, rules,
                                                            {.overlap_loss = 0,
                                                             .objective = order::Objective::kAll,
                                                             .should_stop = {},
                                                             .is_quick = true});
  if (!given_load || !reordered) return {};
  const order::ReorderedComputation& entry = reordered->computations.back();
  OrderFacts facts = {.given_load = *given_load,
                      .load = std::min(*given_load, entry.peak),
                      .bound = entry.bound,
                      .overlap = entry.overlap,
                      .lost_overlap = entry.lost_overlap};
  if (!entry.witness.is_none()) facts.witness = prepared->module->name(entry.witness);
  return {.facts = std::move(facts), .reason = {}};
}

}  // namespace stowplan
