// SPDX-License-Identifier: Apache-2.0
// stowplan replan: repeats an assignment from a report alone.
#include "session/replan.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/plan_arguments.h"
#include "report/write.h"
#include "session/load.h"
#include "session/names.h"

namespace stowplan::cli {
namespace {

int ReplanFiles(const std::vector<std::string>& paths, const PlanOptions& options,
                Console& console) {
  const std::optional<Inputs> inputs = console.Take(Open(paths));
  if (!inputs) return kBadUse;
  if (inputs->modules.size() != 1) {
    console.ShowError(inputs->modules.empty() ? "there is no report here"
                                              : "there are several modules, but replan takes one",
                      "name the report's file");
    return kBadUse;
  }
  InputFiles files = *inputs->modules[0].files;
  AddNeighbours(files);
  const std::optional<PlannedModule> given =
      console.Take(LoadGiven(inputs->modules[0], std::move(files), ReadProgram::kNo));
  if (!given) return kBadUse;
  console.Show(given->notes);
  const std::optional<Replanned> replanned = console.Take(Replan(*given, options));
  if (!replanned) return kBadUse;
  console.Show(replanned->notes);
  const report::Replan& replan = replanned->replan;
  if (options.has_stats) {
    console.Note(fmt::format("target {}, XLA as of {}\n", replanned->target.name,
                             replanned->release.empty() ? "today" : replanned->release));
    for (const std::string& fact : replan.derived) console.Note("derived: " + fact + "\n");
    for (const std::string& fact : replan.taken) console.Note("taken:   " + fact + "\n");
    console.Note(fmt::format("{} facts differ from the report\n", replan.differences.size()));
  }
  console.Show(replan.differences);
  for (const std::string& fact : replan.missing)
    console.Note("the report does not say " + fact + "\n");
  return console.Print(report::WriteCombined(replan.report, replan.report.dialect),
                       replan.differences.empty() ? kFine : kFinding);
}

int RunReplan(const Arguments& arguments, Console& console) {
  PlanOptions options = PlanOptionsOf(arguments, console);
  options.has_stats = arguments.flag("stats");
  return ReplanFiles(arguments.positionals, options, console);
}

}  // namespace

CommandSpec ReplanCommand() {
  return {
      .name = "replan",
      .summary = "repeat an assignment from a report alone",
      .details =
          "Repeats the assignment of a report without the program. The values, their memory\n"
          "spaces and which of them share memory are taken from the report; sizes, live\n"
          "ranges, heap offsets, allocation numbers, totals and the peak are derived.\n"
          "Prints the new report. Differences from the old one go to standard error, and\n"
          "set the exit code to 1.\n",
      .examples =
          "  stowplan replan report.txt\n"
          "  stowplan replan --stats m-buffer-assignment.txt   what was derived or taken\n",
      .positional = "REPORT",
      .count = Positionals::kAny,
      .options =
          {
              {.name = "target",
               .value = "NAME",
               .help = "the machine, by default detected from the sizes",
               .choices = TargetNames()},
              {.name = "xla-version",
               .value = "NAME",
               .help = "use the rules of this release (default: detected from the report)"},
              {.name = "stats",
               .help = "print what was derived and what was taken to standard error"},
          },
      .run = RunReplan,
  };
}

}  // namespace stowplan::cli
