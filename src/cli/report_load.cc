// SPDX-License-Identifier: Apache-2.0
#include "cli/report_load.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "cli/report_cut.h"
#include "report/check.h"
#include "report/from_proto.h"
#include "report/read.h"
#include "report/usage_proto.h"
#include "report/write.h"
#include "stowplan/read.h"

namespace stowplan::cli {

using report::DumpFileKind;

namespace {

// Reads reports, and does not take a file for complete that ends too early.
Result<report::Report> ReadComplete(std::span<const std::shared_ptr<const Source>> sources) {
  Result<report::Report> report = report::ReadReport(sources);
  if (!report) return std::unexpected(ExplainCuts(std::move(report).error(), sources));
  for (const std::shared_ptr<const Source>& source : sources) {
    if (std::optional<Diagnostic> cut = FindCut(*report, *source)) return Fail(*std::move(cut));
  }
  return report;
}

class Loader {
 public:
  explicit Loader(InputModule module) : module_(std::move(module)) {}

  Result<LoadedModule> Run(Program program) && {
    loaded_.name = module_.name;
    const bool has_text = module_.file(DumpFileKind::kAssignment).has_value();
    if (has_text || !module_.file(DumpFileKind::kModuleProto)) {
      STOWPLAN_TRY([[maybe_unused]] const bool ok, ReadTexts());
    } else {
      STOWPLAN_TRY([[maybe_unused]] const bool ok, ReadFromProto());
    }
    if (program == Program::kRead && !loaded_.program) ReadProgram();
    if (loaded_.report.name.empty()) {
      loaded_.report.name =
          loaded_.program ? loaded_.program->view(loaded_.program->header.name) : module_.name;
    }
    return std::move(loaded_);
  }

 private:
  Result<std::shared_ptr<const Source>> Read(InputFile& file) {
    if (!file.source) {
      STOWPLAN_TRY(file.source, ReadSource(file.path));
    }
    if (file.source->size() == 0) return Fail(file.source->name(), "the file is empty");
    return file.source;
  }

  void LeaveOut(DumpFileKind kind, const Diagnostics& why) {
    Diagnostic problem = why[0];
    problem.severity = Severity::kWarning;
    loaded_.problems.push_back(std::move(problem));
    module_.file(kind).reset();
  }

  // Reads all report files; those that are only near by and cannot be read are left out.
  Result<bool> ReadTexts() {
    constexpr std::array kKinds = {DumpFileKind::kAssignment, DumpFileKind::kValueList,
                                   DumpFileKind::kLiveRanges, DumpFileKind::kUsage};
    STOWPLAN_TRY([[maybe_unused]] const bool ok, ReplaceUsageProto());
    for (const DumpFileKind kind : kKinds) {
      if (!module_.file(kind)) continue;
      Result<std::shared_ptr<const Source>> source = Read(*module_.file(kind));
      if (source) continue;
      if (module_.file(kind)->is_named || kind == DumpFileKind::kAssignment) {
        return std::unexpected(std::move(source).error());
      }
      LeaveOut(kind, source.error());
    }
    for (;;) {
      std::vector<std::shared_ptr<const Source>> sources;
      for (const DumpFileKind kind : kKinds) {
        if (module_.file(kind)) sources.push_back(module_.file(kind)->source);
      }
      if (sources.empty()) {
        return Fail(module_.name, "has no plan", std::string(kHowToPlan));
      }
      Result<report::Report> report = ReadComplete(sources);
      if (report) {
        loaded_.report = *std::move(report);
        loaded_.sources = std::move(sources);
        return true;
      }
      // The file of the first mistake, unless that is the one that all depends on.
      const auto bad = std::ranges::find_if(kKinds, [&](DumpFileKind kind) {
        return module_.file(kind) && module_.file(kind)->source->name() == report.error()[0].file;
      });
      if (bad == kKinds.end() || module_.file(*bad)->is_named ||
          *bad == DumpFileKind::kAssignment) {
        return std::unexpected(std::move(report).error());
      }
      LeaveOut(*bad, report.error());
    }
  }

  // The proto of a usage report holds its text in pieces.
  Result<bool> ReplaceUsageProto() {
    std::optional<InputFile>& proto = module_.file(DumpFileKind::kUsageProto);
    std::optional<InputFile>& text = module_.file(DumpFileKind::kUsage);
    if (!proto || text || !proto->is_named) return true;
    STOWPLAN_TRY(const std::shared_ptr<const Source> source, Read(*proto));
    STOWPLAN_TRY(const report::UsageProto usage, report::ParseUsageProto(*source));
    text = InputFile{.path = proto->path,
                     .source = Source::FromBytes(source->name(), report::ToUsageText(usage))};
    return true;
  }

  Result<bool> ReadFromProto() {
    InputFile& file = *module_.file(DumpFileKind::kModuleProto);
    STOWPLAN_TRY(std::shared_ptr<const Source> source, Read(file));
    STOWPLAN_TRY(hlo::Module parsed, ParseModule(std::move(source)));
    if (parsed.buffer_assignment.size == 0) {
      return Fail(file.path, "holds no plan", std::string(kHowToPlan));
    }
    STOWPLAN_TRY(loaded_.report, report::ReportFromModule(parsed));
    loaded_.program = std::move(parsed);
    return true;
  }

  void ReadProgram() {
    for (const DumpFileKind kind : {DumpFileKind::kModuleText, DumpFileKind::kModuleProto}) {
      if (!module_.file(kind)) continue;
      Result<std::shared_ptr<const Source>> source = Read(*module_.file(kind));
      Result<hlo::Module> parsed =
          source ? ParseModule(*std::move(source)) : std::unexpected(std::move(source).error());
      if (parsed) {
        loaded_.program = *std::move(parsed);
        return;
      }
      LeaveOut(kind, parsed.error());
    }
  }

  InputModule module_;
  LoadedModule loaded_;
};

}  // namespace

Result<LoadedModule> Load(InputModule module, Program program) {
  return Loader(std::move(module)).Run(program);
}

Diagnostics FindingsOf(const report::Report& report,
                       std::span<const std::shared_ptr<const Source>> sources) {
  Diagnostics findings;
  for (const std::shared_ptr<const Source>& source : sources) {
    std::ranges::move(report::CompareFigures(report, *source), std::back_inserter(findings));
    std::ranges::move(report::FindContradictions(report, *source), std::back_inserter(findings));
    if (std::optional<Diagnostic> doubt = FindDoubtfulEnd(report, *source)) {
      findings.push_back(*std::move(doubt));
    }
  }
  return findings;
}

}  // namespace stowplan::cli
