// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "base/human_bytes.h"
#include "session/check.h"
#include "session/make_plan.h"
#include "session/note.h"
#include "stowplan/session.h"

namespace stowplan {
namespace {

// Values whose places in fast memory are unknown.
void NotePreset(const Prepared& prepared, const Assignment& assignment,
                const std::optional<Preset>& preset, const PlanOptions& options,
                Diagnostics& notes) {
  const int64_t space = prepared.setting.rules.preset_space;
  if (space < 0 || preset) return;
  int64_t count = 0;
  for (size_t v = 0; v < assignment.places.size(); ++v) {
    if (!assignment.places[v].allocation.is_none() && assignment.colors[v] == space &&
        prepared.analysis->live.ranges[v].exists())
      ++count;
  }
  if (count == 0) return;
  notes.push_back(
      Note(fmt::format("it is not known where XLA put the {} values in memory space {}, so "
                       "Stowplan placed them itself",
                       count, space),
           OptionText(options.speech, "preset", "REPORT") + " gives XLA's places"));
}

// A given plan should equal the one that follows from the rules. If it does not, the release was
// guessed wrong.
void NoteOtherPlan(const PlannedModule& given, const PlannedModule& made,
                   const PlanOptions& options, Diagnostics& notes) {
  std::map<int64_t, int64_t> temporaries;  // by memory space
  for (const report::Allocation& allocation : given.report->allocations.rows()) {
    if (!allocation.is_temp()) continue;
    int64_t& sum = temporaries[allocation.color];
    sum = CheckedAdd(sum, allocation.size).value_or(INT64_MAX);
  }
  for (const BestHeap& heap : made.heaps) {
    const int64_t bytes = temporaries[heap.color];
    if (bytes == heap.xla_bytes) continue;
    notes.push_back(
        Note(fmt::format("the temporaries of memory space {} take {} in the given plan, but {} by "
                         "the rules of {}",
                         heap.color, HumanAndExactBytes(bytes), HumanAndExactBytes(heap.xla_bytes),
                         made.release),
             OptionText(options.speech, "xla-version") + " names a different release"));
  }
}

}  // namespace

std::string_view Name(Origin origin) {
  switch (origin) {
    case Origin::kGiven:
      return "given";
    case Origin::kXla:
      return "xla";
    case Origin::kBest:
      break;
  }
  return "best";
}

Result<PlannedModule> PlanSaying(std::string_view lead, const PlannedModule& planned,
                                 const PlanOptions& options) {
  if (options.scheduler == kBestOrder) return PlanInBestOrder(lead, planned, options);
  STOWPLAN_TRY(Prepared prepared, Prepare(planned, options));
  return PlanPrepared(lead, planned, std::move(prepared), options);
}

Result<PlannedModule> PlanPrepared(std::string_view lead, const PlannedModule& planned,
                                   Prepared prepared, const PlanOptions& options) {
  const auto fail = [&](Diagnostics errors) {
    Append(std::move(prepared.overwrites), prepared.notes);
    return FailAfter(std::move(prepared.notes), std::move(errors));
  };
  Result<std::optional<Preset>> preset = FindPreset(prepared, planned, options);
  if (!preset) return fail(std::move(preset).error());
  Result<MadePlan> made =
      MakePlan(*prepared.module, *prepared.analysis, prepared.setting, *preset, options);
  if (!made) return fail(std::move(made).error());
  PlannedModule result = {.name = planned.name,
                          .module = prepared.module,
                          .report = std::make_shared<const report::Report>(std::move(made->report)),
                          .origin = options.policy == Policy::kBest ? Origin::kBest : Origin::kXla,
                          .verdict = {},
                          .target = prepared.setting.rules.target,
                          .release = prepared.setting.release,
                          .heaps = std::move(made->heaps),
                          .sources = {},
                          .analysis = prepared.analysis,
                          .notes = {}};
  const Setting& setting = prepared.setting;
  const bool is_chosen = options.target.empty() || options.release.empty() || options.has_stats;
  if (!lead.empty()) {
    result.notes.push_back(Note(fmt::format("{}: {}", lead, setting.words), setting.hint));
  } else if (is_chosen && !planned.report) {
    result.notes.push_back(Note(setting.words, setting.hint));
  }
  Append(std::move(prepared.notes), result.notes);
  NotePreset(prepared, made->assignment, *preset, options, result.notes);
  if (planned.report && !planned.is_made()) NoteOtherPlan(planned, result, options, result.notes);
  STOWPLAN_TRY(PlannedModule checked,
               LetOut(std::move(result), prepared, made->assignment, options));
  if (options.on_stage) options.on_stage("check");
  return checked;
}

Result<PlannedModule> Plan(const PlannedModule& planned, const PlanOptions& options) {
  return PlanSaying({}, planned, options);
}

Result<PlannedModule> Plan(hlo::Module module, const PlanOptions& options) {
  PlannedModule planned;
  planned.name = module.source ? std::filesystem::path(module.source->name()).filename().string()
                               : std::string(module.view(module.header.name));
  planned.module = std::make_shared<const hlo::Module>(std::move(module));
  return Plan(planned, options);
}

}  // namespace stowplan
