// SPDX-License-Identifier: Apache-2.0
// stowplan explain-oom: what a log says about memory that ran out, and what would help.
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

// Which incident is explained; nothing, and a message, when there is no such one.
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

int Run(const Arguments& arguments, Console& console) {
  const std::string& path = arguments.positionals[0];
  std::optional<size_t> top = 8;
  if (!arguments.option("top").empty()) top = ReadCount("top", arguments, console);
  if (!top) return kBadUse;
  const std::optional<double> time_limit = ReadSeconds("time-limit", arguments, console);
  if (!time_limit) return kBadUse;
  const PlanOptions plan = PlanOptionsOf(arguments, console);
  if (!console.Take(CheckRelease(plan.release))) return kBadUse;
  if (path == "-" && arguments.option("dump") == "-") {
    console.ShowError("FILE and --dump are both standard input", "write one of them to a file");
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
            ? "give all that the program wrote, standard error too: python train.py 2>&1 | tee log"
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
          "Reads what a program wrote before it ran out of memory, and says what happened,\n"
          "the sum (wanted, there, lacking), the largest buffers, why, and what helps, each\n"
          "with the figures it follows from.\n"
          "\n"
          "FILE is any text with the error in it: a whole log, a pasted traceback, -. XLA's\n"
          "allocators (GPU), its TPU compiler and runtime, rematerialization warnings, CUDA\n"
          "and ROCm, the machine's own memory; from JAX, PyTorch/XLA or TensorFlow. What\n"
          "loggers and terminals put around the lines does not matter. Several errors are\n"
          "told apart; the one that lacks most is explained.\n"
          "\n"
          "Savings are what the log allows at most. With a dump of the program (anything\n"
          "that 'stowplan explain' takes) the buffers are found in its plan, and each\n"
          "change is tried: applied, planned again, checked.\n"
          "\n"
          "Exit code 2 when nothing in FILE says that memory ran out.\n",
      .examples =
          "  python train.py 2>&1 | tee log; stowplan explain-oom log\n"
          "  stowplan explain-oom log --dump=dump          with the program, exactly\n"
          "  stowplan explain-oom log --incident=2         another one of several\n"
          "  stowplan explain-oom log --format=json | jq .incidents[0].explanation.fixes\n",
      .positional = "FILE",
      .count = Positionals::kOne,
      .options = WithPlanOptions({
          {.name = "incident", .value = "N", .help = "explain the N-th (default: the worst)"},
          {.name = "dump",
           .value = "DIR",
           .help = "join it to the program: its buffers, and what would save how much"},
          {.name = "time-limit",
           .value = "S",
           .help = "dump: try for so many seconds",
           .fallback = "30"},
          {.name = "top", .value = "N", .help = "show at most N buffers, 0: all", .fallback = "8"},
          {.name = "format",
           .value = "KIND",
           .help = "how to print",
           .fallback = "text",
           .choices = {"text", "json"}},
      }),
      .run = Run,
  };
}

}  // namespace stowplan::cli
