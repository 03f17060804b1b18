// SPDX-License-Identifier: Apache-2.0
#include "cli/view_scene.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "cli/best_text.h"
#include "cli/source_root.h"

namespace stowplan::cli {
namespace {

bool Draw(const report::Report& report, const PlanInput& plan, const std::optional<Target>& target,
          explain::Picture& picture, Listener& listener) {
  Result<explain::Picture> made =
      explain::MakePicture(report, plan.program ? &*plan.program : nullptr, target);
  if (!made) {
    listener.Show(made.error());
    return false;
  }
  picture = *std::move(made);
  return true;
}

view::Shown ShownOf(const ShownInput& input, bool is_best) {
  view::Shown shown = {.picture = is_best ? &input.best_picture : &input.picture,
                       .analysis = input.plan.analysis ? &*input.plan.analysis : nullptr,
                       .name = input.plan.name,
                       .plan = is_best              ? "Stowplan's plan, policy best"
                               : input.plan.is_ours ? "Stowplan's plan, by XLA's rules"
                                                    : "XLA's plan, from its report",
                       .bounds = {}};
  if (!input.best) return shown;
  // The floor holds for any plan; the heap's own bound only for what lies in it.
  for (const BestHeap& heap : input.best->heaps)
    shown.bounds.push_back(
        {.color = heap.color, .bytes = heap.floor, .proof = is_best ? Proof(heap) : ""});
  return shown;
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

}  // namespace

std::unique_ptr<ShownInput> MakeShown(PlanInput plan, const ViewOptions& options,
                                      Listener& listener) {
  auto shown = std::make_unique<ShownInput>();
  shown->plan = std::move(plan);
  AnalyzeProgram(options.input, shown->plan);
  if (!Draw(shown->plan.report, shown->plan, shown->plan.target, shown->picture, listener))
    return nullptr;
  if (!options.needs_best()) return shown;
  shown->best = PlanBest(shown->plan, options.input,
                         {.memory = options.budget, .seconds = options.seconds}, listener);
  if (shown->best &&
      !Draw(shown->best->report, shown->plan, shown->best->target, shown->best_picture, listener))
    shown->best.reset();
  return shown;
}

void AddTo(view::Scene& scene, const ShownInput& input, const ViewOptions& options) {
  if (!options.is_best) scene.modules.push_back(ShownOf(input, false));
  if (input.best) scene.modules.push_back(ShownOf(input, true));
  if (!options.source_root.empty()) AddSources(options.source_root, input.picture, scene);
}

}  // namespace stowplan::cli
