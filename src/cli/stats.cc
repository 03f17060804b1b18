// SPDX-License-Identifier: Apache-2.0
// stowplan stats: counts the instructions and bytes of a module.
#include "target/stats.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/human_bytes.h"
#include "base/json_writer.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/number.h"
#include "cli/program_file.h"
#include "page/text.h"
#include "session/module_errors.h"
#include "session/names.h"
#include "stowplan/session.h"

namespace stowplan::cli {
namespace {

struct StatsCommandOptions {
  std::string file;
  Target target;
  bool is_json = false;
  size_t top = 10;
};

std::string ToText(const hlo::Module& module, const Stats& stats,
                   const StatsCommandOptions& options) {
  std::string out = "module " + page::Printable(module.view(module.header.name)) + ", entry " +
                    page::Printable(module.name(module.entry)) +
                    (module.header.is_scheduled ? ", scheduled\n\n" : ", not scheduled\n\n");
  page::TextTable overview(
      {page::TextTable::kLeft, page::TextTable::kRight, page::TextTable::kLeft});
  overview.Add({"computations", std::to_string(stats.computations),
                std::to_string(stats.fused_computations) + " of them fused"});
  overview.Add({"instructions", std::to_string(stats.instructions), ""});
  overview.Add(
      {"parameters", std::to_string(stats.parameters), HumanAndExactBytes(stats.parameter_bytes)});
  overview.Add({"result", "", HumanAndExactBytes(stats.result_bytes)});
  overview.Add({"outputs in parameters' memory", std::to_string(stats.aliased_outputs), ""});
  overview.Append(out);

  out +=
      "\nbytes by element type, all arrays together, on " + std::string(options.target.name) + "\n";
  page::TextTable types({page::TextTable::kLeft, page::TextTable::kRight, page::TextTable::kRight});
  for (const Stats::TypeBytes& row : stats.types) {
    types.Add({std::string(hlo::Name(row.type)),
               std::to_string(row.arrays) + (row.arrays == 1 ? " array " : " arrays"),
               HumanAndExactBytes(row.bytes)});
  }
  types.Add({"total", "", HumanAndExactBytes(stats.total_bytes)});
  types.Append(out);
  if (stats.unbounded_arrays != 0) {
    out += "  not counted: " + std::to_string(stats.unbounded_arrays) + " arrays without a bound\n";
  }

  out += "\nlargest shapes\n";
  page::TextTable shapes({page::TextTable::kRight, page::TextTable::kRight, page::TextTable::kLeft,
                          page::TextTable::kLeft});
  for (const Stats::ShapeBytes& row : stats.largest) {
    shapes.Add({HumanAndExactBytes(row.bytes), std::to_string(row.arrays) + " x",
                ToString(module.shapes, row.shape),
                row.first.is_none()
                    ? ""
                    : "first in " + page::Shortened(page::Printable(module.name(row.first)), 60)});
  }
  shapes.Append(out);

  out += "\ninstructions by opcode\n";
  page::TextTable opcodes({page::TextTable::kRight, page::TextTable::kLeft});
  for (const Stats::OpcodeCount& row : stats.opcodes)
    opcodes.Add({std::to_string(row.count), page::Shortened(page::Printable(row.opcode), 60)});
  opcodes.Append(out);
  return out;
}

std::string ToJson(const hlo::Module& module, const Stats& stats,
                   const StatsCommandOptions& options) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("module", module.view(module.header.name));
  json.Field("entry", module.name(module.entry));
  json.Field("is_scheduled", module.header.is_scheduled);
  json.Field("target", options.target.name);
  json.Field("computations", stats.computations);
  json.Field("fused_computations", stats.fused_computations);
  json.Field("instructions", stats.instructions);
  json.Field("parameters", stats.parameters);
  json.Field("parameter_bytes", stats.parameter_bytes);
  json.Field("result_bytes", stats.result_bytes);
  json.Field("aliased_outputs", stats.aliased_outputs);
  json.Field("total_bytes", stats.total_bytes);
  json.Field("unbounded_arrays", stats.unbounded_arrays);
  json.BeginArray("types");
  for (const Stats::TypeBytes& row : stats.types) {
    json.BeginObject();
    json.Field("type", hlo::Name(row.type));
    json.Field("arrays", row.arrays);
    json.Field("bytes", row.bytes);
    json.End();
  }
  json.End();
  json.BeginArray("largest_shapes");
  for (const Stats::ShapeBytes& row : stats.largest) {
    json.BeginObject();
    json.Field("shape", std::string_view(ToString(module.shapes, row.shape)));
    json.Field("bytes", row.bytes);
    json.Field("arrays", row.arrays);
    if (!row.first.is_none()) json.Field("first", module.name(row.first));
    json.End();
  }
  json.End();
  json.BeginArray("opcodes");
  for (const Stats::OpcodeCount& row : stats.opcodes) {
    json.BeginObject();
    json.Field("opcode", std::string_view(row.opcode));
    json.Field("count", row.count);
    json.End();
  }
  json.End();
  json.End();
  return out;
}

int ShowStats(const StatsCommandOptions& options, Console& console) {
  const Result<hlo::Module> module = ReadModule(options.file);
  if (!module) {
    console.Show(ExplainModuleErrors(module.error()));
    return kBadUse;
  }
  console.Show(module->warnings);
  const Result<Stats> stats =
      ComputeStats(*module, {.target = options.target, .largest = options.top});
  if (!stats) {
    console.Show(stats.error());
    return kBadUse;
  }
  return console.Print(
      options.is_json ? ToJson(*module, *stats, options) : ToText(*module, *stats, options), kFine);
}

int RunStats(const Arguments& arguments, Console& console) {
  const auto top = ReadCount("top", arguments, console);
  if (!top) return kBadUse;
  PlanOptions options;
  options.module = arguments.option("module");
  options.speech = Speech::kCommandLine;
  std::optional<std::string> file = ProgramFile(arguments.positionals[0], options, console);
  if (!file) return kBadUse;
  return ShowStats({.file = *std::move(file),
                    .target = *FindTarget(arguments.option("target")),
                    .is_json = arguments.option("format") == "json",
                    .top = *top},
                   console);
}

}  // namespace

CommandSpec StatsCommand() {
  return {
      .name = "stats",
      .summary = "count instructions and bytes",
      .details =
          "Counts computations, instructions by opcode, parameters, and the bytes of all\n"
          "arrays that instructions produce, by element type, as if no two shared memory.\n"
          "Sizes are those of the target's compiler, including its padding.\n",
      .examples =
          "  stowplan stats module.txt\n"
          "  stowplan stats --target=tpu-v5e module.hlo.pb\n"
          "  stowplan stats --format=json module.txt | jq .total_bytes\n",
      .positional = "FILE",
      .options =
          {
              {.name = "module", .value = "NAME", .help = "the module to use from a directory"},
              {.name = "target",
               .value = "NAME",
               .help = "count bytes for this machine",
               .fallback = "cpu",
               .choices = TargetNames()},
              {.name = "format",
               .value = "KIND",
               .help = "output format",
               .fallback = "text",
               .choices = {"text", "json"}},
              {.name = "top", .value = "N", .help = "list the N largest shapes", .fallback = "10"},
          },
      .run = RunStats,
  };
}

}  // namespace stowplan::cli
