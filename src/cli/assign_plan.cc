// SPDX-License-Identifier: Apache-2.0
#include "cli/assign_plan.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "assign/assignment.h"
#include "assign/fast_memory.h"
#include "check/check.h"
#include "hlo/verify.h"
#include "live/overwrites.h"
#include "report/from_assignment.h"
#include "report/write.h"
#include "schedule/make_schedule.h"
#include "target/transfer_flags.h"

namespace stowplan::cli {
namespace {

// One such place is enough to make one look.
constexpr size_t kMaxOverwrites = 3;

// module_0001.jit_f.cpu_after_optimizations for ...after_optimizations.hlo.pb
std::string StemOf(const std::string& file) {
  std::string name = file == "-" ? "stdin" : std::filesystem::path(file).filename().string();
  for (const std::string_view ending : {".gz", ".zst", ".hlo.pb", ".pb", ".txt", ".hlo"}) {
    if (name.ends_with(ending) && name.size() > ending.size())
      name.resize(name.size() - ending.size());
  }
  return name;
}

void NotePreset(const Rules& rules, const Analysis& analysis, const Assignment& assignment,
                const std::optional<Preset>& preset, Listener& listener) {
  if (rules.preset_space < 0 || preset) return;
  int64_t count = 0;
  for (size_t v = 0; v < assignment.places.size(); ++v) {
    if (!assignment.places[v].allocation.is_none() && assignment.colors[v] == rules.preset_space &&
        analysis.live.ranges[v].exists())
      ++count;
  }
  if (count == 0) return;
  listener.Note(
      fmt::format("note: nothing says where XLA put the {} values in memory space {}; "
                  "Stowplan placed them itself ({} gives XLA's places)\n",
                  count, rules.preset_space, listener.Option("preset", "REPORT")));
}

// For each buffer the one in whose place the plan has it, as a slice of an array that is nothing
// but its slices; none for all others.
std::vector<BufferId> HostsOfSlices(const hlo::Module& module, const Analysis& analysis,
                                    const Assignment& plan) {
  const BufferSet& buffers = analysis.buffers;
  std::vector<BufferId> hosts(buffers.size());
  std::vector<uint8_t> is_host(buffers.size(), 0);
  for (size_t b = 0; b < buffers.size(); ++b) {
    for (const ValueId value : buffers.values_of(BufferId(b))) {
      const Place& whole = plan.places[value.index];
      for (const ValueId slice : SlicesOf(module, analysis.flow, value)) {
        const BufferId own = buffers.of(slice);
        const Place& place = plan.places[slice.index];
        const bool lies_in_it = !whole.allocation.is_none() &&
                                place.allocation == whole.allocation &&
                                place.offset >= whole.offset && place.size <= whole.size &&
                                place.offset - whole.offset <= whole.size - place.size;
        const bool is_free = own.index != b && hosts[own.index].is_none() &&
                             is_host[own.index] == 0 && hosts[b].is_none();
        if (!lies_in_it || !is_free) continue;
        hosts[own.index] = BufferId(b);
        is_host[b] = 1;
      }
    }
  }
  return hosts;
}

// A plan that shares nothing but what the program makes share.
Assignment SpreadOut(const hlo::Module& module, const Analysis& analysis, const Assignment& plan) {
  const std::vector<BufferId> hosts = HostsOfSlices(module, analysis, plan);
  Assignment spread = plan;
  spread.allocations = {};
  const auto place_of = [&](BufferId buffer) -> const Place& {
    return plan.places[analysis.buffers.values_of(buffer)[0].index];
  };
  for (size_t b = 0; b < analysis.buffers.size(); ++b) {
    const Place& place = place_of(BufferId(b));
    if (place.allocation.is_none() || !hosts[b].is_none()) continue;
    const std::span<const ValueId> values = analysis.buffers.values_of(BufferId(b));
    Allocation allocation = plan.allocations[place.allocation];
    allocation.values.assign(values.begin(), values.end());
    allocation.size = place.size;
    const AllocationId id = spread.allocations.Add(std::move(allocation));
    for (const ValueId value : values) spread.places[value.index] = {id, 0, place.size};
  }
  for (size_t b = 0; b < analysis.buffers.size(); ++b) {
    if (hosts[b].is_none()) continue;
    const Place& place = place_of(BufferId(b));
    const ValueId host = analysis.buffers.values_of(hosts[b])[0];
    const AllocationId id = spread.places[host.index].allocation;
    for (const ValueId value : analysis.buffers.values_of(BufferId(b))) {
      spread.places[value.index] = {id, place.offset - place_of(hosts[b]).offset, place.size};
      spread.allocations[id].values.push_back(value);
    }
  }
  return spread;
}

// Executes the program on the plan, as `stowplan check` does. Whether the plan is sound; nothing,
// and a message, when it must not be written: an unsound one is only on demand.
std::optional<bool> SoundnessOf(const hlo::Module& module, const Analysis& analysis,
                                const Assignment& plan, const report::Report& report,
                                const Setting& setting, const AssignRequest& request,
                                Listener& listener) {
  const Target& target = setting.rules.target;
  const Result<check::Verdict> verdict = check::CheckPlan(module, report, target);
  if (!verdict) {
    listener.Note("note: the plan was not checked: " + verdict.error()[0].message + "\n");
    return true;
  }
  if (verdict->is_sound()) return true;
  // A program that lacks a copy has no sound plan at all: not even one that shares nothing.
  const Result<check::Verdict> best_case = check::CheckPlan(
      module, report::ReportOf(module, analysis, SpreadOut(module, analysis, plan), setting.style),
      target);
  const check::Finding& first = verdict->findings[0];
  const auto lacks_copy = [](const check::Finding& finding) {
    return check::IsUnsound(finding.code) && finding.code != check::Code::kSlicesApart;
  };
  const check::Finding* of_program = nullptr;
  if (best_case) {
    const auto found = std::ranges::find_if(best_case->findings, lacks_copy);
    if (found != best_case->findings.end()) of_program = &*found;
  }
  listener.Note(check::Describe(of_program != nullptr ? *of_program : first));
  if (request.allows_unsound) {
    listener.Note("note: the plan is not sound, and is written on demand\n");
    return false;
  }
  if (of_program != nullptr) {
    listener.ShowError("no plan of this program is sound by XLA's rules, so nothing is written",
                       "a copy is missing in it; " + FlagText(listener.speech(), "allow-unsound") +
                           " writes XLA's plan all the same");
  } else if (first.code == check::Code::kSlicesApart) {
    listener.ShowError("no place was found for the slices of " + first.found.text() +
                           " side by side, so nothing is written",
                       request.plan.preset.empty()
                           ? listener.Option("preset", "REPORT") + " takes XLA's own places over"
                           : "the preset has them apart");
  } else {
    listener.ShowError("the plan is not sound, so nothing is written",
                       "this is an error of Stowplan, or of the preset");
  }
  return std::nullopt;
}

}  // namespace

std::optional<PreparedModule> Prepare(hlo::Module module, const AssignRequest& request,
                                      Listener& listener) {
  const PlanOptions& options = request.plan;
  const auto refuse = [&](const Diagnostics& errors) {
    listener.Show(errors);
    return std::nullopt;
  };
  if (const Diagnostics complaints = hlo::Verify(module); !complaints.empty())
    return refuse(complaints);
  request.on_stage("verify");
  std::optional<Setting> setting = Settle(module, options, listener);
  if (!setting) return std::nullopt;
  if (options.has_stats || options.target.empty() || options.version.empty())
    listener.Note(fmt::format("note: {}\n", setting->words));
  module = WithTransferFlags(std::move(module), setting->rules.target);
  if (!options.scheduler.empty() || !IsScheduled(module)) {
    Result<hlo::Module> scheduled = Scheduled(module, setting->rules, options, listener);
    if (!scheduled) return refuse(scheduled.error());
    module = *std::move(scheduled);
    request.on_stage("scheduling");
  }
  if (!options.preset.empty() && setting->rules.preset_space < 0) {
    listener.ShowError(fmt::format("{} is for TPUs with fast memory, and not for {}",
                                   listener.Option("preset", ""), setting->rules.target.name));
    return std::nullopt;
  }
  Result<Analysis> analysis = Analyze(module, setting->rules.analysis, request.on_stage);
  if (!analysis) return refuse(analysis.error());
  listener.Show(FindOverwrites(module, analysis->calls, analysis->schedule, analysis->flow,
                               analysis->buffers),
                kMaxOverwrites);
  return PreparedModule{.module = std::move(module),
                        .setting = *std::move(setting),
                        .analysis = *std::move(analysis)};
}

std::optional<AssignedPlan> MakePlan(const PreparedModule& prepared, const AssignRequest& request,
                                     Listener& listener) {
  const auto& [module, setting, analysis] = prepared;
  const Rules& rules = setting.rules;
  const auto refuse = [&](const Diagnostics& errors) {
    listener.Show(errors);
    return std::nullopt;
  };
  const Result<std::optional<Preset>> preset = FindPreset(module, analysis, rules, request.plan);
  if (!preset) return refuse(preset.error());
  Result<BestPlan> plan = BestPlan{};
  if (request.is_best) {
    plan = AssignBest(module, analysis, rules, *preset, request.best);
  } else if (Result<Assignment> assignment = Assign(module, analysis, rules, *preset); assignment) {
    plan->assignment = *std::move(assignment);
  } else {
    plan = std::unexpected(std::move(assignment).error());
  }
  if (!plan) return refuse(plan.error());
  request.on_stage("assign");
  const Assignment& assignment = plan->assignment;
  if (const Diagnostics overlaps = FindOverlaps(module, analysis, assignment); !overlaps.empty()) {
    listener.Show(overlaps);
    listener.ShowError("the plan is not sound, so nothing is written",
                       "this is an error of Stowplan or of the preset");
    return std::nullopt;
  }
  NotePreset(rules, analysis, assignment, *preset, listener);
  report::Report report = report::ReportOf(module, analysis, assignment, setting.style);
  request.on_stage("report");
  const std::optional<bool> is_sound =
      SoundnessOf(module, analysis, assignment, report, setting, request, listener);
  if (!is_sound) return std::nullopt;
  request.on_stage("check");
  return AssignedPlan{.plan = *std::move(plan), .report = std::move(report), .is_sound = *is_sound};
}

std::vector<ReportFile> FilesOf(const report::Report& report, const std::string& module_file) {
  const report::ReportDialect& dialect = report.dialect;
  const std::string stem = StemOf(module_file);
  std::vector<ReportFile> files = {
      {stem + "-buffer-assignment.txt", report::WriteAssignment(report, dialect)}};
  if (dialect.separate_files) {
    files.push_back(
        {stem + "-buffer-assignment-values.txt", report::WriteValueList(report, dialect)});
    files.push_back({stem + "-live-range.txt", report::WriteLiveRanges(report, dialect)});
  }
  if (dialect.usage != report::UsageReport::kNone)
    files.push_back({stem + "-memory-usage-report.txt", report::WriteUsage(report, dialect)});
  return files;
}

}  // namespace stowplan::cli
