// SPDX-License-Identifier: Apache-2.0
#include "session/sequence.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "hlo/verify.h"
#include "schedule/make_schedule.h"
#include "session/inputs.h"
#include "session/load.h"
#include "session/note.h"
#include "session/setting.h"

namespace stowplan {
namespace {

using hlo::CompId;
using hlo::InstrId;
using hlo::Module;
using report::DumpFileKind;

// Instructions by name; absent if names are not unique, as they are in a module that XLA wrote.
std::optional<std::unordered_map<std::string_view, InstrId>> IdsByName(const Module& module) {
  std::unordered_map<std::string_view, InstrId> ids;
  ids.reserve(module.instructions.size());
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    if (!ids.emplace(module.name(InstrId(i)), InstrId(i)).second) return std::nullopt;
  }
  return ids;
}

// By computation: its instructions in the order of the sequence; empty if it is not part of it.
// Absent if the sequence has names of a different program, or only part of a computation.
std::optional<std::vector<std::vector<InstrId>>> SplitSequence(
    const Module& module, const std::vector<std::string_view>& sequence) {
  const auto ids = IdsByName(module);
  if (!ids) return std::nullopt;
  std::vector<std::vector<InstrId>> orders(module.computations.size());
  std::vector<bool> is_seen(module.instructions.size(), false);
  for (const std::string_view name : sequence) {
    const auto found = ids->find(name);
    if (found == ids->end()) return std::nullopt;
    const InstrId id = found->second;
    // A computation called from several places runs in the same order each time.
    if (is_seen[id.index]) continue;
    is_seen[id.index] = true;
    orders[module.instructions[id].parent.index].push_back(id);
  }
  for (size_t c = 0; c < orders.size(); ++c) {
    if (!orders[c].empty() && orders[c].size() != module.computations[CompId(c)].count)
      return std::nullopt;
  }
  if (orders[module.entry.index].empty()) return std::nullopt;
  return orders;
}

// The files of a dump that belong to this module's file; none if its name is not a dump's.
InputFiles FilesBeside(const std::string& path) {
  InputFiles files;
  const DumpFileKind kind = report::ParseDumpFileName(path).kind;
  if (kind != DumpFileKind::kModuleText && kind != DumpFileKind::kModuleProto) return files;
  files.file(kind) = InputFile{.path = path, .is_named = true};
  AddNeighbours(files);
  return files;
}

// The report among them. It only helps, so one that cannot be read is ignored.
std::shared_ptr<const report::Report> ReadReportOf(const std::string& path, InputFiles files) {
  if (!files.has(DumpFileKind::kAssignment)) return nullptr;
  files.file(DumpFileKind::kModuleText).reset();
  files.file(DumpFileKind::kModuleProto).reset();
  const InputModule module = {.name = path, .stage = {}, .files = nullptr};
  const Result<PlannedModule> beside = LoadGiven(module, std::move(files), ReadProgram::kNo);
  return beside ? beside->report : nullptr;
}

// The dialect of the text, which lacks some of what the proto holds.
hlo::Dialect DialectOf(const Module& text, const Module& proto) {
  hlo::Dialect dialect = text.dialect;
  dialect.stack_frames = proto.stack_frames.empty() || !text.stack_frames.empty();
  dialect.metadata_ends = std::ranges::any_of(text.metadata.rows(), [](const hlo::Metadata& m) {
    return m.source_end_line != 0 || m.source_column != 0 || m.source_end_column != 0;
  });
  return dialect;
}

}  // namespace

std::optional<Module> FollowSequence(const Module& module, const report::Report& report,
                                     const Target& target) {
  if (!report.live_ranges || report.live_ranges->sequence.empty()) return std::nullopt;
  const auto orders = SplitSequence(module, report.live_ranges->sequence);
  if (!orders || !hlo::Verify(module).empty()) return std::nullopt;
  Module scheduled = WithSchedule(module, Scheduler::kDepthFirst, target);
  for (size_t c = 0; c < orders->size(); ++c) {
    const Range schedule = scheduled.computations[CompId(c)].schedule;
    const std::vector<InstrId>& order = (*orders)[c];
    if (order.empty()) continue;
    if (schedule.count != order.size()) return std::nullopt;  // the body of a fusion
    std::ranges::copy(order, scheduled.instruction_pool.begin() + schedule.begin);
  }
  // The report is not ours, so it may list operands after their users.
  if (!hlo::Verify(scheduled).empty()) return std::nullopt;
  return scheduled;
}

Diagnostics UseReportBeside(const std::string& path, std::shared_ptr<const Module>& module,
                            PlanOptions& options) {
  const std::shared_ptr<const report::Report> report = ReadReportOf(path, FilesBeside(path));
  if (!report) return {};
  const TargetEvidence evidence = {.module = module.get(), .report = report.get()};
  const std::optional<Target> target = ResolveTarget(options.target, evidence);
  if (!target) return {};
  Diagnostics notes;
  if (options.release.empty()) {
    options.release = GuessRelease(evidence, *target);
    notes.push_back(
        Note(fmt::format("rules of {}, as the report beside the module shows", options.release),
             OptionText(options.speech, "xla-version") + " chooses a different one"));
  }
  if (!options.scheduler.empty() || IsScheduled(*module)) return notes;
  if (std::optional<Module> scheduled = FollowSequence(*module, *report, *target)) {
    module = std::make_shared<const Module>(*std::move(scheduled));
    notes.push_back(
        Note("the module has no schedule, so it is planned in the order of the report"));
  }
  return notes;
}

void CompleteFromDump(const std::string& path, Module& module) {
  const InputFiles files = FilesBeside(path);
  if (const std::optional<InputFile>& file = files.file(DumpFileKind::kModuleText)) {
    const Result<Module> text = ReadModule(file->path);
    if (text && text->view(text->header.name) == module.view(module.header.name)) {
      module.dialect = DialectOf(*text, module);
      module.header.alias_passthrough_params = text->header.alias_passthrough_params;
      module.header.propagate_to_parameters = text->header.propagate_to_parameters;
      module.header.propagate_to_output = text->header.propagate_to_output;
      module.header.replica_count = text->header.replica_count;
      module.header.num_partitions = text->header.num_partitions;
      return;
    }
  }
  const std::shared_ptr<const report::Report> report = ReadReportOf(path, files);
  if (!report) return;
  const TargetEvidence evidence = {.module = &module, .report = report.get()};
  const std::optional<Target> target = ResolveTarget({}, evidence);
  if (!target) return;
  if (const auto dialect = hlo::FindDialect(GuessRelease(evidence, *target)))
    module.dialect = *dialect;
}

}  // namespace stowplan
