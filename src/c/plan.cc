// SPDX-License-Identifier: Apache-2.0
#include "c/plan.h"

#include <utility>

#include "c/guard.h"
#include "report/summary.h"

namespace c = stowplan::c;
using stowplan::PlannedModule;
using stowplan::PlanOptions;

namespace {

std::vector<stowplan_space> SpacesOf(const PlannedModule& planned) {
  std::vector<stowplan_space> spaces;
  if (!planned.report->has_assignment) return spaces;
  const stowplan::Result<stowplan::report::Summary> summary =
      stowplan::report::Summarize(*planned.report);
  if (!summary) return spaces;
  for (const stowplan::report::SpaceTotal& space : summary->spaces) {
    int64_t temporaries = 0;
    for (const stowplan::report::KindTotal& kind : space.kinds) {
      if (kind.kind == stowplan::report::AllocationKind::kTemporary) temporaries = kind.bytes;
    }
    spaces.push_back({.size = sizeof(stowplan_space),
                      .color = space.color,
                      .bytes = space.bytes,
                      .temporary_bytes = temporaries,
                      .peak_bytes = space.peak ? space.peak->bytes : -1});
  }
  return spaces;
}

std::vector<stowplan_heap> HeapsOf(const PlannedModule& planned) {
  std::vector<stowplan_heap> heaps;
  heaps.reserve(planned.heaps.size());
  for (const stowplan::BestHeap& heap : planned.heaps) {
    heaps.push_back({.size = sizeof(stowplan_heap),
                     .color = heap.color,
                     .xla_bytes = heap.xla_bytes,
                     .bytes = heap.bytes,
                     .bound = heap.bound,
                     .floor = heap.floor});
  }
  return heaps;
}

stowplan_plan HandleOf(PlannedModule planned) {
  stowplan_plan plan;
  if (planned.target) plan.target = planned.target->name;
  plan.notes = c::MessagesOf(planned.notes);
  plan.findings.reserve(planned.verdict.findings.size());
  for (const stowplan::check::Finding& finding : planned.verdict.findings)
    plan.findings.push_back(Describe(finding));
  plan.spaces = SpacesOf(planned);
  plan.heaps = HeapsOf(planned);
  plan.planned = std::move(planned);
  return plan;
}

// Hands out what `make` returns, which gets `from` and the options.
template <class From, class Make>
stowplan_status HandOut(const char* name, const From* from, const stowplan_plan_options* options,
                        stowplan_plan** plan, stowplan_messages** errors, Make make) {
  return c::Guard(errors, [&] {
    if (plan != nullptr) *plan = nullptr;
    if (from == nullptr || plan == nullptr)
      return c::FailMisuse(errors, std::string(name) + ": an argument is NULL");
    stowplan::Result<PlannedModule> made =
        make(*from, options == nullptr ? PlanOptions{} : options->options);
    if (!made) return c::Fail(errors, std::move(made).error());
    *plan = new stowplan_plan(HandleOf(*std::move(made)));
    return STOWPLAN_OK;
  });
}

}  // namespace

stowplan_status stowplan_plan_load(const stowplan_inputs* inputs,
                                   const stowplan_plan_options* options, stowplan_plan** plan,
                                   stowplan_messages** errors) {
  return HandOut("stowplan_plan_load", inputs, options, plan, errors,
                 [](const stowplan_inputs& from, const PlanOptions& how) {
                   return stowplan::LoadOne(from.inputs, how);
                 });
}

stowplan_status stowplan_plan_make(const stowplan_plan* old, const stowplan_plan_options* options,
                                   stowplan_plan** plan, stowplan_messages** errors) {
  return HandOut("stowplan_plan_make", old, options, plan, errors,
                 [](const stowplan_plan& from, const PlanOptions& how) {
                   return stowplan::Plan(from.planned, how);
                 });
}

stowplan_status stowplan_plan_check(const stowplan_plan* old, const stowplan_plan_options* options,
                                    stowplan_plan** plan, stowplan_messages** errors) {
  return HandOut("stowplan_plan_check", old, options, plan, errors,
                 [](const stowplan_plan& from, const PlanOptions& how) {
                   return stowplan::Check(from.planned, how);
                 });
}

void stowplan_plan_free(stowplan_plan* plan) { delete plan; }

const char* stowplan_plan_name(const stowplan_plan* plan) {
  return plan == nullptr ? nullptr : plan->planned.name.c_str();
}

const char* stowplan_plan_target(const stowplan_plan* plan) {
  return plan == nullptr ? nullptr : plan->target.c_str();
}

const char* stowplan_plan_release(const stowplan_plan* plan) {
  return plan == nullptr ? nullptr : plan->planned.release.c_str();
}

const stowplan_messages* stowplan_plan_notes(const stowplan_plan* plan) {
  return plan == nullptr ? nullptr : &plan->notes;
}

stowplan_origin stowplan_plan_origin(const stowplan_plan* plan) {
  if (plan == nullptr) return STOWPLAN_ORIGIN_GIVEN;
  switch (plan->planned.origin) {
    case stowplan::Origin::kGiven:
      return STOWPLAN_ORIGIN_GIVEN;
    case stowplan::Origin::kXla:
      return STOWPLAN_ORIGIN_XLA;
    case stowplan::Origin::kBest:
      break;
  }
  return STOWPLAN_ORIGIN_BEST;
}

stowplan_soundness stowplan_plan_soundness(const stowplan_plan* plan) {
  if (plan == nullptr) return STOWPLAN_UNCHECKED;
  switch (plan->planned.verdict.soundness) {
    case stowplan::Soundness::kSound:
      return STOWPLAN_SOUND;
    case stowplan::Soundness::kUnsound:
      return STOWPLAN_UNSOUND;
    case stowplan::Soundness::kUnchecked:
      break;
  }
  return STOWPLAN_UNCHECKED;
}

const char* stowplan_plan_unchecked_reason(const stowplan_plan* plan) {
  if (plan == nullptr) return nullptr;
  const bool is_unchecked = stowplan_plan_soundness(plan) == STOWPLAN_UNCHECKED;
  return is_unchecked ? plan->planned.verdict.reason.c_str() : "";
}

size_t stowplan_plan_finding_count(const stowplan_plan* plan) {
  return plan == nullptr ? 0 : plan->findings.size();
}

const char* stowplan_plan_finding(const stowplan_plan* plan, size_t k) {
  return k < stowplan_plan_finding_count(plan) ? plan->findings[k].c_str() : nullptr;
}

size_t stowplan_plan_space_count(const stowplan_plan* plan) {
  return plan == nullptr ? 0 : plan->spaces.size();
}

stowplan_status stowplan_plan_get_space(const stowplan_plan* plan, size_t k,
                                        stowplan_space* space) {
  if (k >= stowplan_plan_space_count(plan)) return STOWPLAN_MISUSE;
  return c::Fill(plan->spaces[k], space);
}

size_t stowplan_plan_heap_count(const stowplan_plan* plan) {
  return plan == nullptr ? 0 : plan->heaps.size();
}

stowplan_status stowplan_plan_get_heap(const stowplan_plan* plan, size_t k, stowplan_heap* heap) {
  if (k >= stowplan_plan_heap_count(plan)) return STOWPLAN_MISUSE;
  return c::Fill(plan->heaps[k], heap);
}
