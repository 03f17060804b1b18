// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "report/from_proto.h"
#include "report/read.h"
#include "report/usage_proto.h"
#include "session/cut.h"
#include "session/load.h"

namespace stowplan {
namespace {

using report::DumpFileKind;

// Reads reports, and notices a file that ends too early.
Result<report::Report> ReadComplete(std::span<const std::shared_ptr<const Source>> sources) {
  Result<report::Report> report = report::ReadReport(sources);
  if (!report) return std::unexpected(ExplainCuts(std::move(report).error(), sources));
  for (const std::shared_ptr<const Source>& source : sources) {
    if (std::optional<Diagnostic> cut = FindCut(*report, *source)) return Fail(*std::move(cut));
  }
  return report;
}

Result<std::shared_ptr<const Source>> ReadFull(const InputFile& file) {
  STOWPLAN_TRY(std::shared_ptr<const Source> source, Read(file));
  if (source->size() == 0) return Fail(source->name(), "the file is empty");
  return source;
}

class Loader {
 public:
  Loader(std::string name, InputFiles files) : files_(std::move(files)) {
    planned_.name = std::move(name);
  }

  Result<PlannedModule> Run(ReadProgram program) && {
    const bool has_text = files_.has(DumpFileKind::kAssignment);
    if (has_text || !files_.has(DumpFileKind::kModuleProto)) {
      STOWPLAN_TRY([[maybe_unused]] const bool ok, ReadTexts());
    } else {
      STOWPLAN_TRY([[maybe_unused]] const bool ok, ReadFromProto());
    }
    if (program == ReadProgram::kYes && !planned_.module) ReadModule();
    if (report_.name.empty())
      report_.name = planned_.module ? planned_.module->view(planned_.module->header.name)
                                     : std::string_view(planned_.name);
    planned_.report = std::make_shared<const report::Report>(std::move(report_));
    return std::move(planned_);
  }

 private:
  void LeaveOut(DumpFileKind kind, const Diagnostics& why) {
    Diagnostic problem = why[0];
    problem.severity = Severity::kWarning;
    planned_.notes.push_back(std::move(problem));
    files_.file(kind).reset();
  }

  // Reads all report files. Those that merely lie beside the input are left out if they cannot be
  // read.
  Result<bool> ReadTexts() {
    constexpr std::array kKinds = {DumpFileKind::kAssignment, DumpFileKind::kValueList,
                                   DumpFileKind::kLiveRanges, DumpFileKind::kUsage};
    STOWPLAN_TRY([[maybe_unused]] const bool ok, ReplaceUsageProto());
    for (const DumpFileKind kind : kKinds) {
      if (!files_.has(kind)) continue;
      Result<std::shared_ptr<const Source>> source = ReadFull(*files_.file(kind));
      if (source) continue;
      if (files_.file(kind)->is_named || kind == DumpFileKind::kAssignment)
        return std::unexpected(std::move(source).error());
      LeaveOut(kind, source.error());
    }
    for (;;) {
      std::vector<std::shared_ptr<const Source>> sources;
      for (const DumpFileKind kind : kKinds) {
        if (files_.has(kind)) sources.push_back(files_.file(kind)->source());
      }
      if (sources.empty()) return Fail(planned_.name, "has no plan", std::string(kHowToPlan));
      Result<report::Report> report = ReadComplete(sources);
      if (report) {
        report_ = *std::move(report);
        planned_.sources = std::move(sources);
        return true;
      }
      // Leaves out the file with the first mistake, unless everything depends on it.
      const auto bad = std::ranges::find_if(kKinds, [&](DumpFileKind kind) {
        return files_.has(kind) && files_.file(kind)->source()->name() == report.error()[0].file;
      });
      if (bad == kKinds.end() || files_.file(*bad)->is_named || *bad == DumpFileKind::kAssignment)
        return std::unexpected(std::move(report).error());
      LeaveOut(*bad, report.error());
    }
  }

  // The proto of a usage report holds its text in pieces.
  Result<bool> ReplaceUsageProto() {
    const std::optional<InputFile>& proto = files_.file(DumpFileKind::kUsageProto);
    if (!proto || files_.has(DumpFileKind::kUsage) || !proto->is_named) return true;
    STOWPLAN_TRY(const std::shared_ptr<const Source> source, ReadFull(*proto));
    STOWPLAN_TRY(const report::UsageProto usage, report::ParseUsageProto(*source));
    InputFile text{.path = proto->path};
    *text.read = Source::FromBytes(source->name(), report::ToUsageText(usage));
    files_.file(DumpFileKind::kUsage) = std::move(text);
    return true;
  }

  Result<bool> ReadFromProto() {
    const InputFile& file = *files_.file(DumpFileKind::kModuleProto);
    STOWPLAN_TRY(std::shared_ptr<const Source> source, ReadFull(file));
    STOWPLAN_TRY(hlo::Module parsed, ParseModule(std::move(source)));
    if (parsed.buffer_assignment.size == 0)
      return Fail(file.path, "contains no plan", std::string(kHowToPlan));
    STOWPLAN_TRY(report_, report::ReportFromModule(parsed));
    planned_.module = std::make_shared<const hlo::Module>(std::move(parsed));
    return true;
  }

  void ReadModule() {
    for (const DumpFileKind kind : {DumpFileKind::kModuleText, DumpFileKind::kModuleProto}) {
      if (!files_.has(kind)) continue;
      Result<std::shared_ptr<const Source>> source = ReadFull(*files_.file(kind));
      Result<hlo::Module> parsed =
          source ? ParseModule(*std::move(source)) : std::unexpected(std::move(source).error());
      if (parsed) {
        planned_.module = std::make_shared<const hlo::Module>(*std::move(parsed));
        return;
      }
      LeaveOut(kind, parsed.error());
    }
  }

  InputFiles files_;
  PlannedModule planned_;
  report::Report report_;
};

}  // namespace

Result<PlannedModule> LoadGiven(const InputModule& module, InputFiles files, ReadProgram program) {
  return Loader(module.name, std::move(files)).Run(program);
}

Result<PlannedModule> LoadGiven(const InputModule& module, ReadProgram program) {
  return LoadGiven(module, *module.files, program);
}

}  // namespace stowplan
