// SPDX-License-Identifier: Apache-2.0
// stowplan replan: an assignment made again from a report alone.
#include "report/replan.h"

#include <string>

#include <fmt/format.h>

#include "check/check.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/names.h"
#include "cli/plan_setting.h"
#include "cli/report_load.h"
#include "report/write.h"

namespace stowplan::cli {
namespace {

struct ReplanOptions {
  std::vector<std::string> files;
  std::string target;   // empty: found
  std::string version;  // empty: found
  bool has_stats = false;
};

// The newest release that writes reports like this one.
std::string VersionOf(const report::Report& report) {
  std::string version;
  for (const report::NamedReportDialect& dialect : report::ReportDialects()) {
    report::ReportDialect other = dialect.dialect;
    // What these say is told by parts that the report may not have.
    other.usage = report.dialect.usage;
    other.parameter_parts = report.dialect.parameter_parts;
    if (other == report.dialect) version = dialect.name;
  }
  return version;
}

std::optional<Rules> RulesFor(const report::Report& report, const ReplanOptions& options,
                              Console& console) {
  const std::optional<Target> target =
      options.target.empty() ? report::FindReportTarget(report) : FindTarget(options.target);
  if (!target) {
    console.ShowError("the sizes of the report fit no machine", "name the machine with --target");
    return std::nullopt;
  }
  const std::string version = options.version.empty() ? VersionOf(report) : options.version;
  if (!CheckVersion(version, console)) return std::nullopt;
  if (options.has_stats) {
    console.Note(fmt::format("target {}, XLA as of {}\n", target->name,
                             version.empty() ? std::string("today") : version));
  }
  return RulesOf(*target, version);
}

int Replan(const ReplanOptions& options, Console& console) {
  Result<Inputs> inputs = FindInputs(options.files);
  if (!inputs) {
    console.Show(inputs.error());
    return kBadUse;
  }
  if (inputs->modules.size() != 1) {
    console.ShowError(inputs->modules.empty() ? "there is no report here"
                                              : "there are several modules, and this is about one",
                      "name the report's file");
    return kBadUse;
  }
  AddNeighbours(inputs->modules[0]);
  Result<LoadedModule> loaded = Load(std::move(inputs->modules[0]), Program::kLeaveOut);
  if (!loaded) {
    console.Show(loaded.error());
    return kBadUse;
  }
  console.Show(loaded->problems);
  const std::optional<Rules> rules = RulesFor(loaded->report, options, console);
  if (!rules) return kBadUse;
  const Result<report::Replan> replan = report::ReplanReport(std::move(loaded->report), *rules);
  if (!replan) {
    console.Show(replan.error());
    return kBadUse;
  }
  if (options.has_stats) {
    for (const std::string& fact : replan->derived) console.Note("derived: " + fact + "\n");
    for (const std::string& fact : replan->taken) console.Note("taken:   " + fact + "\n");
    console.Note(fmt::format("{} facts differ from the report\n", replan->differences.size()));
  }
  console.Show(replan->differences);
  const check::Verdict verdict = check::CheckReport(replan->report);
  if (!verdict.is_sound()) {
    console.Note(check::Describe(verdict.findings[0]));
    console.ShowError("the plan is not sound, so nothing is written",
                      "the report is wrong, or this is an error of Stowplan");
    return kBadUse;
  }
  report::ReportDialect combined = replan->report.dialect;
  combined.separate_files = false;
  return console.Print(report::WriteAssignment(replan->report, combined),
                       replan->differences.empty() ? kFine : kFinding);
}

int Run(const Arguments& arguments, Console& console) {
  return Replan({.files = arguments.positionals,
                 .target = arguments.option("target"),
                 .version = arguments.option("xla-version"),
                 .has_stats = arguments.flag("stats")},
                console);
}

}  // namespace

CommandSpec ReplanCommand() {
  return {
      .name = "replan",
      .summary = "plan again from a report alone",
      .details =
          "Makes the assignment of a report again, without the program: values, memory\n"
          "spaces and who shares a place with whom are taken from the report; sizes, live\n"
          "ranges, offsets in the heaps, the numbers of allocations, totals and the peak\n"
          "are derived. Prints the report; what comes out otherwise than it says is told\n"
          "on standard error, and the exit code is then 1.\n",
      .examples =
          "  stowplan replan report.txt\n"
          "  stowplan replan --stats m-buffer-assignment.txt   what was derived or taken\n",
      .positional = "REPORT",
      .count = Positionals::kAny,
      .options =
          {
              {.name = "target",
               .value = "NAME",
               .help = "the machine; found from the sizes",
               .choices = TargetNames()},
              {.name = "xla-version",
               .value = "NAME",
               .help = "by the rules of this release; found from how the report is written"},
              {.name = "stats", .help = "what was derived and what was taken, to standard error"},
          },
      .run = Run,
  };
}

}  // namespace stowplan::cli
