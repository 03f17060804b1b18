// SPDX-License-Identifier: Apache-2.0
// stowplan export: writes the peak in the formats of other tools.
#include "export/export.h"

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/number.h"
#include "cli/plan_arguments.h"
#include "cli/plan_moment.h"
#include "explain/moment.h"
#include "explain/picture.h"
#include "report/peak.h"
#include "report/summary.h"
#include "session/setting.h"

namespace stowplan::cli {
namespace {

using exporting::Format;
using exporting::Stacks;

struct ExportOptions {
  std::vector<std::string> inputs;
  PlanOptions plan;
  Format format = Format::kPprof;
  std::optional<int64_t> time;
  std::string space;             // empty: the largest; for a trace, all
  std::optional<Stacks> stacks;  // absent: source lines, where the module has them
  size_t top = 0;
  std::string output;
};

// What to export. If that is not possible, shows an error and returns nothing.
std::optional<exporting::Subject> FindSubject(const ExportOptions& options,
                                              const explain::Picture& picture,
                                              const report::Summary& summary, Console& console) {
  exporting::Subject subject;
  subject.picture = &picture;
  subject.top = options.top;
  // A trace shows all memory spaces, the other formats one.
  const bool is_trace = options.format == Format::kPerfetto;
  std::optional<int64_t> space;
  if (!ChooseSpace(options.space.empty() && is_trace ? "all" : options.space, picture, summary,
                   console, space)) {
    return std::nullopt;
  }
  if (!report::HasPeak(*picture.report)) {
    if (!exporting::NeedsMoment(options.format) && !options.time) return subject;
    console.ShowError("the live ranges are not known, so there is no peak to export",
                      "also give the module or its -live-range.txt; csv and json do not need it");
    return std::nullopt;
  }
  std::optional<ChosenMoment> chosen =
      ChooseMoment(options.time, picture, picture.curves.of(space), console);
  if (!chosen) return std::nullopt;
  subject.moment = std::move(chosen->moment);
  subject.is_peak = chosen->is_peak;
  subject.stacks = options.stacks.value_or(exporting::BestStacks(picture, *subject.moment));
  return subject;
}

int Export(const ExportOptions& options, Console& console) {
  const std::optional<Inputs> inputs = console.Take(Open(options.inputs));
  if (!inputs) return kBadUse;
  const std::optional<PlannedModule> planned = console.Take(LoadOne(*inputs, options.plan));
  if (!planned) return kBadUse;
  console.Show(planned->notes);
  const Result<explain::Picture> picture = explain::MakePicture(
      *planned->report, planned->module.get(), planned->target, {.own = options.plan.own});
  const Result<report::Summary> summary =
      picture ? report::Summarize(*planned->report) : std::unexpected(picture.error());
  if (!summary) {
    console.Show(summary.error());
    return kBadUse;
  }
  std::optional<exporting::Subject> subject = FindSubject(options, *picture, *summary, console);
  if (!subject) return kBadUse;
  subject->name = planned->name;
  const Result<std::string> file = exporting::Write(*subject, options.format);
  if (!file) {
    console.Show(file.error());
    return kBadUse;
  }
  const std::unique_ptr<Output> output = console.Open(options.output);
  if (output == nullptr) return kBadUse;
  output->Write(*file);
  return console.Finish(*output, kFine);
}

int RunExport(const Arguments& arguments, Console& console) {
  ExportOptions options = {.inputs = arguments.positionals,
                           .plan = PlanOptionsOf(arguments, console),
                           .time = {},
                           .space = arguments.option("space"),
                           .stacks = {},
                           .output = arguments.option("output")};
  const std::optional<Format> format = exporting::FindFormat(arguments.option("to"));
  if (!format) {
    console.ShowError(
        "export needs a format: --to=pprof, perfetto, speedscope, collapsed, csv, json",
        "`stowplan export --help` says what opens them");
    return kBadUse;
  }
  options.format = *format;
  if (!console.Take(CheckRelease(options.plan.release))) return kBadUse;
  if (const std::string& stacks = arguments.option("stacks"); !stacks.empty())
    options.stacks = stacks == "source" ? Stacks::kSource : Stacks::kOpName;
  const std::optional<size_t> top = ReadCount("top", arguments, console);
  if (!top) return kBadUse;
  options.top = *top;
  if (!ReadMoment(arguments, console, options.time)) return kBadUse;
  const bool is_terminal =
      (options.output.empty() || options.output == "-") && isatty(STDOUT_FILENO) != 0;
  if (is_terminal && options.format == Format::kPprof) {
    console.ShowError("a pprof profile is binary and cannot go to a terminal",
                      "-o peak.pb.gz writes a file");
    return kBadUse;
  }
  return Export(options, console);
}

}  // namespace

CommandSpec ExportCommand() {
  return {
      .name = "export",
      .summary = "write the peak for pprof, Perfetto, speedscope, flame graphs",
      .details =
          "Writes what is live at the peak, or at a moment of your choice, in a format\n"
          "that other tools open:\n"
          "\n"
          "  pprof       a profile: values are samples, with kind, shape, ... as tags\n"
          "  perfetto    a trace for ui.perfetto.dev and chrome://tracing: live bytes\n"
          "              over the program, and a span for each of the largest values\n"
          "  speedscope  for speedscope.app\n"
          "  collapsed   `frame;frame;value bytes` lines, for flamegraph.pl and inferno\n"
          "  csv, json   one row per value, with everything that is known about it\n"
          "\n"
          "In every format the bytes add up exactly to those of `stowplan explain`. INPUT\n"
          "can be anything that `stowplan explain` reads. docs/export.md shows how to open\n"
          "each format.\n",
      .examples =
          "  stowplan export m.hlo.pb --to=pprof -o peak.pb.gz\n"
          "  go tool pprof -http=: peak.pb.gz                open it in a browser\n"
          "  stowplan export dump/ --to=perfetto -o trace.json\n"
          "  stowplan export m.hlo.pb --to=collapsed | inferno-flamegraph > peak.svg\n"
          "  stowplan export m.hlo.pb --to=csv --at=120      a moment other than the peak\n",
      .positional = "INPUT",
      .count = Positionals::kAny,
      .options = WithPlanOptions({
          {.name = "to",
           .value = "FORMAT",
           .help = "the format to write",
           .choices = {"pprof", "perfetto", "speedscope", "collapsed", "csv", "json"}},
          {.name = "output",
           .short_name = 'o',
           .value = "FILE",
           .help = "write to this file instead of standard output"},
          {.name = "at", .value = "T", .help = "export this moment instead of the peak"},
          {.name = "space",
           .value = "N",
           .help = "this memory space, or `all` (default: the largest; `all` for a trace)"},
          {.name = "stacks",
           .value = "WHAT",
           .help = "what stacks are made of, by default source if the module has it",
           .choices = {"source", "op_name"}},
          {.name = "top",
           .value = "N",
           .help = "trace: draw spans for the N largest values; 0 draws all",
           .fallback = "200"},
      }),
      .run = RunExport,
  };
}

}  // namespace stowplan::cli
