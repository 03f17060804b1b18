// SPDX-License-Identifier: Apache-2.0
// stowplan pack: storage allocation as numbers.
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "base/json_writer.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/number.h"
#include "cli/report_text.h"
#include "stowplan/base/source.h"
#include "stowplan/pack/check.h"
#include "stowplan/pack/csv.h"
#include "stowplan/pack/solve.h"

namespace stowplan::cli {
namespace {

struct PackOptions {
  std::string file;
  std::string plan;    // to be checked; empty: one is made
  std::string output;  // empty: none
  std::optional<int64_t> capacity;
  std::optional<double> time_limit;  // in seconds
  uint64_t seed = 1;
  bool is_json = false;
};

Result<pack::Table> ReadFile(const std::string& file) {
  STOWPLAN_TRY(const std::shared_ptr<const Source> source, ReadSource(file));
  return pack::ReadTable(*source);
}

// "optimal", and what that follows from.
std::string Proof(const pack::Answer& answer, const PackOptions& options) {
  const bool is_load = answer.bound == answer.load.bytes;
  const std::string bound = is_load
                                ? fmt::format("{} are alive at time {}",
                                              HumanAndExactBytes(answer.bound), answer.load.time)
                                : fmt::format("the search has been through all plans below {}",
                                              HumanAndExactBytes(answer.bound));
  switch (answer.status) {
    case pack::Status::kOptimal:
      return "optimal: " + bound;
    case pack::Status::kFeasible:
      return fmt::format("feasible, at most {:.3f}% above the optimum: {}",
                         100.0 * static_cast<double>(answer.plan.height - answer.bound) /
                             static_cast<double>(answer.bound),
                         bound);
    case pack::Status::kInfeasible:
      return fmt::format("infeasible: no plan fits {}: {}", HumanAndExactBytes(*options.capacity),
                         bound);
    case pack::Status::kUndecided:
      return fmt::format("undecided: neither a plan within {} nor a proof that there is none; {}",
                         HumanAndExactBytes(*options.capacity), bound);
  }
  return {};
}

std::string ToJson(const pack::Table& table, const pack::Answer& answer) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("schema", "stowplan.pack/1");
  json.Field("status", pack::Name(answer.status));
  json.Field("height", answer.plan.height);
  json.Field("bound", answer.bound);
  json.BeginObject("load");
  json.Field("bytes", answer.load.bytes);
  json.Field("time", answer.load.time);
  json.End();
  json.BeginArray("buffers");
  for (size_t b = 0; b < table.problem.buffers.size(); ++b) {
    json.BeginObject();
    json.Field("id", std::string_view(table.ids[b]));
    json.Field("offset", answer.plan.offsets[b]);
    json.End();
  }
  json.End();
  json.End();
  out += '\n';
  return out;
}

int Check(const PackOptions& options, Console& console) {
  const Result<pack::Table> problem = ReadFile(options.file);
  const Result<pack::Table> plan = ReadFile(options.plan);
  if (!problem || !plan) {
    console.Show(problem ? plan.error() : problem.error());
    return kBadUse;
  }
  if (!plan->offsets || plan->ids != problem->ids) {
    console.ShowError(!plan->offsets ? "the plan has no column `offset`"
                                     : "the plan is of other buffers than the problem");
    return kBadUse;
  }
  pack::Plan checked = {.offsets = *plan->offsets, .height = 0};
  for (size_t b = 0; b < checked.offsets.size(); ++b)
    checked.height =
        std::max(checked.height, checked.offsets[b] + problem->problem.buffers[b].size);
  std::string out;
  for (const std::string& complaint : pack::CheckPlan(problem->problem, checked))
    out += complaint + "\n";
  const bool is_too_high = options.capacity && checked.height > *options.capacity;
  if (is_too_high) out += fmt::format("the plan is above {}\n", *options.capacity);
  const bool is_sound = out.empty();
  out += fmt::format("{}: {} buffers, {} high\n", is_sound ? "sound" : "not sound",
                     checked.offsets.size(), HumanAndExactBytes(checked.height));
  return console.Print(out, is_sound ? kFine : kFinding);
}

int Pack(const PackOptions& options, Console& console) {
  const Result<pack::Table> table = ReadFile(options.file);
  if (!table) {
    console.Show(table.error());
    return kBadUse;
  }
  pack::SolveOptions solve = {.capacity = options.capacity, .seed = options.seed};
  if (options.time_limit) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(*options.time_limit));
    solve.effort = std::numeric_limits<int64_t>::max();
    solve.should_stop = [end] { return Clock::now() >= end; };
  }
  const pack::Answer answer = pack::Solve(table->problem, solve);
  for (const std::string& complaint : pack::CheckPlan(table->problem, answer.plan)) {
    console.ShowError("the plan is not sound: " + complaint, "this is an error of Stowplan");
    return kBadUse;
  }
  if (!options.output.empty()) {
    const std::unique_ptr<Output> output = console.Open(options.output);
    if (output == nullptr) return kBadUse;
    output->Write(pack::WriteTable(*table, answer.plan));
    if (const int code = console.Finish(*output, kFine); code != kFine) return code;
  }
  const bool is_met = !options.capacity || answer.plan.height <= *options.capacity;
  const std::string text =
      fmt::format("{} buffers in {}\n{}\n", table->problem.buffers.size(),
                  HumanAndExactBytes(answer.plan.height), Proof(answer, options));
  return console.Print(options.is_json ? ToJson(*table, answer) : text, is_met ? kFine : kFinding);
}

