// SPDX-License-Identifier: Apache-2.0
// stowplan view: the memory of a program in one HTML file, or of many in a folder.
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
#include "page/source_root.h"
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

// Where several modules go when a file was not asked for: x.html is one, `-` too.
bool MeansFolder(const std::string& output) {
  return output != "-" && !std::filesystem::path(output).has_extension();
}

// One page, of one input or of two.
int ViewPage(const std::vector<Inputs>& inputs, const std::string& output,
             const ViewOptions& options, Console& console) {
  if (output.empty() &&
      !MayWritePages({std::string(kPage)}, "name another file with -o, or move it away", console))
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

// One input: a page of it, or an index when it has several modules and nothing speaks against it.
int ViewOne(const std::string& input, const std::string& output, const ViewOptions& options,
            Console& console) {
  const std::optional<Inputs> inputs = console.Take(Open({input}));
  if (!inputs) return kBadUse;
  std::optional<Inputs> chosen = console.Take(ChooseModules(*inputs, options.plan));
  if (!chosen) return kBadUse;
  const bool has_many = chosen->modules.size() > 1;
  // LoadOne says what is wrong with a directory in which there is no module.
  if (!chosen->modules.empty() && (IsFolder(output) || (has_many && MeansFolder(output))))
    return ViewIndex({.title = input,
                      .entries = EntriesOf(std::move(chosen->modules)),
                      .leftovers = std::move(chosen->leftovers)},
                     FolderFor(output), options, console);
  const int code = ViewPage({*inputs}, output, options, console);
  if (code == kFine && has_many && options.plan.module.empty())
    console.Note("note: -o FOLDER/ writes a page for each of them, and an index\n");
  return code;
}

// What the plan of a module takes; nothing when there is none.
std::optional<int64_t> BytesOf(const InputModule& module, const PlanOptions& options) {
  Inputs one;
  one.modules = {module};
  PlanOptions quiet = options;
  quiet.on_module = {};
  const CountedModules counted = CountGivenOrMade(one, quiet);
  if (counted.modules.empty()) return std::nullopt;
  return counted.modules[0].summary.bytes;
}

// The two of one name that take most, as modules of `inputs`; both as they are when no name is on
// both sides. Those that cannot be read count last: the page says what is wrong with them.
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
        fmt::format("note: of {} pairs of modules this is the largest, {} with {} in both\n",
                    pairs.size(), pairs[largest].name, HumanBytes(most)));
  inputs.a.modules = {*std::move(pairs[largest].a)};
  inputs.b.modules = {*std::move(pairs[largest].b)};
}

// Two: a page of both, or an index of all pairs.
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
    console.Note("note: -o FOLDER/ compares all modules by their names, and writes an index\n");
  return code;
}

int Run(const Arguments& arguments, Console& console) {
  const std::vector<std::string>& inputs = arguments.positionals;
  const std::string& output = arguments.option("output");
  ViewOptions options = {.plan = PlanOptionsOf(arguments, console),
                         .budget = {},
                         .source_root = arguments.option("source-root"),
                         .is_best = arguments.option("policy") == "best",
                         .is_against_best = arguments.option("against") == "best"};
  options.plan.prefers_proto = options.needs_best();
  const auto refuse = [&](std::string_view message, std::string_view hint = {}) {
    console.ShowError(message, hint);
    return kBadUse;
  };
  if (!console.Take(CheckRelease(options.plan.release))) return kBadUse;
  if (!console.Take(page::CheckRoot(options.source_root))) return kBadUse;
  if (inputs.size() > 2) return refuse("view shows one program, or two beside each other");
  if (options.is_against_best && inputs.size() == 2)
    return refuse("--against=best is about one INPUT, and there are two", "leave one of them out");
  if (options.is_against_best && options.is_best)
    return refuse("--against=best shows both plans, --policy=best the lower one alone",
                  "leave one of them out");
  if (!arguments.option("time-limit").empty()) {
    if (!options.needs_best())
      return refuse("--time-limit is for the search of policy best",
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
      .summary = "draw the memory of a program: one HTML file that opens anywhere",
      .details =
          "Writes one HTML file that needs no server, no network and nothing beside it:\n"
          "open it, or attach it to a bug report. It shows every value at its place over\n"
          "the time of the program, what is live at any moment, why a value is alive, and\n"
          "two programs beside each other when two are given.\n"
          "\n"
          "INPUT is anything with a plan: XLA's reports, a .hlo.pb, a dump directory. A\n"
          "module alone is planned first, as XLA does.\n"
          "\n"
          "Of a directory with several modules, writes a page for each into a folder, and\n"
          "index.html, which lists them, largest first; of two directories a page for each\n"
          "two modules of one name, as `stowplan diff` pairs them, largest change first.\n"
          "When -o names a file (x.html), shows the largest. Without -o, writes view.html,\n"
          "or view/index.html. In a folder, files that are not its own pages are never\n"
          "written over.\n"
          "\n"
          "--against=best plans the same program with policy best (see `stowplan assign`)\n"
          "and shows both plans, with the bytes below which no plan can get.\n",
      .examples =
          "  stowplan view dump/                           all modules: view/index.html\n"
          "  stowplan view dump/ -o pages/ --budget=16GiB\n"
          "  stowplan view dump/ -o view.html              the largest module\n"
          "  stowplan view m.hlo.pb --source-root=. -o view.html\n"
          "  stowplan view before.hlo.pb after.hlo.pb      beside each other: view.html\n"
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
           .help = "show the plan of this policy for the same program beside it",
           .choices = {"best"}},
          {.name = "policy",
           .value = "NAME",
           .help = "which plan to show: XLA's, or a lower one",
           .fallback = "xla",
           .choices = {"xla", "best"}},
          {.name = "time-limit", .value = "S", .help = "best: search for so many seconds"},
          {.name = "budget",
           .value = "SIZE",
           .help = "what the main memory has, 14GiB or so: a line in memory space 0"},
          {.name = "source-root",
           .value = "DIR",
           .help = "put the source files below it into the page"},
      }),
      .run = Run,
  };
}

}  // namespace stowplan::cli
