// SPDX-License-Identifier: Apache-2.0
// stowplan view: the memory of a program in one HTML file.
#include "stowplan/view/view.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/number.h"
#include "cli/plan_input.h"
#include "cli/source_root.h"

namespace stowplan::cli {
namespace {

// A plan and its picture, which points into it.
struct Loaded {
  PlanInput input;
  std::optional<explain::Picture> picture;
};

bool LoadShown(const PlanInputOptions& options, Loaded& loaded, Console& console) {
  std::optional<PlanInput> input = FindPlan(options, console);
  if (!input) return false;
  loaded.input = *std::move(input);
  AnalyzeProgram(options, loaded.input);
  Result<explain::Picture> picture = explain::MakePicture(
      loaded.input.report, loaded.input.program ? &*loaded.input.program : nullptr,
      loaded.input.target);
  if (!picture) {
    console.Show(picture.error());
    return false;
  }
  loaded.picture = *std::move(picture);
  return true;
}

view::Shown ShownOf(const Loaded& loaded) {
  return {.picture = &*loaded.picture,
          .analysis = loaded.input.analysis ? &*loaded.input.analysis : nullptr,
          .name = loaded.input.name,
          .plan = loaded.input.is_ours ? "Stowplan's plan, by XLA's rules"
                                       : "XLA's plan, from its report",
          .bounds = {}};
}

// The files that frames name, as far as they lie below the root.
void AddSources(const std::string& root, const explain::Picture& picture, view::Scene& scene) {
  std::set<std::string_view> files;
  for (const explain::Frame& frame : picture.frames.rows()) files.insert(frame.file);
  for (const std::string_view file : files) {
    const bool is_there = std::ranges::any_of(
        scene.sources, [&](const view::SourceFile& source) { return source.file == file; });
    if (is_there) continue;
    if (std::optional<std::string> text = ReadBelow(root, file))
      scene.sources.push_back({.file = std::string(file), .text = *std::move(text)});
  }
}

int Run(const Arguments& arguments, Console& console) {
  if (arguments.positionals.size() > 2) {
    console.ShowError("view shows one program, or two beside each other", "");
    return kBadUse;
  }
  view::Scene scene;
  if (!arguments.option("budget").empty()) {
    scene.budget = ReadBytes("budget", arguments, console);
    if (!scene.budget) return kBadUse;
  }
  std::vector<Loaded> loaded(arguments.positionals.size());
  for (size_t k = 0; k < loaded.size(); ++k) {
    const PlanInputOptions options = {.inputs = {arguments.positionals[k]},
                                      .module = arguments.option("module"),
                                      .target = arguments.option("target"),
                                      .version = arguments.option("xla-version")};
    if (!LoadShown(options, loaded[k], console)) return kBadUse;
  }
  for (const Loaded& one : loaded) {
    scene.modules.push_back(ShownOf(one));
    if (!arguments.option("source-root").empty())
      AddSources(arguments.option("source-root"), *one.picture, scene);
  }
  scene.title = loaded[0].input.name;
  const Result<std::string> bundle = view::WriteBundle(scene);
  const Result<std::string> page = bundle ? view::WritePage(*bundle) : bundle;
  if (!page) {
    console.Show(page.error());
    return kBadUse;
  }
  const std::unique_ptr<Output> output = console.Open(arguments.option("output"));
  if (output == nullptr) return kBadUse;
  output->Write(*page);
  return console.Finish(*output, kFine);
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
          "INPUT is anything with a plan: XLA's reports, a .hlo.pb, a dump directory (its\n"
          "largest module, or --module). A module alone is planned first, as XLA does.\n",
      .examples =
          "  stowplan view dump/ -o view.html              the largest module\n"
          "  stowplan view m.hlo.pb --source-root=. -o view.html\n"
          "  stowplan view before/ after/ -o change.html   beside each other\n",
      .positional = "INPUT",
      .count = Positionals::kAny,
      .options = WithPlanInput({
          {.name = "output",
           .short_name = 'o',
           .value = "FILE",
           .help = "where to write, `-`: standard output",
           .fallback = "view.html"},
          {.name = "budget", .value = "BYTES", .help = "draw a line at 14GiB or so"},
          {.name = "source-root",
           .value = "DIR",
           .help = "put the source files below it into the page"},
      }),
      .run = Run,
  };
}

}  // namespace stowplan::cli
