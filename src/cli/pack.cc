// SPDX-License-Identifier: Apache-2.0
// stowplan pack: dynamic storage allocation for plain buffers.
#include "stowplan/pack.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "base/json_writer.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/deadline.h"
#include "cli/number.h"
#include "cli/pack_progress.h"
#include "pack/certificate.h"
#include "pack/csv.h"
#include "pack/svg.h"
#include "page/pack_text.h"
#include "page/text.h"
#include "stowplan/base/source.h"

namespace stowplan::cli {
namespace {

struct PackOptions {
  std::string file;
  std::string plan;         // the plan to check; empty: make one
  std::string output;       // empty: none
  std::string svg;          // empty: none
  std::string certificate;  // empty: none
  std::optional<int64_t> capacity;
  std::optional<double> time_limit;  // in seconds
  std::vector<pack::Pool> pools;
  std::string solver;  // empty: all
  uint64_t seed = 1;
  int threads = 1;
  bool is_json = false;
};

Result<pack::Table> ReadProblem(const PackOptions& options) {
  STOWPLAN_TRY(std::shared_ptr<const Source> source, ReadSource(options.file));
  return pack::ReadTable(std::move(source), options.pools);
}

Result<pack::Plan> ReadPlanOf(const pack::Table& table, const PackOptions& options) {
  STOWPLAN_TRY(std::shared_ptr<const Source> source, ReadSource(options.plan));
  return pack::ReadPlan(std::move(source), table);
}

int CheckPacking(const PackOptions& options, Console& console) {
  const Result<pack::Table> table = ReadProblem(options);
  if (!table) {
    console.Show(table.error());
    return kBadUse;
  }
  const Result<pack::Plan> plan = ReadPlanOf(*table, options);
  if (!plan) {
    console.Show(plan.error());
    return kBadUse;
  }
  std::vector<std::string> complaints = pack::CheckPlan(table->problem, *plan, table->ids);
  if (options.capacity && plan->height > *options.capacity)
    complaints.push_back(fmt::format("the plan is above {}", *options.capacity));
  const int code = complaints.empty() ? kFine : kFinding;
  std::string out;
  if (options.is_json) {
    JsonWriter json(out);
    json.BeginObject();
    json.Field("schema", "stowplan.pack-check/1");
    json.Field("sound", complaints.empty());
    json.Field("height", plan->height);
    json.BeginArray("complaints");
    for (const std::string& complaint : complaints) json.Value(std::string_view(complaint));
    json.End();
    json.End();
    out += '\n';
    return console.Print(out, code);
  }
  for (const std::string& complaint : complaints) out += page::Printable(complaint) + "\n";
  out +=
      fmt::format("{}: {}, {} high\n", complaints.empty() ? "sound" : "not sound",
                  CountOf(std::ssize(plan->offsets), "buffer"), HumanAndExactBytes(plan->height));
  return console.Print(out, code);
}

Result<pack::Answer> Solve(const pack::Table& table, const PackOptions& options) {
  pack::SolveOptions solve = {.capacity = options.capacity,
                              .seed = options.seed,
                              .threads = options.threads,
                              .solver = options.solver};
  PackProgress progress;
  solve.on_plan = [&](const pack::Plan& plan, int64_t bound) { progress.Show(plan.height, bound); };
  if (options.time_limit) {
    solve.effort = std::numeric_limits<int64_t>::max();
    solve.should_stop = [&progress, is_late = StopAfter(*options.time_limit)] {
      progress.Tick();
      return is_late();
    };
  }
  return pack::Solve(table.problem, solve, table.ids);
}

// An unsound plan is a bug in Stowplan, and must never be written.
bool IsSound(const pack::Table& table, const pack::Answer& answer, Console& console) {
  // If the pools are too small, there is no plan.
  if (!table.problem.pools.empty() && !page::HasFit(answer)) return true;
  const std::vector<std::string> complaints =
      pack::CheckPlan(table.problem, answer.plan, table.ids);
  if (complaints.empty()) return true;
  console.ShowError("the plan is not sound: " + page::Printable(complaints.front()),
                    "this is a bug in Stowplan");
  return false;
}

// Returns the exit code; kFine if there is nothing to write.
int WriteTo(const std::string& path, const auto& make, Console& console) {
  if (path.empty()) return kFine;
  const std::unique_ptr<Output> output = console.Open(path);
  if (output == nullptr) return kBadUse;
  output->Write(make());
  return console.Finish(*output, kFine);
}

int Pack(const PackOptions& options, Console& console) {
  const Result<pack::Table> table = ReadProblem(options);
  if (!table) {
    console.Show(table.error());
    return kBadUse;
  }
  const Result<pack::Answer> solved = Solve(*table, options);
  if (!solved) {
    console.Show(solved.error());
    return kBadUse;
  }
  const pack::Answer& answer = *solved;
  if (!IsSound(*table, answer, console)) return kBadUse;
  const bool fits = page::HasFit(answer);
  if (fits) {
    const int plan_code =
        WriteTo(options.output, [&] { return pack::WriteTable(*table, answer.plan); }, console);
    const int svg_code =
        WriteTo(options.svg, [&] { return pack::DrawPlan(*table, answer.plan); }, console);
    if (plan_code != kFine || svg_code != kFine) return kBadUse;
  } else if (!options.output.empty() || !options.svg.empty()) {
    console.Note("note: no plan fits, so none was written\n");
  }
  const int code = WriteTo(
      options.certificate, [&] { return pack::WriteCertificate(*table, answer, options.capacity); },
      console);
  if (code != kFine) return code;
  const std::string text = options.is_json ? page::PackJson(*table, answer, options.capacity)
                                           : page::PackText(*table, answer, options.capacity);
  const bool is_taken = options.output == "-" || options.svg == "-" || options.certificate == "-";
  if (!is_taken) return console.Print(text, fits ? kFine : kFinding);
  console.Note(text);
  return fits ? kFine : kFinding;
}

// One NAME:SIZE per line. If a line is not that, shows an error and returns nothing.
std::optional<std::vector<pack::Pool>> ReadPools(std::string_view lines, Console& console) {
  std::vector<pack::Pool> pools;
  while (!lines.empty()) {
    const std::string_view word = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), word.size() + 1));
    const size_t colon = word.rfind(':');
    const std::string name(word.substr(0, std::min(colon, word.size())));
    const std::optional<int64_t> size =
        colon == std::string_view::npos ? std::nullopt : page::ParseBytes(word.substr(colon + 1));
    if (!size || name.empty() || name.find_first_of(" \t,") != std::string::npos) {
      console.ShowError("--pool needs NAME:SIZE, not `" + std::string(word) + "`",
                        "such as fast:16MiB; a name has no blanks or commas");
      return std::nullopt;
    }
    if (std::ranges::find(pools, name, &pack::Pool::name) != pools.end()) {
      console.ShowError("the pool `" + name + "` is given twice");
      return std::nullopt;
    }
    pools.push_back({name, *size});
  }
  return pools;
}

