// SPDX-License-Identifier: Apache-2.0
// stowplan view: draws the memory of a program in one HTML file, or of many in a folder.
#include "view/view.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "base/human_bytes.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/deadline.h"
#include "cli/number.h"
#include "cli/plan_arguments.h"
#include "cli/view_files.h"
#include "cli/view_index.h"
#include "page/view_scene.h"
#include "session/choose_module.h"
#include "session/count_modules.h"
#include "session/inputs.h"
#include "session/pairs.h"
#include "session/setting.h"

namespace stowplan::cli {
namespace {

using page::ShownInput;
using page::ViewOptions;

constexpr std::string_view kPage = "view.html";
constexpr std::string_view kFolder = "view";

bool IsFolder(const std::string& path) {
  std::error_code error;
  return path.ends_with('/') || std::filesystem::is_directory(path, error);
}

// Whether several modules go to a folder: not if `output` is a file (x.html) or `-`.
bool MeansFolder(const std::string& output) {
  return output != "-" && !std::filesystem::path(output).has_extension();
}

// Writes one page, for one input or two.
int ViewPage(const std::vector<Inputs>& inputs, const std::string& output,
             const ViewOptions& options, Console& console) {
  if (output.empty() &&
      !MayWritePages({std::string(kPage)}, "choose a different file with -o, or move this one",
                     console))
    return kBadUse;
  view::Scene scene = {
      .title = {}, .modules = {}, .budget = options.budget, .sources = {}, .home = {}};
  std::vector<std::unique_ptr<ShownInput>> shown;
  for (const Inputs& input : inputs) {
    std::optional<PlannedModule> planned = console.Take(LoadOne(input, options.plan));
    if (!planned) return kBadUse;
    std::optional<std::unique_ptr<ShownInput>> made =
        console.Take(MakeShown(*std::move(planned), options));
    if (!made) return kBadUse;
    console.Show((*made)->problems);
    if (options.needs_best() && !(*made)->best) return kBadUse;
    shown.push_back(*std::move(made));
    AddTo(scene, *shown.back(), options);
  }
  scene.title = shown[0]->planned.name;
  const Result<std::string> bundle = view::WriteBundle(scene);
  const std::optional<std::string> page = console.Take(bundle ? view::WritePage(*bundle) : bundle);
  if (!page) return kBadUse;
  const std::unique_ptr<Output> file = console.Open(output.empty() ? std::string(kPage) : output);
  if (file == nullptr) return kBadUse;
  file->Write(*page);
  const int code = console.Finish(*file, kFine);
  if (code == kFine && output.empty()) console.Note(fmt::format("note: written to {}\n", kPage));
  return code;
}

std::string FolderFor(const std::string& output) {
  return output.empty() ? std::string(kFolder) : output;
}

// One input: writes a page, or an index if it has several modules and `output` is not a file.
int ViewOne(const std::string& input, const std::string& output, const ViewOptions& options,
            Console& console) {
  const std::optional<Inputs> inputs = console.Take(Open({input}));
  if (!inputs) return kBadUse;
  std::optional<Inputs> chosen = console.Take(ChooseModules(*inputs, options.plan));
  if (!chosen) return kBadUse;
  const bool has_many = chosen->modules.size() > 1;
  // LoadOne reports what is wrong with a directory without modules.
  if (!chosen->modules.empty() && (IsFolder(output) || (has_many && MeansFolder(output))))
    return ViewIndex({.title = input,
                      .entries = EntriesOf(std::move(chosen->modules)),
                      .leftovers = std::move(chosen->leftovers)},
                     FolderFor(output), options, console);
  const int code = ViewPage({*inputs}, output, options, console);
  if (code == kFine && has_many && options.plan.module.empty())
    console.Note("note: -o FOLDER/ writes a page for each module, and an index\n");
  return code;
}

// The bytes that the plan of a module takes; nothing if there is no plan.
std::optional<int64_t> BytesOf(const InputModule& module, const PlanOptions& options) {
  Inputs one;
  one.modules = {module};
  PlanOptions quiet = options;
  quiet.on_module = {};
  const CountedModules counted = CountGivenOrMade(one, quiet);
  if (counted.modules.empty()) return std::nullopt;
  return counted.modules[0].summary.bytes;
}

// Reduces `inputs` to the two modules of one name that take most; leaves them as they are if no
// name is on both sides. Modules that cannot be read rank last: the page reports what is wrong.
void KeepLargest(std::vector<ModulePair> pairs, const ViewOptions& options, InputPair& inputs,
                 Console& console) {
  std::erase_if(pairs, [](const ModulePair& pair) { return !pair.a || !pair.b; });
  if (pairs.empty()) return;
  size_t largest = 0;
  int64_t most = -1;
  for (size_t i = 0; pairs.size() > 1 && i < pairs.size(); ++i) {
    const std::optional<int64_t> a = BytesOf(*pairs[i].a, options.plan);
    const std::optional<int64_t> b = a ? BytesOf(*pairs[i].b, options.plan) : a;
    const int64_t sum = b ? CheckedAdd(*a, *b).value_or(INT64_MAX) : -1;
    const size_t loser = sum > most ? largest : i;
    if (loser != i || i != largest) {
      Forget(*pairs[loser].a);
      Forget(*pairs[loser].b);
    }
    if (sum <= most) continue;
    most = sum;
    largest = i;
  }
  if (most >= 0)
    console.Note(
        fmt::format("note: showing the largest of {} pairs of modules, {} with {} in both\n",
                    pairs.size(), pairs[largest].name, HumanBytes(most)));
  inputs.a.modules = {*std::move(pairs[largest].a)};
  inputs.b.modules = {*std::move(pairs[largest].b)};
}

// Two inputs: writes a page that shows both, or an index of all pairs.
int ViewTwo(const std::string& a, const std::string& b, const std::string& output,
            const ViewOptions& options, Console& console) {
  std::optional<InputPair> inputs = console.Take(OpenBoth(a, b));
  if (!inputs) return kBadUse;
  std::optional<std::vector<ModulePair>> pairs =
      console.Take(PairModules(inputs->a, inputs->b, options.plan));
  if (!pairs) return kBadUse;
  const bool has_many = pairs->size() > 1;
  if (IsFolder(output) || (has_many && MeansFolder(output))) {
    std::vector<Leftover> leftovers;
    for (const Inputs* const side : {&inputs->a, &inputs->b}) {
      const Result<Inputs> chosen = ChooseModules(*side, options.plan);
      if (chosen) std::ranges::copy(chosen->leftovers, std::back_inserter(leftovers));
    }
    return ViewIndex({.title = a + " and " + b,
                      .compared = {a, b},
                      .entries = EntriesOf(*std::move(pairs)),
                      .leftovers = std::move(leftovers)},
                     FolderFor(output), options, console);
  }
  KeepLargest(*std::move(pairs), options, *inputs, console);
  const int code = ViewPage({inputs->a, inputs->b}, output, options, console);
  if (code == kFine && has_many)
    console.Note("note: -o FOLDER/ compares all modules by name, and writes an index\n");
  return code;
}

int RunView(const Arguments& arguments, Console& console) {
  const std::vector<std::string>& inputs = arguments.positionals;
  const std::string& output = arguments.option("output");
  ViewOptions options = {.plan = PlanOptionsOf(arguments, console),
                         .budget = {},
                         .is_best = arguments.option("policy") == "best",
                         .is_against_best = arguments.option("against") == "best",
                         .keeps_order = arguments.option("order") == "given"};
  options.plan.prefers_proto = options.needs_best();
  const auto refuse = [&](std::string_view message, std::string_view hint = {}) {
    console.ShowError(message, hint);
    return kBadUse;
  };
  if (!console.Take(CheckRelease(options.plan.release))) return kBadUse;
  if (inputs.size() > 2) return refuse("view takes one INPUT, or two to compare");
  if (options.is_against_best && inputs.size() == 2)
    return refuse("--against=best takes one INPUT, not two", "leave one of them out");
  if (options.is_against_best && options.is_best)
    return refuse("--against=best shows both plans, --policy=best the lower one alone",
                  "leave one of them out");
  if (options.keeps_order && !options.is_against_best)
    return refuse("--order=given is for --against=best");
  if (!arguments.option("time-limit").empty()) {
    if (!options.needs_best())
      return refuse("--time-limit limits the search of policy best",
                    "add --against=best or --policy=best");
    const std::optional<double> seconds = ReadSeconds("time-limit", arguments, console);
    if (!seconds) return kBadUse;
    options.plan.should_stop = StopAfter(*seconds);
    options.plan.searches_on = true;
  }
  if (!arguments.option("budget").empty()) {
    options.budget = ReadBytes("budget", arguments, console);
    if (!options.budget) return kBadUse;
  }
  if (inputs.size() == 1) return ViewOne(inputs[0], output, options, console);
  return ViewTwo(inputs[0], inputs[1], output, options, console);
}

}  // namespace

CommandSpec ViewCommand() {
  return {
      .name = "view",
      .summary = "draw a program's memory as one self-contained HTML file",
      .details =
          "Writes one HTML file that needs no server, no network and no other files: open\n"
          "it, or attach it to a bug report. It shows the place of every value over the\n"
          "course of the program, what is live at any moment, and why a value is alive.\n"
          "With two inputs, it shows both side by side.\n"
          "\n"
          "INPUT can be anything with a plan: XLA's reports, a .hlo.pb, or a dump\n"
          "directory. A module without a plan is planned first, as XLA does.\n"
          "\n"
          "For a directory with several modules, writes a page per module into a folder,\n"
          "and index.html, which lists them, largest first. For two directories, writes a\n"
          "page per pair of modules, matched by name as in `stowplan diff`, largest change\n"
          "first. If -o names a file (x.html), shows only the largest. Without -o, writes\n"
          "view.html or view/index.html. Never overwrites files in a folder other than its\n"
          "own pages.\n"
          "\n"
          "--against=best plans the same program with policy best (see `stowplan assign`),\n"
          "in a better order of instructions if there is one (see `stowplan order`), and\n"
          "shows both plans, with a lower bound for any plan.\n",
      .examples =
          "  stowplan view dump/                           all modules: view/index.html\n"
          "  stowplan view dump/ -o pages/ --budget=16GiB\n"
          "  stowplan view dump/ -o view.html              the largest module\n"
          "  stowplan view m.hlo.pb --source-root=. -o view.html\n"
          "  stowplan view before.hlo.pb after.hlo.pb      side by side: view.html\n"
          "  stowplan view before/ after/ -o change/       all modules of both\n"
          "  stowplan view dump/ --module=step --against=best   how much lower can it get?\n",
      .positional = "INPUT",
      .count = Positionals::kAny,
      .options = WithPlanOptions({
          {.name = "output",
           .short_name = 'o',
           .value = "FILE",
           .help = "where to write: a file, `-` for standard output, or FOLDER/ for an index"},
          {.name = "against",
           .value = "POLICY",
           .help = "also show the plan that this policy makes for the same program",
           .choices = {"best"}},
          {.name = "order",
           .value = "WHICH",
           .help = "against=best: in the best order, or in the one that is given",
           .fallback = "best",
           .choices = {"best", "given"}},
          {.name = "policy",
           .value = "NAME",
           .help = "show XLA's plan, or a smaller one",
           .fallback = "xla",
           .choices = {"xla", "best"}},
          {.name = "time-limit", .value = "S", .help = "best: search for S seconds"},
          {.name = "budget",
           .value = "SIZE",
           .help = "draw a line at this size in memory space 0, such as 14GiB"},
          {.name = "source-root",
           .value = "DIR",
           .help = "include the source files in DIR in the page"},
      }),
      .run = RunView,
  };
}

}  // namespace stowplan::cli
