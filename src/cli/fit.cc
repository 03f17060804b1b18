// SPDX-License-Identifier: Apache-2.0
// stowplan fit: a program that needs less memory, for a little more work.
#include "session/fit.h"

#include <charconv>
#include <csignal>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/deadline.h"
#include "cli/number.h"
#include "cli/plan_arguments.h"
#include "cli/progress.h"
#include "cli/write_output.h"
#include "page/fit_page.h"
#include "session/write_module.h"
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
  console.ShowError("--" + std::string(option) + " is `" + text + "`", "it is 0% to 1000%");
  return std::nullopt;
}

// Reads --use; false if a word is not known.
bool ReadUses(std::string_view words, FitOptions& options, Console& console) {
  options.uses_order = options.uses_recompute = false;
  while (!words.empty()) {
    const size_t comma = std::min(words.find(','), words.size());
    const std::string_view word = words.substr(0, comma);
    words.remove_prefix(std::min(comma + 1, words.size()));
    if (word == "order") {
      options.uses_order = true;
    } else if (word == "recompute") {
      options.uses_recompute = true;
    } else if (word != "pack") {
      console.ShowError("--use has `" + std::string(word) + "`",
                        "a list of pack, order, recompute");
      return false;
    }
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
  if (!cost || !ReadUses(arguments.option("use"), options, console)) return std::nullopt;
  options.max_cost = *cost;
  options.model =
      arguments.option("cost-model") == "plain" ? CostModel::kPlain : CostModel::kMachine;
  if (!arguments.option("time-limit").empty()) {
    const std::optional<double> seconds = ReadSeconds("time-limit", arguments, console);
    if (!seconds) return std::nullopt;
    options.plan.should_stop = StopAfter(*seconds);
  }
  return options;
}

volatile std::sig_atomic_t is_interrupted = 0;

// The first Ctrl-C ends the search with what was found so far, the second one the program.
void StopSearching(int) {
  is_interrupted = 1;
  std::signal(SIGINT, SIG_DFL);
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
  Result<Fitted> answer = Fit(*loaded, *options);
  line.reset();
  const std::optional<Fitted> fitted = console.Take(std::move(answer));
  if (!fitted) return kBadUse;
  console.Show(fitted->planned.notes);
  const bool fits = !options->budget || fitted->facts.bytes <= *options->budget;
  const int code = fits ? kFine : kFinding;
  const std::string page = arguments.option("format") == "json" ? page::FitJson(*fitted, *options)
                                                                : page::FitPage(*fitted, *options);
  const int printed = console.Print(page, code);
  if (printed == kBadUse || arguments.option("output").empty()) return printed;
  return WriteOutput(arguments.option("output"),
                     WriteModule(*fitted->planned.module, fitted->origins), code, console);
}

}  // namespace

CommandSpec FitCommand() {
  return {
      .name = "fit",
      .summary = "make a program need less memory, for a little more work",
      .details =
          "Finds changes of the compiled program that lower its memory at the least cost:\n"
          "another order of instructions and a tighter packing are free; values that live\n"
          "long are computed again right before they are read late, one by one or a whole\n"
          "layer at a time. Prints the curve of memory against cost, the point that fits\n"
          "into the budget, and what is computed again, by source line. The program of this\n"
          "point is planned and checked.\n"
          "\n"
          "Ctrl-C ends the search with what was found so far.\n"
          "The exit code is 1 if no way to fit into the budget was found.\n",
      .examples =
          "  stowplan fit dump/                      what memory costs\n"
          "  stowplan fit dump/ --budget=16GiB       the cheapest way to fit into 16 GiB\n"
          "  stowplan fit dump/ --max-cost=10%       the least memory for 10 % more work\n"
          "  stowplan fit module.hlo.pb --budget=16GiB -o new.hlo.pb   the changed module\n",
      .positional = "FILE",
      .count = Positionals::kAny,
      .options = WithPlanOptions({
          {.name = "output",
           .short_name = 'o',
           .value = "FILE",
           .help = "write the changed module, in the format it came in"},
          {.name = "budget", .value = "SIZE", .help = "what main memory should fit into"},
          {.name = "max-cost",
           .value = "PERCENT",
           .help = "how much more work is allowed, at most",
           .fallback = "100%"},
          {.name = "use",
           .value = "LIST",
           .help = "what may change: pack, order, recompute",
           .fallback = "pack,order,recompute"},
          {.name = "cost-model",
           .value = "KIND",
           .help = "how work is counted: by a machine's figures, or by bytes and flops alone",
           .fallback = "machine",
           .choices = {"machine", "plain"}},
          {.name = "time-limit", .value = "S", .help = "stop searching after S seconds"},
          {.name = "format",
           .value = "KIND",
           .help = "output format",
           .fallback = "text",
           .choices = {"text", "json"}},
      }),
      .run = RunFit,
  };
}

}  // namespace stowplan::cli