// Shows an error and returns false if one of them is not a number.
bool ReadNumbers(const Arguments& arguments, PackOptions& options, Console& console) {
  const auto seed = ReadCount("seed", arguments, console);
  const auto threads = ReadCount("threads", arguments, console);
  if (!seed || !threads) return false;
  options.seed = *seed;
  if (*threads < 1 || *threads > 1024) {
    console.ShowError("--threads needs a number from 1 to 1024");
    return false;
  }
  options.threads = static_cast<int>(*threads);
  if (const std::string& text = arguments.option("capacity"); !text.empty()) {
    options.capacity = page::ParseBytes(text);
    if (!options.capacity) {
      console.ShowError("--capacity needs a size, not `" + text + "`", "such as 16GiB or 1048576");
      return false;
    }
  }
  if (const std::string& text = arguments.option("time-limit"); !text.empty()) {
    double seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || end != text.data() + text.size() || !(seconds >= 0) ||
        seconds > 1e6) {
      console.ShowError("--time-limit needs seconds, not `" + text + "`", "such as 0.5 or 60");
      return false;
    }
    options.time_limit = seconds;
  }
  return true;
}

int RunPack(const Arguments& arguments, Console& console) {
  const bool is_check = arguments.flag("check");
  if (arguments.positionals.size() != (is_check ? 2 : 1)) {
    console.ShowError(
        is_check ? "--check needs a PROBLEM and a PLAN"
                 : "pack takes only one FILE; unexpected `" + arguments.positionals[1] + "`",
        "`stowplan pack --help` shows its options");
    return kBadUse;
  }
  PackOptions options = {.file = arguments.positionals[0],
                         .plan = is_check ? arguments.positionals[1] : "",
                         .output = arguments.option("output"),
                         .svg = arguments.option("svg"),
                         .certificate = arguments.option("certificate"),
                         .solver = arguments.option("solver"),
                         .is_json = arguments.option("format") == "json"};
  const std::string* const files[] = {&options.output, &options.svg, &options.certificate};
  const auto is_given = [](const std::string* file) { return !file->empty(); };
  if (is_check && std::ranges::any_of(files, is_given)) {
    console.ShowError("--check reads a plan and does not make one",
                      "leave out -o, --svg and --certificate");
    return kBadUse;
  }
  const auto to_stdout =
      std::ranges::count_if(files, [](const auto* file) { return *file == "-"; });
  if (to_stdout + (options.is_json ? 1 : 0) > 1) {
    console.ShowError("two outputs go to standard output", "write one of them to a file");
    return kBadUse;
  }
  auto pools = ReadPools(arguments.option("pool"), console);
  if (!pools || !ReadNumbers(arguments, options, console)) return kBadUse;
  options.pools = std::move(*pools);
  if (!options.pools.empty() && options.capacity) {
    console.ShowError("pools have their own capacities", "leave out --capacity");
    return kBadUse;
  }
  return is_check ? CheckPacking(options, console) : Pack(options, console);
}

}  // namespace

