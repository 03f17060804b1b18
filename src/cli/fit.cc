// SPDX-License-Identifier: Apache-2.0
// stowplan fit: a program that needs less memory, for a little more work.
#include "session/fit.h"

#include <charconv>
#include <csignal>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "advise/fit_donate.h"
#include "base/human_bytes.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/deadline.h"
#include "cli/number.h"
#include "cli/plan_arguments.h"
#include "cli/progress.h"
#include "cli/write_output.h"
#include "page/fit_page.h"
#include "session/fit_uses.h"
#include "session/fit_write.h"
#include "stowplan/session.h"

namespace stowplan::cli {
namespace {

// "10%" as 0.1.
std::optional<double> PercentOf(std::string_view option, const Arguments& arguments,
                                Console& console) {
  const std::string& text = arguments.option(option);
  const std::string_view digits = std::string_view(text).substr(0, text.size() - 1);
  constexpr double kMost = 1000;
  double percent = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
  const bool is_number =
      text.ends_with('%') && error == std::errc() && end == digits.data() + digits.size();
  if (is_number && percent >= 0 && percent <= kMost) return percent / 100;
  console.ShowError("--" + std::string(option) + " is `" + text + "`", "give 0% to 1000%");
  return std::nullopt;
}

// Reads --use; false if a word is not known.
bool ReadUseOption(const Arguments& arguments, FitOptions& options, Console& console) {
  const std::optional<std::string> unknown = ReadUses(arguments.option("use"), options);
  if (!unknown) return true;
  console.ShowError("--use does not know `" + *unknown + "`",
                    "give a list of " + std::string(kUses));
  return false;
}

// Reads --machine, --bandwidth and --flops; false if one is wrong.
bool ReadMachine(const Arguments& arguments, FitOptions& options, Console& console) {
  options.machine = arguments.option("machine");
  const auto read = [&](std::string_view name, double& rate) {
    const std::string& text = arguments.option(name);
    if (text.empty()) return true;
    const std::optional<double> parsed = ParseRate(text);
    if (!parsed)
      console.ShowError("--" + std::string(name) + " is `" + text + "`",
                        "give a number per second, such as 3.35T or 495e12");
    rate = parsed.value_or(0);
    return parsed.has_value();
  };
  return read("bandwidth", options.bytes_per_second) && read("flops", options.flops_per_second);
}

// Options that contradict each other.
bool AreTogether(const Arguments& arguments, const FitOptions& options, Console& console) {
  for (const std::string_view name : {"machine", "bandwidth", "flops"}) {
    if (arguments.option(name).empty() || options.model != CostModel::kPlain) continue;
    console.ShowError("--" + std::string(name) + " has no effect with --cost-model=plain");
    return false;
  }
  if (options.uses_donation && arguments.option("output").ends_with(".pb")) {
    console.ShowError("with --use=donate, the changed module is written as HLO text",
                      "choose a file name that ends in .txt");
    return false;
  }
  return true;
}

std::optional<FitOptions> FitOptionsOf(const Arguments& arguments, Console& console) {
  FitOptions options;
  options.plan = PlanOptionsOf(arguments, console);
  options.plan.prefers_proto = arguments.option("output").ends_with(".pb");
  if (!arguments.option("budget").empty()) {
    options.budget = ReadBytes("budget", arguments, console);
    if (!options.budget) return std::nullopt;
  }
  const std::optional<double> cost = PercentOf("max-cost", arguments, console);
  if (!cost || !ReadUseOption(arguments, options, console) ||
      !ReadMachine(arguments, options, console))
    return std::nullopt;
  options.max_cost = *cost;
  options.model =
      arguments.option("cost-model") == "plain" ? CostModel::kPlain : CostModel::kMachine;
  if (!AreTogether(arguments, options, console)) return std::nullopt;
  if (!arguments.option("time-limit").empty()) {
    const std::optional<double> seconds = ReadSeconds("time-limit", arguments, console);
    if (!seconds) return std::nullopt;
    options.plan.should_stop = StopAfter(*seconds);
  }
  return options;
}

volatile std::sig_atomic_t is_interrupted = 0;

// The first Ctrl-C ends the search and keeps what was found so far; the second ends the program.
void StopSearching(int) {
  is_interrupted = 1;
  std::signal(SIGINT, SIG_DFL);
}

// The chart and the changed module, where they are asked for.
int WriteFitFiles(const Fitted& fitted, const FitOptions& options, const Arguments& arguments,
                  int code, Console& console) {
  if (!arguments.option("chart").empty()) {
    const int written =
        WriteOutput(arguments.option("chart"), page::FitHtml(fitted, options), code, console);
    if (written == kBadUse) return written;
  }
  if (arguments.option("output").empty()) return code;
  return WriteOutput(arguments.option("output"), WriteFitted(fitted), code, console);
}

int RunFit(const Arguments& arguments, Console& console) {
  std::optional<FitOptions> options = FitOptionsOf(arguments, console);
  if (!options) return kBadUse;
  is_interrupted = 0;
  std::signal(SIGINT, StopSearching);
  options->plan.should_stop = [stop = options->plan.should_stop] {
    return is_interrupted != 0 || (stop && stop());
  };
  std::optional<ProgressLine> line(std::in_place, console.is_watched());
  int64_t tried = 0;
  options->on_point = [&](double cost, int64_t bytes) {
    ++tried;
    line->Show([&] {
      return fmt::format("{} ways tried; now {} at {:+.1f} %", tried, HumanBytes(bytes),
                         100 * cost);
    });
  };
  const std::optional<Inputs> inputs = console.Take(Open(arguments.positionals));
  if (!inputs) return kBadUse;
  const std::optional<PlannedModule> loaded = console.Take(LoadOne(*inputs, options->plan));
  if (!loaded) return kBadUse;
  Result<Fitted> answer = advise::FitWithDonations(*loaded, *options);
  line.reset();
  const std::optional<Fitted> fitted = console.Take(std::move(answer));
  if (!fitted) return kBadUse;
  console.Show(fitted->planned.notes);
  const int code = page::Fits(fitted->facts, *options) ? kFine : kFinding;
  const std::string& format = arguments.option("format");
  if (format == "html" && !arguments.option("output").empty())
    return WriteOutput(arguments.option("output"), page::FitHtml(*fitted, *options), code, console);
  const int printed = console.Print(format == "json"   ? page::FitJson(*fitted, *options)
                                    : format == "html" ? page::FitHtml(*fitted, *options)
                                                       : page::FitPage(*fitted, *options),
                                    code);
  if (printed == kBadUse) return printed;
  return WriteFitFiles(*fitted, *options, arguments, code, console);
}

}  // namespace

CommandSpec FitCommand() {
  return {
      .name = "fit",
      .summary = "make a program need less memory, for a little more work",
      .details =
          "Finds changes to the compiled program that lower its memory at the least cost.\n"
          "A better order of instructions and a tighter packing are free. Values that live\n"
          "long are computed again just before their late readers, one by one or a whole\n"
          "layer at a time. Prints the curve of memory against cost, the point that fits\n"
          "into the budget, and what is computed again, by source line. The program at that\n"
          "point is planned and checked.\n"
          "\n"
          "With --use=...,donate, arguments are donated first where that saves memory. That\n"
          "is free, but the caller must not use them afterwards, so it is off by default.\n"
          "\n"
          "Ctrl-C ends the search and keeps what was found so far.\n"
          "The exit code is 1 if no way to fit into the budget was found.\n",
      .examples =
          "  stowplan fit dump/                      what memory costs\n"
          "  stowplan fit dump/ --budget=16GiB       the cheapest way to fit into 16 GiB\n"
          "  stowplan fit dump/ --max-cost=10%       the least memory for 10 % more work\n"
          "  stowplan fit dump/ --format=html -o fit.html   a page to drag the budget on\n"
          "  stowplan fit module.hlo.pb --budget=16GiB -o new.hlo.pb   the changed module\n",
      .positional = "FILE",
      .count = Positionals::kAny,
      .options = WithPlanOptions({
          {.name = "output",
           .short_name = 'o',
           .value = "FILE",
           .help =
               "write the changed module, in the format it came in; with --format=html, the page"},
          {.name = "budget", .value = "SIZE", .help = "the size that main memory should fit into"},
          {.name = "max-cost",
           .value = "PERCENT",
           .help = "the most extra work that is allowed",
           .fallback = "100%"},
          {.name = "use",
           .value = "LIST",
           .help = "what may change: pack, order, recompute, donate",
           .fallback = kDefaultUses},
          {.name = "chart",
           .value = "FILE",
           .help = "also write the page of --format=html to this file"},
          {.name = "cost-model",
           .value = "KIND",
           .help = "how work is counted: by a machine's figures, or by bytes and flops alone",
           .fallback = "machine",
           .choices = {"machine", "plain"}},
          {.name = "machine",
           .value = "NAME",
           .help = "the machine whose figures to use (default: a common one of the target's kind)",
           .choices = FitMachines()},
          {.name = "bandwidth",
           .value = "RATE",
           .help = "bytes per second that its memory reaches in practice: 2.7T"},
          {.name = "flops",
           .value = "RATE",
           .help = "operations per second that it reaches in practice: 300T"},
          {.name = "time-limit", .value = "S", .help = "stop searching after S seconds"},
          {.name = "format",
           .value = "KIND",
           .help = "output format",
           .fallback = "text",
           .choices = {"text", "json", "html"}},
      }),
      .run = RunFit,
  };
}

}  // namespace stowplan::cli
