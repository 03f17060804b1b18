// SPDX-License-Identifier: Apache-2.0
#include "session/make_plan.h"

#include <utility>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "best/best.h"
#include "hlo/verify.h"
#include "live/choose_schedule.h"
#include "live/overwrites.h"
#include "report/from_proto.h"
#include "report/read.h"
#include "schedule/make_schedule.h"
#include "session/note.h"
#include "target/transfer_flags.h"

namespace stowplan {
namespace {

// One such place is enough to point to.
constexpr size_t kMaxOverwrites = 3;

void Done(const PlanOptions& options, std::string_view stage) {
  if (options.on_stage) options.on_stage(stage);
}

// The module with the requested schedule, by default the one with the lowest peak.
Result<hlo::Module> Scheduled(const hlo::Module& module, const Rules& rules,
                              const PlanOptions& options, Diagnostics& notes) {
  STOWPLAN_TRY(ScheduleChoice choice, ChooseSchedule(module, rules.target, rules.analysis,
                                                     FindScheduler(options.scheduler)));
  if (options.scheduler.empty()) {
    notes.push_back(Note(
        fmt::format("the module has no schedule, so it is planned in the order `{}`",
                    Name(choice.scheduler)),
        options.speech == Speech::kCommandLine ? "`stowplan assign --schedule=KIND` sets it" : ""));
  }
  if (options.has_stats) {
    for (const ScheduleChoice::Peak& peak : choice.peaks)
      notes.push_back(Note(fmt::format("schedule {}: peak {} ({})", Name(peak.scheduler),
                                       HumanBytes(peak.bytes), peak.bytes)));
  }
  return std::move(choice.module);
}

// The report at `path`: a report file, or the assignment inside a .hlo.pb.
Result<report::Report> ReadPresetReport(const std::string& path) {
  STOWPLAN_TRY(const std::shared_ptr<const Source> source, ReadSource(path));
  if (report::KindOf(*source) != report::FileKind::kUnknown) {
    const std::shared_ptr<const Source> sources[] = {source};
    return report::ReadReport(sources);
  }
  STOWPLAN_TRY(const hlo::Module module, ParseModule(source));
  return report::ReportFromModule(module);
}

}  // namespace

Result<Prepared> Prepare(const PlannedModule& planned, const PlanOptions& options) {
  if (!planned.module)
    return Fail(
        "stowplan",
        fmt::format("planning needs the program of `{}`, but there is only its plan", planned.name),
        "give the module's text or .hlo.pb with the report, or a dump directory; "
        "XLA_FLAGS=--xla_dump_hlo_as_text makes XLA write it");
  const hlo::Module& given = *planned.module;
  if (Diagnostics complaints = hlo::Verify(given); !complaints.empty())
    return std::unexpected(std::move(complaints));
  Done(options, "verify");
  PlanOptions wanted = options;
  const bool is_told = !options.target.empty();
  if (!is_told && planned.is_made() && planned.target) wanted.target = planned.target->name;
  if (wanted.release.empty()) wanted.release = planned.release;
  Prepared prepared;
  STOWPLAN_TRY(prepared.setting,
               Settle({.module = &given, .report = planned.report.get()}, wanted));
  const Rules& rules = prepared.setting.rules;
  if (!options.preset.empty() && rules.preset_space < 0)
    return Fail("stowplan", fmt::format("{} is for TPUs with fast memory, not for {}",
                                        OptionText(options.speech, "preset"), rules.target.name));
  if (!options.scheduler.empty() && !FindScheduler(options.scheduler))
    return Fail("stowplan", fmt::format("there is no schedule `{}`", options.scheduler),
                "one of best, post-order, depth-first, list");
  prepared.module = planned.module;
  if (NeedsTransferFlags(given, rules.target))
    prepared.module = std::make_shared<const hlo::Module>(WithTransferFlags(given, rules.target));
  if (!options.scheduler.empty() || !IsScheduled(*prepared.module)) {
    STOWPLAN_TRY(hlo::Module scheduled,
                 Scheduled(*prepared.module, rules, options, prepared.notes));
    prepared.module = std::make_shared<const hlo::Module>(std::move(scheduled));
    Done(options, "scheduling");
  }
  const bool is_analyzed = planned.analysis && prepared.module == planned.module;
  if (is_analyzed && planned.release == prepared.setting.release) {
    prepared.analysis = planned.analysis;
    return prepared;
  }
  STOWPLAN_TRY(Analysis analysis, Analyze(*prepared.module, rules.analysis, options.on_stage));
  prepared.overwrites = FindOverwrites(*prepared.module, analysis.calls, analysis.schedule,
                                       analysis.flow, analysis.buffers);
  if (prepared.overwrites.size() > kMaxOverwrites) prepared.overwrites.resize(kMaxOverwrites);
  prepared.analysis = std::make_shared<const Analysis>(std::move(analysis));
  return prepared;
}

Result<std::optional<Preset>> FindPreset(const Prepared& prepared, const PlannedModule& planned,
                                         const PlanOptions& options) {
  const int64_t space = prepared.setting.rules.preset_space;
  if (space < 0) return std::nullopt;
  const hlo::Module& module = *prepared.module;
  if (!options.preset.empty()) {
    STOWPLAN_TRY(const report::Report report, ReadPresetReport(options.preset));
    return report::PresetFrom(module, *prepared.analysis, report, space);
  }
  if (planned.report && !planned.is_made())
    return report::PresetFrom(module, *prepared.analysis, *planned.report, space);
  if (module.buffer_assignment.size == 0) return std::nullopt;
  // The plan inside a module's file helps but is not part of the program, so one that cannot be
  // read is ignored.
  const Result<report::Report> report = report::ReportFromModule(module);
  if (!report) return std::nullopt;
  return report::PresetFrom(module, *prepared.analysis, *report, space).value_or(std::nullopt);
}

Result<MadePlan> MakePlan(const hlo::Module& module, const Analysis& analysis,
                          const Setting& setting, const std::optional<Preset>& preset,
                          const PlanOptions& options) {
  MadePlan made;
  if (options.policy == Policy::kBest) {
    STOWPLAN_TRY(BestPlan best, AssignBest(module, analysis, setting.rules, preset,
                                           {.memory_limit = options.memory_limit,
                                            .should_stop = options.should_stop,
                                            .searches_on = options.searches_on}));
    made.assignment = std::move(best.assignment);
    made.heaps = std::move(best.heaps);
  } else {
    STOWPLAN_TRY(made.assignment, Assign(module, analysis, setting.rules, preset));
  }
  Done(options, "assign");
  if (Diagnostics overlaps = FindOverlaps(module, analysis, made.assignment); !overlaps.empty()) {
    overlaps.push_back(Fail("stowplan", "the plan is not sound, so it is not used",
                            "this is a bug in Stowplan, or an error in the preset")
                           .error()[0]);
    return std::unexpected(std::move(overlaps));
  }
  made.report = report::ReportOf(module, analysis, made.assignment, setting.style);
  Done(options, "report");
  return made;
}

Result<TriedPlan> TryPlan(const hlo::Module& module, const Setting& setting,
                          const std::optional<Preset>& preset) {
  if (Diagnostics complaints = hlo::Verify(module); !complaints.empty())
    return std::unexpected(std::move(complaints));
  TriedPlan tried;
  STOWPLAN_TRY(tried.analysis, Analyze(module, setting.rules.analysis));
  STOWPLAN_TRY(tried.made, MakePlan(module, tried.analysis, setting, preset, {}));
  return tried;
}

}  // namespace stowplan