CommandSpec PackCommand() {
  return {
      .name = "pack",
      .summary = "pack buffers into as little memory as possible",
      .details =
          "Reads buffers with sizes and live ranges, chooses offsets so that no two buffers\n"
          "alive at the same time overlap, and shows how far from the optimum the result\n"
          "can be. FILE is CSV with the columns id,lower,upper,size, as in MiniMalloc;\n"
          "docs/pack.md has optional ones: alignments, gaps, pins, groups, pools.\n"
          "\n"
          "With --capacity, looks for a plan that fits, or a proof that there is none. The\n"
          "exit code is 1 if no plan was found. With --check, checks a plan instead of\n"
          "making one.\n"
          "\n"
          "The answer depends only on the problem and the seed, unless --time-limit is\n"
          "given.\n",
      .examples =
          "  stowplan pack problem.csv\n"
          "  stowplan pack problem.csv --capacity=1MiB -o plan.csv\n"
          "  stowplan pack problem.csv --time-limit=10 --svg=plan.svg\n"
          "  stowplan pack problem.csv --pool=fast:16MiB --pool=slow:16GiB -o plan.csv\n"
          "  stowplan pack --check problem.csv plan.csv      is this plan sound?\n",
      .positional = "FILE",
      .count = Positionals::kAny,
      .options =
          {
              {.name = "capacity", .value = "SIZE", .help = "find a plan that fits into SIZE"},
              {.name = "time-limit", .value = "S", .help = "search for S seconds"},
              {.name = "seed",
               .value = "N",
               .help = "seed of the search's random choices",
               .fallback = "1"},
              {.name = "threads",
               .value = "N",
               .help = "use N threads; the plan does not depend on N",
               .fallback = "1"},
              {.name = "solver",
               .value = "NAME",
               .help = "use only this solver",
               .choices = pack::SolverNames()},
              {.name = "pool",
               .value = "NAME:SIZE",
               .help = "a memory of this size; repeat for further pools, which take what does not "
                       "fit the earlier ones",
               .is_list = true},
              {.name = "check", .help = "take two files, a problem and a plan, and check the plan"},
              {.name = "output",
               .short_name = 'o',
               .value = "FILE",
               .help = "write the plan to this file as CSV"},
              {.name = "svg", .value = "FILE", .help = "draw the plan to this file"},
              {.name = "certificate",
               .value = "FILE",
               .help = "write a certificate for stowplan-certify to this file"},
              {.name = "format",
               .value = "KIND",
               .help = "output format",
               .fallback = "text",
               .choices = {"text", "json"}},
          },
      .run = RunPack,
  };
}

}  // namespace stowplan::cli
