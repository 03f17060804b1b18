// SPDX-License-Identifier: Apache-2.0
// stowplan explain-oom: explains an out-of-memory error from its log, and what would help.
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/deadline.h"
#include "cli/number.h"
#include "cli/plan_arguments.h"
#include "oom/oom.h"
#include "page/oom_dump.h"
#include "page/oom_view.h"
#include "session/setting.h"
#include "stowplan/base/source.h"

namespace stowplan::cli {
namespace {

// The incident to explain. If there is no such incident, shows an error and returns nothing.
std::optional<size_t> ChooseIncident(const Arguments& arguments, const oom::Log& log,
                                     Console& console) {
  if (arguments.option("incident").empty()) return oom::WorstIncident(log);
  const std::optional<size_t> number = ReadCount("incident", arguments, console);
  if (!number) return std::nullopt;
  if (*number == 0 || *number > log.incidents.size()) {
    console.ShowError(fmt::format("there is no incident {}", *number),
                      fmt::format("the log has {}, counted from 1", log.incidents.size()));
    return std::nullopt;
  }
  return *number - 1;
}

int RunExplainOom(const Arguments& arguments, Console& console) {
  const std::string& path = arguments.positionals[0];
  std::optional<size_t> top = 8;
  if (!arguments.option("top").empty()) top = ReadCount("top", arguments, console);
  if (!top) return kBadUse;
  const std::optional<double> time_limit = ReadSeconds("time-limit", arguments, console);
  if (!time_limit) return kBadUse;
  const PlanOptions plan = PlanOptionsOf(arguments, console);
  if (!console.Take(CheckRelease(plan.release))) return kBadUse;
  if (path == "-" && arguments.option("dump") == "-") {
    console.ShowError("FILE and --dump cannot both be standard input",
                      "write one of them to a file");
    return kBadUse;
  }
  const Result<std::shared_ptr<const Source>> source = ReadSource(path);
  if (!source) {
    console.Show(source.error());
    return kBadUse;
  }
  const oom::Log log = oom::ReadLog((*source)->bytes());
  if (log.incidents.empty()) {
    console.ShowError(
        fmt::format("nothing in {} says that memory ran out",
                    path == "-" ? std::string("<stdin>") : path),
        log.remats.empty()
            ? "include everything that the program wrote: python train.py 2>&1 | tee log"
            : "rematerialization did not reach its goal, but no allocation failed");
    return kBadUse;
  }
  const std::optional<size_t> incident = ChooseIncident(arguments, log, console);
  if (!incident) return kBadUse;
  page::OomView view{.log = log, .incident = *incident, .input = path, .limit = *top};
  std::optional<page::OomDump> dump;
  if (!arguments.option("dump").empty()) {
    dump = console.Take(
        page::JoinDump(log.incidents[*incident], {.paths = {arguments.option("dump")},
                                                  .plan = plan,
                                                  .should_stop = StopAfter(*time_limit),
                                                  .limit = *top}));
    if (!dump) return kBadUse;
    console.Show(dump->planned.notes);
    view.dump = &*dump;
  }
  return console.Print(
      arguments.option("format") == "json" ? page::OomJson(view) : page::OomPage(view), kFine);
}

}  // namespace

CommandSpec ExplainOomCommand() {
  return {
      .name = "explain-oom",
      .summary = "explain an out-of-memory error from its log: causes, fixes",
      .details =
          "Reads what a program wrote before it ran out of memory, and shows what happened,\n"
          "how much was wanted, available and missing, the largest buffers, the causes, and\n"
          "what helps, each with the figures behind it.\n"
          "\n"
          "FILE is any text that contains the error: a whole log, a pasted traceback, or -\n"
          "for standard input. Understands XLA's GPU allocators, its TPU compiler and\n"
          "runtime, rematerialization warnings, CUDA and ROCm, and the host's own memory,\n"
          "from JAX, PyTorch/XLA or TensorFlow. Prefixes from loggers and terminals do not\n"
          "matter. If there are several errors, explains the one that lacks the most.\n"
          "\n"
          "Savings are upper bounds from the log. With a dump of the program (anything that\n"
          "`stowplan explain` reads), the buffers are found in its plan, and each change is\n"
          "tried: applied, planned again, and checked.\n"
          "\n"
          "The exit code is 2 if FILE contains no out-of-memory error.\n",
      .examples =
          "  python train.py 2>&1 | tee log; stowplan explain-oom log\n"
          "  stowplan explain-oom log --dump=dump          exact figures, from the program\n"
          "  stowplan explain-oom log --incident=2         a different one of several\n"
          "  stowplan explain-oom log --format=json | jq .incidents[0].explanation.fixes\n",
      .positional = "FILE",
      .count = Positionals::kOne,
      .options = WithPlanOptions({
          {.name = "incident",
           .value = "N",
           .help = "explain the N-th incident (default: the worst)"},
          {.name = "dump",
           .value = "DIR",
           .help = "use the program in DIR: find the buffers in its plan, and try changes"},
          {.name = "time-limit",
           .value = "S",
           .help = "dump: try changes for S seconds",
           .fallback = "30"},
          {.name = "top",
           .value = "N",
           .help = "show at most N buffers; 0 shows all",
           .fallback = "8"},
          {.name = "format",
           .value = "KIND",
           .help = "output format",
           .fallback = "text",
           .choices = {"text", "json"}},
      }),
      .run = RunExplainOom,
  };
}

}  // namespace stowplan::cli