int Run(const Arguments& arguments, Console& console) {
  PackOptions options = {.file = arguments.positionals[0],
                         .plan = arguments.option("check"),
                         .output = arguments.option("output"),
                         .is_json = arguments.option("format") == "json"};
  const auto seed = ReadCount("seed", arguments, console);
  if (!seed) return kBadUse;
  options.seed = *seed;
  if (const std::string& text = arguments.option("capacity"); !text.empty()) {
    options.capacity = ParseBytes(text);
    if (!options.capacity) {
      console.ShowError("--capacity wants a size, not `" + text + "`", "such as 16GiB or 1048576");
      return kBadUse;
    }
  }
  if (const std::string& text = arguments.option("time-limit"); !text.empty()) {
    double seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || end != text.data() + text.size() || !(seconds >= 0) ||
        seconds > 1e6) {
      console.ShowError("--time-limit wants seconds, not `" + text + "`", "such as 0.5 or 60");
      return kBadUse;
    }
    options.time_limit = seconds;
  }
  return options.plan.empty() ? Pack(options, console) : Check(options, console);
}

}  // namespace

CommandSpec PackCommand() {
  return {
      .name = "pack",
      .summary = "pack buffers into as little memory as possible",
      .details =
          "Reads buffers with sizes and times (CSV: id,lower,upper,size, as MiniMalloc has it; an\n"
          "alignment if you like), chooses offsets so that no two that are alive at once overlap,\n"
          "and says how far from the optimum the result can be. With --capacity, looks for a plan\n"
          "that fits, or a proof that there is none; exit code 1 when there is no plan.\n"
          "\n"
          "The answer depends on the problem and the seed alone, unless --time-limit is given.\n",
      .examples =
          "  stowplan pack problem.csv\n"
          "  stowplan pack problem.csv --capacity=1MiB -o plan.csv\n"
          "  stowplan pack problem.csv --time-limit=10\n"
          "  stowplan pack problem.csv --check=plan.csv      is this plan sound?\n",
      .positional = "FILE",
      .options =
          {
              {.name = "capacity", .value = "SIZE", .help = "find a plan that fits into this"},
              {.name = "time-limit", .value = "S", .help = "go on for so many seconds"},
              {.name = "seed", .value = "N", .help = "of chance in the search", .fallback = "1"},
              {.name = "check", .value = "PLAN", .help = "look at this plan instead of making one"},
              {.name = "output",
               .short_name = 'o',
               .value = "FILE",
               .help = "write the plan there, as CSV"},
              {.name = "format",
               .value = "KIND",
               .help = "how to print",
               .fallback = "text",
               .choices = {"text", "json"}},
          },
      .run = Run,
  };
}

}  // namespace stowplan::cli
