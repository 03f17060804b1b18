// SPDX-License-Identifier: Apache-2.0
// stowplan stats: a module in numbers.
#include "stowplan/target/stats.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/human_bytes.h"
#include "base/json_writer.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/names.h"
#include "cli/number.h"
#include "cli/suggest.h"
#include "stowplan/read.h"

namespace stowplan::cli {
namespace {

struct StatsCommandOptions {
  std::string file;
  Target target;
  bool is_json = false;
  size_t top = 10;
};

// Columns of text, each as wide as its widest cell. Numbers are aligned to the right.
class Grid {
 public:
  enum Align { kLeft, kRight };
  explicit Grid(std::vector<Align> columns) : columns_(std::move(columns)) {}
  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  void Append(std::string& out) const {
    std::vector<size_t> widths(columns_.size());
    for (const auto& row : rows_) {
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    for (const auto& row : rows_) {
      std::string line = " ";
      for (size_t i = 0; i < row.size(); ++i) {
        const std::string gap(widths[i] - row[i].size(), ' ');
        line += " " + (columns_[i] == kRight ? gap + row[i] : row[i] + gap) + " ";
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
  }

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Names come from the input and may hold anything.
std::string Printable(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(
      out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return out;
}

std::string ToText(const hlo::Module& module, const Stats& stats,
                   const StatsCommandOptions& options) {
  std::string out = "module " + Printable(module.view(module.header.name)) + ", entry " +
                    Printable(module.name(module.entry)) +
                    (module.header.is_scheduled ? ", scheduled\n\n" : ", not scheduled\n\n");
  Grid overview({Grid::kLeft, Grid::kRight, Grid::kLeft});
  overview.Add({"computations", std::to_string(stats.computations),
                "of which " + std::to_string(stats.fused_computations) + " are fused"});
  overview.Add({"instructions", std::to_string(stats.instructions), ""});
  overview.Add(
      {"parameters", std::to_string(stats.parameters), HumanAndExactBytes(stats.parameter_bytes)});
  overview.Add({"result", "", HumanAndExactBytes(stats.result_bytes)});
  overview.Add({"outputs in parameters' memory", std::to_string(stats.aliased_outputs), ""});
  overview.Append(out);

  out +=
      "\nbytes by element type, all arrays together, on " + std::string(options.target.name) + "\n";
  Grid types({Grid::kLeft, Grid::kRight, Grid::kRight});
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
  Grid shapes({Grid::kRight, Grid::kRight, Grid::kLeft, Grid::kLeft});
  for (const Stats::ShapeBytes& row : stats.largest) {
    shapes.Add({HumanAndExactBytes(row.bytes), std::to_string(row.arrays) + " x",
                ToString(module.shapes, row.shape),
                row.first.is_none() ? "" : "first in " + Printable(module.name(row.first))});
  }
  shapes.Append(out);

  out += "\ninstructions by opcode\n";
  Grid opcodes({Grid::kRight, Grid::kLeft});
  for (const Stats::OpcodeCount& row : stats.opcodes)
    opcodes.Add({std::to_string(row.count), Printable(row.opcode)});
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

int Run(const Arguments& arguments, Console& console) {
  const auto top = ReadCount("top", arguments, console);
  if (!top) return kBadUse;
  return ShowStats({.file = arguments.positionals[0],
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
          "arrays that instructions make, by element type, as if none shared memory with\n"
          "another. Sizes are those that the target's compiler assigns, with its padding.\n",
      .examples =
          "  stowplan stats module.txt\n"
          "  stowplan stats --target=tpu-v5e module.hlo.pb\n"
          "  stowplan stats --format=json module.txt | jq .total_bytes\n",
      .positional = "FILE",
      .options =
          {
              {.name = "target",
               .value = "NAME",
               .help = "count bytes for",
               .fallback = "cpu",
               .choices = TargetNames()},
              {.name = "format",
               .value = "KIND",
               .help = "how to print",
               .fallback = "text",
               .choices = {"text", "json"}},
              {.name = "top", .value = "N", .help = "list the N largest shapes", .fallback = "10"},
          },
      .run = Run,
  };
}

}  // namespace stowplan::cli
